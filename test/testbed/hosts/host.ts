// A running host as tests use it.
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { type RunResult, TestbedError } from '../run.ts';
import type { Bed } from './bed.ts';
import { hostRoot } from './filesystem.ts';
import { type HostKey, ownKey, readHostKeys } from './keys.ts';
import { killHost, powerOffHost, startHost } from './lifecycle.ts';
import type { HostRecord } from './record.ts';
import { type ExecOptions, sshExec } from './ssh.ts';

/** One host of the bed. */
export interface TestHost {
  name: string;
  address: string;
  port: number;
  /** The ed25519 key. */
  hostKey: HostKey;
  /** All keys that its sshd offers. */
  hostKeys: HostKey[];
  /** Opens it as root. */
  privateKeyFile: string;
  /** Its root directory on this machine, plain directories included; mounts made inside the host don't show here. */
  root: string;
  /** Runs a shell script (string) or an argument list as root over SSH; an exit code is a result, not an error. */
  exec(command: string | readonly string[], options?: ExecOptions): Promise<RunResult>;
  /** As `exec`, but throws unless the exit code is 0; gives standard output. */
  output(command: string | readonly string[], options?: ExecOptions): Promise<string>;
  /** Copies a file or folder of this machine to an absolute path of the host; root owns it. */
  copyIn(local: string, remote: string): Promise<void>;
  /** Power loss. */
  kill(): Promise<void>;
  /** Boots it again with its files as they are. */
  start(): Promise<void>;
  /** Orderly power off. */
  stop(): Promise<void>;
}

/** The host of a record. */
export async function testHost(bed: Bed, record: HostRecord): Promise<TestHost> {
  const { name, address } = record;
  const root = hostRoot(bed, name);
  const hostKeys = await readHostKeys(root);
  const [hostKey] = hostKeys;
  if (hostKey === undefined) throw new TestbedError(`host ${name} has no key`);
  const privateKeyFile = await ownKey(bed);
  const exec: TestHost['exec'] = (command, options) => sshExec({ address, privateKeyFile }, command, options);
  return {
    name,
    address,
    port: 22,
    hostKey,
    hostKeys,
    privateKeyFile,
    root,
    exec,
    output: async (command, options) => checked(name, command, await exec(command, options)),
    copyIn: (local, remote) => cp(local, path.join(root, remote), { recursive: true, preserveTimestamps: true }),
    kill: () => killHost(bed, name),
    start: () => startHost(bed, name),
    stop: () => powerOffHost(bed, name),
  };
}

function checked(name: string, command: string | readonly string[], result: RunResult): string {
  if (result.exitCode === 0) return result.stdout;
  const text = typeof command === 'string' ? command : command.join(' ');
  throw new TestbedError(`on ${name}: ${text} ended with ${result.exitCode}\n${result.stderr || result.stdout}`);
}
