// Enrols one host over SSH: looks at it, and where nothing speaks against it brings bke there and has the agent installed.
import { type AgentConfig, agentConfig } from '../../api/agent-config.ts';
import type { Site } from '../../cluster/site.ts';
import { gatherFacts } from '../../host/facts/gather.ts';
import type { HostFacts } from '../../host/facts/schema.ts';
import type { HostShell } from '../../host/host.ts';
import type { SshOptions, SshTarget } from '../../host/ssh/target.ts';
import { BkeError } from '../../lib/errors.ts';
import { lastLines } from '../../lib/text.ts';
import { type BinarySources, bringBinary } from './binary.ts';
import type { HostName } from './host.ts';
import type { JobScope } from './jobs.ts';

/** src/host/ssh/connect.ts, or a test's own. */
export type Connect = (target: SshTarget, options: SshOptions) => Promise<HostShell>;

export interface Enrolment {
  readonly host: HostName;
  readonly target: SshTarget;
  readonly connect: Connect;
  /** Paths whose disks are looked at, and programs that are looked for. */
  readonly look: { readonly paths: readonly string[]; readonly tools: readonly string[] };
  /** Told as soon as the login worked. */
  reached(): void;
  /** Told what the host is. @returns whether it may be enrolled: else nothing is changed there */
  judge(facts: HostFacts): boolean;
  /** Makes what the agent needs in the cluster, and notes that from now on something of bke may be on the host. */
  admit(): Promise<{ readonly site: Site; readonly token: string; readonly sources: BinarySources }>;
}

/** What installing takes at most, the wait for the first heartbeat included. */
const installMs = 5 * 60_000;
/** As create's own check has them: a host that is off is told of within a minute. */
const login = { connectTimeoutMs: 10_000, deadlineMs: 20_000 } as const;
/** As systems say that the file system forbids programs. */
const cannotRun = 126;

export async function enrol(enrolment: Enrolment, scope: JobScope): Promise<void> {
  const { target, connect, look } = enrolment;
  const { signal } = scope;
  scope.tell(`logging in as ${target.user}`);
  const shell = await connect(target, { signal, ...login });
  try {
    enrolment.reached();
    scope.tell('looking at the host');
    const facts = await gatherFacts(shell, { ...look, signal });
    if (!enrolment.judge(facts)) return;
    signal.throwIfAborted();
    const { site, token, sources } = await enrolment.admit();
    const place = await bringBinary(shell, facts.arch, sources, scope);
    scope.tell('installing the agent');
    await install(shell, place, configOf(enrolment.host, { site, token, place }), signal);
  } finally {
    await shell.close();
  }
}

/** Its own schema says what is wrong, before the host does. */
function configOf(
  { namespace, name }: HostName,
  { site, token, place }: { readonly site: Site; readonly token: string; readonly place: string },
): AgentConfig {
  const { domain, hostIP, ports, ca, servers, serverCa } = site;
  const parsed = agentConfig.safeParse({
    host: name,
    namespace,
    servers: [...servers],
    ca: serverCa,
    site: { domain, hostIP, ports, ca },
    token,
    broughtTo: place,
  });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new BkeError('BKE_SITE_UNKNOWN', `an agent cannot be told what bke-system/bke-site says`, {
    details: problems,
    hint: 'Run `bke init` again on the bootstrap node: it puts the settings of the site back.',
  });
}

async function install(shell: HostShell, place: string, config: AgentConfig, signal: AbortSignal): Promise<void> {
  const { exitCode, stdout, stderr } = await shell.run([place, 'agent', 'install'], {
    // With the token: never an argument.
    input: JSON.stringify(config),
    timeoutMs: installMs,
    signal,
  });
  if (exitCode === 0) return;
  const hint =
    exitCode === cannotRun
      ? 'Is the file system of /var/lib mounted with noexec? Programs must be able to run there.'
      : `The journal of it is on the host, in /var/lib/bke/operations.`;
  throw new BkeError('BKE_AGENT_INSTALL', `bke agent install ended with exit code ${exitCode} on ${shell.name}`, {
    host: shell.name,
    details: lastLines(stderr.trim() === '' ? stdout : stderr, 8),
    hint,
  });
}
