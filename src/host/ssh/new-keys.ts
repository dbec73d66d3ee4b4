// Keys of hosts that nothing is known about: found without logging in, accepted by a person, kept in known_hosts.
import { appendFile, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ensureDirectory } from '../../lib/ensure-directory.ts';
import { isErrno } from '../../lib/errno.ts';
import { eachLimited } from '../../lib/limit.ts';
import { connect } from './connect.ts';
import { knownHostsLine, loadTrust } from './host-trust.ts';
import type { AcceptedKey, SshTarget } from './target.ts';

export interface FindKeys {
  readonly signal: AbortSignal;
  /** Hosts asked at once. */
  readonly concurrency: number;
}

/** No attempts beyond the first: a host that does not answer is told of by whoever logs in. */
const askMs = 10_000;

/**
 * Shows the keys of those hosts and bastions that neither `hostKeys` nor known_hosts knows, each once. No credential is sent where a key is unknown;
 * what is behind a bastion with an unknown key is not asked. @throws BkeError BKE_SSH_HOST_KEYS_INVALID
 */
export async function findNewKeys(
  targets: readonly SshTarget[],
  { signal, concurrency }: FindKeys,
): Promise<AcceptedKey[]> {
  const found = new Map<string, AcceptedKey>();
  await eachLimited(targets, concurrency, async (target) => {
    if (signal.aborted || !(await hasUnknown(target))) return;
    const acceptNew = async (from: SshTarget, key: AcceptedKey['key']): Promise<boolean> => {
      found.set(knownHostsLine(from, key), { target: from, key });
      return false;
    };
    const options = { signal, acceptNew, connectTimeoutMs: askMs, deadlineMs: askMs };
    // Whatever else is wrong is told when the host is really logged in to.
    const host = await connect(target, options).catch(() => undefined);
    await host?.close();
  });
  return [...found.values()];
}

async function hasUnknown(target: SshTarget): Promise<boolean> {
  const { types, typeUnknown } = await loadTrust(target);
  if (types.length === 0 && !typeUnknown) return true;
  return target.bastion !== undefined && hasUnknown(target.bastion);
}

/** The target with the keys that were accepted of it and its bastions. */
export function withKeys(target: SshTarget, accepted: readonly AcceptedKey[]): SshTarget {
  const own = accepted.filter(({ target: { address, port } }) => address === target.address && port === target.port);
  return {
    ...target,
    hostKeys: [...target.hostKeys, ...own.map(({ key }) => key.fingerprint)],
    ...(target.bastion === undefined ? {} : { bastion: withKeys(target.bastion, accepted) }),
  };
}

/** Appends what is not there yet, as ssh does when one says yes. @param file e.g. ~/.ssh/known_hosts; made with 0600 where it is missing. */
export async function recordKeys(file: string, accepted: readonly AcceptedKey[]): Promise<void> {
  if (accepted.length === 0) return;
  await ensureDirectory(dirname(file), 0o700);
  const before = await readFile(file, 'utf8').catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT')) return '';
    throw thrown;
  });
  const there = new Set(before.split('\n'));
  const lines = new Set(accepted.map(({ target, key }) => knownHostsLine(target, key)));
  const added = [...lines].filter((line) => !there.has(line));
  if (added.length === 0) return;
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  await appendFile(file, `${gap}${added.join('\n')}\n`, { mode: 0o600 });
}
