// Checks on many hosts at once: each is looked at by itself, then all are judged together.
import type { HostFacts } from '../../host/facts/schema.ts';
import { gatherFacts } from '../../host/facts/gather.ts';
import type { HostShell } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import type { Phase, Step, StepBinding } from '../../operations/operation.ts';
import type { HostNeeds, NamedSubject } from './check.ts';
import { groupFindings, groupLines, groupText } from './groups.ts';
import { machineOf } from './machine.ts';
import { ownThingsOf } from './own-things.ts';
import { type HostCheckedFinding, inspectHosts } from './run.ts';

export interface HostToLookAt {
  /** As the user named it. */
  readonly name: string;
  readonly needs: HostNeeds;
  /** Logs in. Whoever opens it is told of its end by `close`. */
  open(signal: AbortSignal): Promise<HostShell>;
}

/** Filled while the phases run. */
export interface HostsFound {
  readonly facts: Map<string, HostFacts>;
  findings: readonly HostCheckedFinding[];
}

export interface ManyHosts {
  readonly hosts: readonly HostToLookAt[];
  readonly ignored: readonly string[];
  readonly now: () => Date;
}

/** Login (20 s with its attempts), and the probe (40 s at most). */
const lookMs = 58_000;
const judgeMs = 60_000;

/** A host that cannot be looked at fails alone. The last phase fails with BKE_PREFLIGHT_FAILED where a check found an error; warnings are notes. */
export function checkPhases(many: ManyHosts): { readonly phases: Phase<StepBinding>[]; readonly found: HostsFound } {
  const found: HostsFound = { facts: new Map(), findings: [] };
  const subjects = new Map<string, NamedSubject>();
  const phases = [
    {
      id: 'look',
      title: 'Log in and look',
      chains: many.hosts.map((host) => ({ host: host.name, steps: [lookStep(host, many, { found, subjects })] })),
    },
    { id: 'judge', title: 'Compare', barrier: true, chains: [{ steps: [judgeStep(many, { found, subjects })] }] },
  ];
  return { phases, found };
}

interface Results {
  readonly found: HostsFound;
  readonly subjects: Map<string, NamedSubject>;
}

function lookStep(target: HostToLookAt, { now }: ManyHosts, { found, subjects }: Results): Step<StepBinding> {
  const { name, needs } = target;
  return {
    name: 'preflight/look',
    title: 'log in and look',
    timeoutMs: lookMs,
    found: 'done',
    run: async ({ signal }) => {
      const host = await target.open(signal);
      try {
        const facts = await gatherFacts(host, {
          paths: needs.space.map(({ path }) => path),
          tools: needs.tools,
          signal,
        });
        found.facts.set(name, facts);
        const machine = machineOf(facts, needs, { own: ownThingsOf(facts), asked: now() });
        subjects.set(name, { host: name, machine, needs });
      } finally {
        await host.close();
      }
    },
  };
}

function judgeStep({ hosts, ignored }: ManyHosts, { found, subjects }: Results): Step<StepBinding> {
  return {
    name: 'preflight/checks',
    title: 'checks',
    timeoutMs: judgeMs,
    found: 'done',
    run: async (binding) => {
      // In the order of the file, whoever answered first.
      found.findings = inspectHosts(
        hosts.flatMap(({ name }) => subjects.get(name) ?? []),
        ignored,
      );
      const groups = groupFindings(found.findings);
      const errors = groups.filter(({ severity }) => severity === 'error');
      for (const group of groups.filter(({ severity }) => severity === 'warning')) {
        const hint = group.hint === undefined ? '' : ` -> ${group.hint}`;
        binding.emit({ type: 'note', level: 'warning', message: `${groupText(group)}${hint}` });
      }
      if (errors.length > 0) throw notReady(groupLines(errors), errors.length);
    },
  };
}

function notReady(details: readonly string[], problems: number): BkeError {
  return new BkeError('BKE_PREFLIGHT_FAILED', `${plural(problems, 'problem')} found; nothing was changed`, {
    details,
    hint: 'Mend them and run the same command again. --ignore-check NAME leaves one out.',
  });
}
