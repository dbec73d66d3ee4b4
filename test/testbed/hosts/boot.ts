// Starts and ends the machine of a host: systemd-nspawn with a network of its own and the host's groups as its cgroup root.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { TestbedError } from '../run.ts';
import { type Bed, hostFolder } from './bed.ts';
import { makeGroups, pidsIn, removeGroups } from './cgroups.ts';
import { hostRoot } from './filesystem.ts';
import { removeLink } from './network.ts';
import { childrenOf, identify, isAlive, signal, waitUntil } from './process.ts';
import type { HostRecord, ProcessIdentity } from './record.ts';

const bootLimit = 60;
const powerOffLimit = 90;
const killLimit = 20;
/** Milliseconds; short, because a connection begun before the host has its address only retries after a second. */
const answerLimit = 250;

/** Joins the groups given as arguments up to `--`, then becomes the program behind it. */
const joinGroups = 'while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"';

/** Starts systemd-nspawn detached from this process; the host is not up yet when this returns. */
export async function startMachine(bed: Bed, host: HostRecord): Promise<ProcessIdentity> {
  await makeGroups(host.groups);
  const output = await open(consoleFile(bed, host.name), 'a', 0o644);
  try {
    const child = spawn('sh', ['-c', joinGroups, 'sh', ...host.groups, '--', ...nspawnCommand(bed, host)], {
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    });
    await once(child, 'spawn');
    child.unref();
    const identity = child.pid === undefined ? undefined : await identify(child.pid);
    if (identity === undefined) throw await startFailure(bed, host.name, 'its machine ended at once');
    return identity;
  } finally {
    await output.close();
  }
}

function nspawnCommand(bed: Bed, host: HostRecord): string[] {
  return [
    'systemd-nspawn',
    '--quiet',
    '--boot',
    `--directory=${hostRoot(bed, host.name)}`,
    // The machine's name is also that of its link here, which must be unique among all beds.
    `--machine=tb${bed.id}-${host.name}`,
    `--hostname=${host.name}`,
    '--register=no',
    '--keep-unit',
    `--network-bridge=${bed.bridge}`,
    '--capability=all',
    // The clock is the machine's own: a host that sets it would set it for everybody.
    '--drop-capability=CAP_SYS_TIME',
    '--system-call-filter=@known',
    '--bind=/dev/fuse',
    '--bind=/dev/kmsg',
    '--link-journal=no',
    '--timezone=off',
    '--resolv-conf=off',
    '--console=read-only',
  ];
}

/** Waits until sshd answers. */
export async function waitForSsh(bed: Bed, host: HostRecord, nspawn: ProcessIdentity): Promise<void> {
  let ended = false;
  const ready = await waitUntil(bootLimit, async () => {
    ended = !(await isAlive(nspawn));
    return ended || answers(host.address, 22);
  });
  if (ended) throw await startFailure(bed, host.name, 'its machine ended while it booted');
  if (!ready) throw await startFailure(bed, host.name, `sshd did not answer within ${bootLimit} s`);
}

/** Power loss: everything in the host is gone at once, its files stay as they were. */
export async function killMachine(bed: Bed, host: HostRecord): Promise<void> {
  const { nspawn } = host;
  if (nspawn !== null) {
    // nspawn first, so that it can't begin an orderly end; the host's init takes all its processes with it.
    const inside = await childrenOf(nspawn.pid);
    await signal(nspawn, 'SIGKILL');
    if (await isAlive(nspawn)) await waitUntil(killLimit, async () => !(await isAlive(nspawn)));
    for (const init of inside) await signal(init, 'SIGKILL');
  }
  await killRest(host);
  await removeLink(bed, host.name);
  await removeGroups(host.groups);
}

/** Orderly power off; a host that hangs is killed after a while. */
export async function powerOffMachine(bed: Bed, host: HostRecord): Promise<void> {
  const { nspawn } = host;
  if (nspawn !== null && (await isAlive(nspawn))) {
    await signal(nspawn, 'SIGTERM');
    await waitUntil(powerOffLimit, async () => !(await isAlive(nspawn)));
  }
  await killMachine(bed, host);
}

/** Processes in the host's own groups are the host's, whatever became of their parents. */
async function killRest(host: HostRecord): Promise<void> {
  const empty = await waitUntil(killLimit, async () => {
    const pids = await pidsIn(host.groups);
    for (const pid of pids) killQuietly(pid);
    return pids.length === 0;
  });
  if (empty) return;
  const pids = (await pidsIn(host.groups)).join(' ');
  throw new TestbedError(`processes of host ${host.name} don't end: ${pids}`);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

async function answers(address: string, port: number): Promise<boolean> {
  const socket = connect({ host: address, port });
  socket.setTimeout(answerLimit, () => socket.destroy(new Error('no answer')));
  return new Promise((resolve) => {
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().startsWith('SSH-'));
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}

function consoleFile(bed: Bed, name: string): string {
  return path.join(hostFolder(bed, name), 'console.log');
}

async function startFailure(bed: Bed, name: string, what: string): Promise<TestbedError> {
  const text = await readFile(consoleFile(bed, name), 'utf8').catch(() => '');
  const tail = text.trimEnd().split('\n').slice(-15).join('\n');
  return new TestbedError(`host ${name} did not start: ${what}\nits console (${consoleFile(bed, name)}):\n${tail}`);
}
