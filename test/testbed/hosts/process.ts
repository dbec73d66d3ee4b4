// Processes by identity (pid and start time), so that a reused pid is never taken for one of ours.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestbedError } from '../run.ts';
import type { ProcessIdentity } from './record.ts';

/** Identity of a living process; undefined when there is none with that pid. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const fields = await statFields(pid);
  const started = fields?.[19];
  return started === undefined ? undefined : { pid, started };
}

/** Whether the process still lives (a zombie doesn't). */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const fields = await statFields(identity.pid);
  return fields?.[19] === identity.started && fields[0] !== 'Z';
}

/** Identity of this process. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  const own = await identify(process.pid);
  if (own === undefined) throw new TestbedError('/proc does not show this process');
  return own;
}

/** Living processes whose parent is `pid`. */
export async function childrenOf(pid: number): Promise<ProcessIdentity[]> {
  const children: ProcessIdentity[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = await statFields(Number(name));
    const started = fields?.[19];
    if (fields?.[1] === String(pid) && started !== undefined) children.push({ pid: Number(name), started });
  }
  return children;
}

/** Sends a signal when the process still is the one that was meant. */
export async function signal(identity: ProcessIdentity, name: NodeJS.Signals): Promise<void> {
  if (await isAlive(identity)) process.kill(identity.pid, name);
}

/** Waits until `condition` holds; false when it did not within `seconds`. */
export async function waitUntil(seconds: number, condition: () => Promise<boolean>, interval = 50): Promise<boolean> {
  const end = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > end) return false;
    await sleep(interval);
  }
  return true;
}

/** Fields of /proc/PID/stat from the third (state) on; the second may hold spaces and brackets. */
async function statFields(pid: number): Promise<string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}
