// A host that is a folder, installed as the controller would do it, with its agent as a process that can be killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AgentConfig } from '../../../src/api/agent-config.ts';
import { writeConfiguration } from '../../../src/tasks/agent/configuration.ts';
import { agentPaths } from '../../../src/tasks/agent/paths.ts';
import { FakeHost } from '../../fakes/fake-host.ts';

/** Those that steps look at, beyond what every such host has. */
const kernelValues = {
  'kernel/random/boot_id': 'boot-1',
  'net/bridge/bridge-nf-call-iptables': '0',
  'net/bridge/bridge-nf-call-ip6tables': '0',
};

const program = join(import.meta.dirname, 'agent-cli.ts');

export interface AgentProcess {
  readonly pid: number;
  /** All that it wrote so far. */
  readonly log: () => string;
  /** undefined: it runs. */
  readonly exit: () => number | string | undefined;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null>;
}

export async function makeAgentHost(config: AgentConfig): Promise<FakeHost> {
  const host = await FakeHost.make();
  await mkdir(host.at(agentPaths.stateDir), { recursive: true, mode: 0o700 });
  for (const [name, value] of Object.entries(kernelValues)) {
    const path = host.at(`/proc/sys/${name}`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${value}\n`);
  }
  await writeConfiguration(host, config);
  return host;
}

/** @param restMs after which it gives its memory back, once it has worked */
export function startAgent(host: FakeHost, restMs = 60_000): AgentProcess {
  const child = spawn(process.execPath, [program, host.root, String(restMs)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin' },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const atExit = (): void => void child.kill('SIGKILL');
  process.on('exit', atExit);
  child.once('exit', () => process.off('exit', atExit));
  return {
    pid: child.pid ?? 0,
    log: () => log,
    exit: () => child.exitCode ?? child.signalCode ?? undefined,
    end: (signal) => end(child, signal),
  };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
  return child.exitCode ?? child.signalCode;
}

/** Resident memory in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** @throws Error that names what did not come in time, with what `seen` says */
export async function until<Value>(
  what: string,
  check: () => Promise<Value | undefined>,
  seen: () => string = () => '',
): Promise<Value> {
  const end = performance.now() + 15_000;
  for (;;) {
    const value = await check();
    if (value !== undefined) return value;
    if (performance.now() > end) throw new Error(`${what}: not within 15 s\n${seen()}`);
    await pause(50);
  }
}
