// `bke controller run` from source as a child process, with the rights of the provider's own service account.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { freePort } from '../free-port.ts';
import type { TestApiServer } from '../kube/api-server.ts';

export interface ControllerProcess {
  readonly name: string;
  readonly pid: number;
  /** What it wrote to stdout and stderr so far. */
  output(): string;
  /** Status and text; undefined where nothing answers. */
  health(path: '/healthz' | '/readyz'): Promise<{ readonly status: number; readonly text: string } | undefined>;
  metrics(): Promise<string>;
  /** @returns exit code or signal, and how long it took */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<{ readonly exit: number | string | null; readonly ms: number }>;
}

const program = join(import.meta.dirname, '../../../bin/bke.ts');

export async function startController(name: string, kubeconfig: string): Promise<ControllerProcess> {
  const [healthPort, metricsPort] = [await freePort(), await freePort()];
  const ports = ['--health-port', String(healthPort), '--metrics-port', String(metricsPort)];
  const child = spawn(process.execPath, [program, 'controller', 'run', '--kubeconfig', kubeconfig, ...ports], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin', POD_NAME: name },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const atExit = (): void => void child.kill('SIGKILL');
  process.on('exit', atExit);
  child.once('exit', () => process.off('exit', atExit));
  const get = (port: number, path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5000) });
  return {
    name,
    pid: child.pid ?? 0,
    output: () => output,
    health: async (path) => {
      const response = await get(healthPort, path).catch(() => undefined);
      return response === undefined ? undefined : { status: response.status, text: await response.text() };
    },
    metrics: async () => (await get(metricsPort, '/metrics')).text(),
    end: (signal) => end(child, signal),
  };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL') {
  const started = performance.now();
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
  return { exit: child.exitCode ?? child.signalCode, ms: performance.now() - started };
}

/** The parts of a kubeconfig that are needed here. */
const tokenAnswer = z.object({ status: z.object({ token: z.string() }) });

/** A kubeconfig of the service account; gives the token, too. */
export async function writeServiceKubeconfig(server: TestApiServer, file: string): Promise<string> {
  const path = '/api/v1/namespaces/bke-system/serviceaccounts/bke-controller-manager/token';
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const { token } = tokenAnswer.parse(await server.client.request('POST', path, { body })).status;
  const ca = Buffer.from(server.ca).toString('base64');
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: server.url, 'certificate-authority-data': ca } }],
    users: [{ name: 'bke', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'bke' } }],
    'current-context': 'test',
  };
  await writeFile(file, JSON.stringify(kubeconfig), { mode: 0o600 });
  return token;
}

/** @throws Error that names what did not come in time */
export async function until(what: string, limitMs: number, check: () => Promise<boolean> | boolean): Promise<number> {
  const started = performance.now();
  for (;;) {
    if (await check()) return performance.now() - started;
    if (performance.now() - started > limitMs) throw new Error(`${what}: not within ${limitMs} ms`);
    await pause(50);
  }
}
