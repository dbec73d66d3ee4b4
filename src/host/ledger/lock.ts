// One bke at a time changes a host: claims with names of their own in a directory, made first and checked after, so that nobody ever removes a living one's.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { basename, join } from 'node:path';
import { BkeError } from '../../lib/errors.ts';
import { timeText } from '../../lib/time-text.ts';
import { errnoOf } from '../errno.ts';
import type { Host } from '../host.ts';
import { markPrograms } from '../local/program-mark.ts';
import { parseProcessStat } from '../state/processes.ts';
import { makeDirectories, rootOnlyDirectory, rootOnlyFile } from './keeper.ts';
import { type OrphanOptions, outwaitPrograms } from './orphans.ts';

/** Two that start at once both step back and try again; who works for long is found by the last try. */
const tries = 8;
const backOffMs = 120;

export interface LockOwner {
  readonly pid: number;
  /** Clock ticks since boot when the process started: with the boot id it tells a process from a later one with its pid. */
  readonly startTicks: string;
  readonly bootId: string;
  readonly host: string;
  readonly command: string;
  /** Id of what it carries out: its journal tells how far it is. Absent in claims of an earlier bke. */
  readonly operation?: string;
  /** RFC 3339 */
  readonly since: string;
}

export interface HostLock {
  release(): Promise<void>;
}

export function lockDirectory(stateDir: string): string {
  return join(stateDir, 'lock');
}

async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/** undefined where no such process lives. */
async function startTicks(pid: number): Promise<string | undefined> {
  try {
    const stat = parseProcessStat(await readFile(`/proc/${pid}/stat`, 'utf8'));
    return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat.startTicks;
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ESRCH') return undefined;
    throw thrown;
  }
}

const ownerTexts = ['startTicks', 'bootId', 'host', 'command', 'since'] as const;

function isOwner(value: unknown): value is LockOwner {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const pid = fields.get('pid');
  const operation = fields.get('operation');
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    (operation === undefined || typeof operation === 'string') &&
    ownerTexts.every((name) => typeof fields.get(name) === 'string')
  );
}

/** undefined for what is no claim, whatever lies there. */
function parseOwner(text: string): LockOwner | undefined {
  try {
    const owner: unknown = JSON.parse(text);
    return isOwner(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}

async function isAlive(owner: LockOwner | undefined): Promise<boolean> {
  if (owner === undefined || owner.bootId !== (await bootId())) return false;
  return (await startTicks(owner.pid)) === owner.startTicks;
}

interface Claim {
  readonly path: string;
  /** undefined: nobody living. */
  readonly owner: LockOwner | undefined;
}

async function claims(host: Host, directory: string, own?: string): Promise<Claim[]> {
  const found: Claim[] = [];
  for (const name of await host.files.list(directory)) {
    if (name === own || name.startsWith('.')) continue;
    const path = join(directory, name);
    // What is no file is no claim, and nothing that bke put there.
    if ((await host.files.stat(path))?.type !== 'file') continue;
    const content = await host.files.read(path);
    if (content === undefined) continue;
    const owner = parseOwner(content.toString());
    found.push({ path, owner: (await isAlive(owner)) ? owner : undefined });
  }
  return found;
}

/** The owner of the lock of this host, if one lives. */
export async function lockOwner(host: Host, directory: string): Promise<LockOwner | undefined> {
  return (await claims(host, directory)).find((claim) => claim.owner !== undefined)?.owner;
}

/** Dead owners' claims go when nothing they started runs any more; that can't meet a living one, for names are never used twice. */
async function takeOver(host: Host, dead: readonly Claim[], options: OrphanOptions): Promise<void> {
  if (dead.length === 0) return;
  await outwaitPrograms(new Set(dead.map(({ path }) => basename(path))), options);
  for (const { path } of dead) await host.files.remove(path);
}

/** Claims that were never finished. One that is just being written is lost, too: its writer tries again. */
async function removeLeftovers(host: Host, directory: string): Promise<void> {
  for (const name of await host.files.list(directory)) {
    if (name.startsWith('.') && (await host.files.stat(join(directory, name)))?.type === 'file')
      await host.files.remove(join(directory, name));
  }
}

function locked(host: Host, owner: LockOwner): BkeError {
  return new BkeError(
    'BKE_LOCKED',
    `another bke works on this host: ${owner.command} (pid ${owner.pid}, since ${timeText(owner.since)})`,
    {
      host: host.name,
      hint: "Wait until it has ended ('bke status' tells where it is), then run the same command again.",
    },
  );
}

/**
 * For what asks a person before it takes the lock: as patient as taking it is, and it claims nothing.
 * @throws BkeError BKE_LOCKED
 */
export async function refuseLocked(host: Host, directory: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const owner = await lockOwner(host, directory);
    if (owner === undefined) return;
    if (attempt === tries) throw locked(host, owner);
    await sleep(backOffMs * Math.random());
  }
}

/** The directory goes when the last owner leaves it empty, so it may vanish before the claim is written. */
async function claim(host: Host, directory: string, name: string, owner: LockOwner): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeDirectories(host, directory, rootOnlyDirectory);
      return await host.files.write(join(directory, name), `${JSON.stringify(owner)}\n`, rootOnlyFile);
    } catch (thrown) {
      const raced = ['EEXIST', 'ENOTEMPTY', 'ENOENT'].includes(errnoOf(thrown) ?? '');
      if (!raced || attempt === tries) throw thrown;
    }
  }
}

async function ownerOf(host: Host, { command, operation }: LockOptions): Promise<LockOwner> {
  return {
    pid: process.pid,
    startTicks: (await startTicks(process.pid)) ?? '',
    bootId: await bootId(),
    host: host.name,
    command,
    ...(operation === undefined ? {} : { operation }),
    since: new Date().toISOString(),
  };
}

export interface LockOptions extends OrphanOptions {
  /** What the user typed, for others who meet the lock. */
  readonly command: string;
  readonly operation?: string;
}

/**
 * @param directory its parent exists.
 * @throws BkeError BKE_LOCKED; BKE_SYSTEM where the lock can't be written; BKE_CANCELLED.
 */
export async function takeLock(host: Host, directory: string, options: LockOptions): Promise<HostLock> {
  const owner = await ownerOf(host, options);
  const name = `${owner.pid}-${owner.startTicks}-${randomBytes(4).toString('hex')}`;
  const giveUp = (): Promise<void> => host.files.remove(join(directory, name));
  for (let attempt = 1; ; attempt += 1) {
    await claim(host, directory, name, owner);
    let rival: LockOwner | undefined;
    try {
      const others = await claims(host, directory, name);
      rival = others.find((other) => other.owner !== undefined)?.owner;
      if (rival === undefined) {
        await takeOver(host, others, options);
        await removeLeftovers(host, directory);
        return held(name, giveUp);
      }
    } catch (thrown) {
      await giveUp();
      throw thrown;
    }
    await giveUp();
    if (attempt === tries) throw locked(host, rival);
    await sleep(backOffMs * Math.random());
  }
}

function held(name: string, giveUp: () => Promise<void>): HostLock {
  const unmark = markPrograms(name);
  return {
    release: async () => {
      unmark();
      await giveUp();
    },
  };
}
