// Programs that a bke started under the lock and that outlived it (kill -9, a second Ctrl-C): the next one must not work beside them.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BkeError } from '../../lib/errors.ts';
import { markName } from '../local/program-mark.ts';
import { parseProcessStat, type ProcessStat } from '../state/processes.ts';

/** The deadline a program has unless told; its bke can't hold it to that any more. */
const defaultWaitMs = 60_000;
const pollMs = 200;
/** Reading the environment of a process that is stuck can hang. */
const readMs = 1000;
const killedMs = 500;

async function readSoon(path: string): Promise<string> {
  const giveUp = new AbortController();
  const text = readFile(path, 'latin1').catch(() => '');
  try {
    return await Promise.race([text, sleep(readMs, '', { signal: giveUp.signal, ref: false })]);
  } finally {
    giveUp.abort();
  }
}

async function statOf(pid: string): Promise<ProcessStat | undefined> {
  return parseProcessStat(await readSoon(`/proc/${pid}/stat`));
}

async function isMarked(pid: string, claims: ReadonlySet<string>): Promise<boolean> {
  const variables = (await readSoon(`/proc/${pid}/environ`)).split('\0');
  const mark = variables.find((variable) => variable.startsWith(`${markName}=`));
  return mark !== undefined && claims.has(mark.slice(markName.length + 1));
}

async function programsOf(claims: ReadonlySet<string>): Promise<ProcessStat[]> {
  const found: ProcessStat[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (!(await isMarked(pid, claims))) continue;
    const stat = await statOf(pid);
    if (stat !== undefined && stat.state !== 'Z' && stat.state !== 'X') found.push(stat);
  }
  return found;
}

async function kill(program: ProcessStat): Promise<void> {
  if ((await statOf(String(program.pid)))?.startTicks !== program.startTicks) return;
  try {
    process.kill(program.pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

export interface OrphanOptions {
  /** Told once, where something is waited for. */
  readonly tell?: ((message: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default 60 s. */
  readonly waitMs?: number | undefined;
}

/**
 * Waits for the programs of dead owners: half a `useradd` is worse than a late one. What does not end in time is killed; what even then hangs in
 * the kernel never runs its own code again.
 * @param claims names of the dead owners' claims.
 * @throws BkeError BKE_CANCELLED
 */
export async function outwaitPrograms(claims: ReadonlySet<string>, options: OrphanOptions): Promise<void> {
  const waitMs = options.waitMs ?? defaultWaitMs;
  const end = performance.now() + waitMs;
  let told = false;
  for (;;) {
    const programs = await programsOf(claims);
    const [first] = programs;
    if (first === undefined) return;
    if (options.signal?.aborted === true) throw new BkeError('BKE_CANCELLED', `stopped while ${first.command} ran`);
    if (!told) {
      const who = `${first.command} (pid ${first.pid}), which an earlier bke that was killed has started`;
      options.tell?.(`Waiting at most ${waitMs / 1000} s for ${who}.`);
    }
    told = true;
    if (performance.now() > end) {
      await Promise.all(programs.map((program) => kill(program)));
      await sleep(killedMs);
      return;
    }
    await sleep(pollMs);
  }
}
