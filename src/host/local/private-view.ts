// A view of one directory without anything that is mounted below it: a non-recursive bind mount in a mount namespace of a child process.
import { type ChildProcess, spawn } from 'node:child_process';
import { systemPath } from '../system-path.ts';

/** Covered in the child's own namespace only; it must exist on every Linux. */
const viewPoint = '/tmp';
const readyTimeoutMs = 10_000;
/** util-linux has it on every host that has systemd. */
const program = 'unshare';

export interface PrivateView {
  /** The directory as seen through the child's namespace. */
  readonly path: string;
  close(): void;
}

// `cat` ends with our end of the pipe, so the namespace goes with this process however that ends.
const script = `mount --bind -- "$1" ${viewPoint} && echo ready && exec cat`;

function ready(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), readyTimeoutMs);
    const settle = (answer: boolean): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    child.stdout?.once('data', (chunk: Buffer) => settle(chunk.toString().startsWith('ready')));
    child.once('error', () => settle(false));
    child.once('exit', () => settle(false));
  });
}

/** undefined where this process may not make one (no CAP_SYS_ADMIN, no util-linux). */
export async function openPrivateView(directory: string): Promise<PrivateView | undefined> {
  const child = spawn(program, ['--mount', '--propagation', 'private', '--', 'sh', '-c', script, 'sh', directory], {
    cwd: '/',
    env: { PATH: systemPath, LC_ALL: 'C' },
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  const close = (): void => {
    child.kill('SIGKILL');
    child.stdin.destroy();
    child.stdout.destroy();
  };
  if (await ready(child)) return { path: `/proc/${child.pid}/root${viewPoint}`, close };
  close();
  return undefined;
}
