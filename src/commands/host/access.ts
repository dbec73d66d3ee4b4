// The way to the hosts of a cluster.yaml: logins with their secrets, and keys that a person trusts.
import type { ClusterConfig } from '../../config/cluster/config.ts';
import type { LoadedCluster } from '../../config/cluster/load.ts';
import { type FilePlace, readNamedFiles } from '../../config/cluster/named-files.ts';
import { knownHostsFiles, sshTargetOf } from '../../host/ssh/cluster-target.ts';
import { findNewKeys, recordKeys, withKeys } from '../../host/ssh/new-keys.ts';
import { type AcceptedKey, placeOf, type SshTarget } from '../../host/ssh/target.ts';
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import type { CommandContext } from '../context.ts';

export interface LoadedHosts {
  /** As it was typed. */
  readonly name: string;
  readonly config: ClusterConfig;
  /** The file as it is written (LoadedCluster.raw). */
  readonly raw: unknown;
  readonly place: FilePlace;
  /** LoadedCluster.placeOf */
  readonly placeOf: LoadedCluster['placeOf'];
}

/** In the order of the file. @throws the system's error where a file that it names went away since, BkeError BKE_SECRET_EXPOSED. */
export async function hostTargets(
  { env }: CommandContext,
  { config, raw, place }: Pick<LoadedHosts, 'config' | 'raw' | 'place'>,
): Promise<readonly SshTarget[]> {
  const sources = { place, secrets: await readNamedFiles(raw, place), agentSocket: env['SSH_AUTH_SOCK'] };
  return config.hosts.map((host) => sshTargetOf(host, sources));
}

export interface AskForKeys {
  readonly acceptAll: boolean;
  readonly connections: number;
}

/** Each round leads one bastion further. */
const mostRounds = 5;
/** Keys of more hosts than these nobody compares. */
const mostShown = 50;

/**
 * On a terminal shows the keys of hosts that nothing is known about, all at once, and asks; what is accepted is noted in known_hosts. Without a terminal,
 * and with a no, those hosts stay unknown: who logs in is told so (BKE_HOST_KEY_UNKNOWN).
 */
export async function askForNewKeys(
  context: CommandContext,
  targets: readonly SshTarget[],
  { acceptAll, connections }: AskForKeys,
): Promise<readonly SshTarget[]> {
  let known = targets;
  if (acceptAll || context.stdin.isTTY !== true) return known;
  for (let round = 0; round < mostRounds; round += 1) {
    const found = await findNewKeys(known, { signal: context.signal, concurrency: connections });
    if (found.length === 0 || !(await areTrusted(context, found))) return known;
    await noteNewKeys(context, found);
    known = known.map((target) => withKeys(target, found));
  }
  return known;
}

async function areTrusted(context: CommandContext, found: readonly AcceptedKey[]): Promise<boolean> {
  context.note(`Nothing is known about the ${found.length === 1 ? 'key' : 'keys'} of ${plural(found.length, 'host')}:`);
  for (const { target, key } of found.slice(0, mostShown))
    context.note(`  ${target.name} (${placeOf(target)}): ${key.type} ${key.fingerprint}`);
  if (found.length > mostShown) context.note(`  … and ${found.length - mostShown} more`);
  const option = '--accept-new-host-keys';
  try {
    return await context.confirm({ question: 'Are these theirs, and are they to be trusted?', yes: false, option });
  } catch (error) {
    if (error instanceof BkeError && error.code === 'BKE_CONFIRMATION_NEEDED') return false;
    throw error;
  }
}

/** Keys that were accepted are known from now on. */
export async function noteNewKeys(context: CommandContext, accepted: readonly AcceptedKey[]): Promise<void> {
  const home = context.env['HOME'];
  const [file] = knownHostsFiles(home);
  if (accepted.length === 0 || home === undefined || file === undefined) return;
  await recordKeys(file, accepted);
  context.note(
    `The keys of ${plural(new Set(accepted.map(({ target }) => target.name)).size, 'host')} are now in ${file}.`,
  );
}
