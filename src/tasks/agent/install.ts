// Brings the agent up on its host: site name and CA, its own bke, what it is told, the unit, and the proof that it speaks with the cluster.
import type { AgentConfig } from '../../api/agent-config.ts';
import { lastLog, readUnit } from '../../host/systemd.ts';
import { readAsset } from '../../lib/assets.ts';
import { fillTemplate } from '../../lib/template.ts';
import type { Phase, Step } from '../../operations/operation.ts';
import { installPrograms, linkPrograms, type ProgramArtifact, restartKey } from '../node/programs.ts';
import { servicePaths } from '../services/layout.ts';
import type { TaskScope } from '../task.ts';
import { BkeError } from '../../lib/errors.ts';
import { configurationText, readSettings, writeConfiguration } from './configuration.ts';
import { readContact } from './contact.ts';
import { agentPaths, agentUnit } from './paths.ts';

export interface AgentPlan {
  readonly config: AgentConfig;
  /** This bke. */
  readonly bke: ProgramArtifact;
}

const minuteMs = 60_000;
const contactMs = 45_000;

export function agentPhases(plan: AgentPlan): Phase<TaskScope>[] {
  const steps: Step<TaskScope>[] = [
    {
      name: 'agent/owner',
      title: 'Whose host this is',
      timeoutMs: minuteMs,
      found: 'proven',
      run: (scope) => refuseOthers(scope, plan),
    },
    {
      name: 'agent/site',
      title: 'Name and CA of the site',
      timeoutMs: minuteMs,
      run: (scope) => nameSite(scope, plan),
    },
    {
      name: 'agent/configuration',
      title: 'What the agent is told',
      timeoutMs: minuteMs,
      run: (scope) => configure(scope, plan),
    },
    {
      name: 'agent/unit',
      title: `Agent (bke ${plan.bke.version})`,
      timeoutMs: 3 * minuteMs,
      run: (scope) => start(scope, plan),
    },
    { name: 'agent/contact', title: 'First heartbeat', timeoutMs: 2 * minuteMs, found: 'proven', run: waitForContact },
    ...tidySteps(plan),
  ];
  return [
    { id: 'agent', title: 'Agent of this host', chains: [{ host: plan.config.host, steps }], stopOnFailure: true },
  ];
}

/** One machine has one agent: installed for another BKEHost it would let the cluster of the first lose its node. */
async function refuseOthers({ host }: TaskScope, { config }: AgentPlan): Promise<void> {
  const now = await readSettings(host).catch(() => undefined);
  if (now === undefined || (now.host === config.host && now.namespace === config.namespace)) return;
  throw new BkeError(
    'BKE_HOST_TAKEN',
    `this machine is host ${now.host} in namespace ${now.namespace} of the management cluster at ${now.servers[0] ?? '?'} already`,
    {
      host: host.name,
      hint: `Name it so, or take it out there first: delete the BKEHost ${now.host}, or run 'bke reset --all' on the machine.`,
    },
  );
}

async function nameSite(scope: TaskScope, { config: { site } }: AgentPlan): Promise<void> {
  await scope.apply({ kind: 'hosts-entry', address: site.hostIP, names: [site.domain] });
  await scope.apply({ kind: 'file', path: servicePaths.siteCa, mode: 0o644, content: { text: site.ca } });
}

/** Files in a zone, not changes: the agent renews its token, and an edit of a secret must not be kept aside by a reset. */
async function configure(scope: TaskScope, { config }: AgentPlan): Promise<void> {
  await scope.apply({ kind: 'directory', path: agentPaths.stateDir, mode: 0o700 });
  await scope.apply({ kind: 'zone', path: agentPaths.stateDir });
  if (scope.dryRun && (await scope.host.files.read(agentPaths.config))?.toString('utf8') === configurationText(config))
    return;
  await scope.act('write what the agent is told', () => writeConfiguration(scope.host, config));
}

async function start(scope: TaskScope, { config, bke }: AgentPlan): Promise<void> {
  const program = await (await installPrograms(scope, bke)).path('bke');
  await linkPrograms(scope, { bke: program });
  const unit = await readAsset(`assets/units/${agentUnit}`);
  await scope.apply({
    kind: 'unit',
    name: agentUnit,
    text: fillTemplate(unit, { program }),
    enabled: true,
    running: true,
    restartKey: restartKey(bke.digest, configurationText(config)),
  });
}

async function waitForContact(scope: TaskScope): Promise<void> {
  await scope.wait({
    for: 'the agent to reach the cluster',
    timeoutMs: contactMs,
    intervalMs: 250,
    next: `journalctl -u ${agentUnit}`,
    probe: async () => {
      const contact = await readContact(scope.host);
      const pid = await mainPid(scope);
      if (contact === undefined || contact.pid !== pid) return { ready: false, cause: await whyNot(scope) };
      return contact.problem === undefined ? { ready: true } : { ready: false, cause: contact.problem };
    },
  });
}

async function mainPid({ host }: TaskScope): Promise<number | undefined> {
  const { stdout } = await host.run(['systemctl', 'show', '--property=MainPID', '--', agentUnit], {
    timeoutMs: 15_000,
  });
  const pid = /^MainPID=([1-9]\d*)$/m.exec(stdout)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

async function whyNot({ host }: TaskScope): Promise<string> {
  const { active, restarts } = await readUnit(host, agentUnit);
  if (active === 'active' && restarts === 0) return 'it has just been started';
  const lines = await lastLog(host, agentUnit);
  return `the unit is ${active}, started again ${restarts} times; its last line: ${lines.at(-1) ?? 'none'}`;
}

/** The copy that came over SSH. It is in the ledger's first line, so that a reset removes it where this does not come to pass. */
function tidySteps({ config: { broughtTo } }: AgentPlan): Step<TaskScope>[] {
  if (broughtTo === undefined) return [];
  const run = async (scope: TaskScope): Promise<void> => {
    if ((await scope.host.files.stat(broughtTo)) === undefined) return;
    await scope.act(`remove ${broughtTo}`, () => scope.host.files.remove(broughtTo));
  };
  return [{ name: 'agent/tidy', title: 'Remove the copy that was brought', timeoutMs: minuteMs, run }];
}
