// The real managers as programs of this machine: what a kubelet would make of their Deployments, with the rights of their own service accounts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { KubeClient, KubeObject, ObjectKey } from '../../../src/kube/client.ts';
import { fieldAt, listAt, textAt } from '../../../src/kube/fields.ts';
import { type Provider, providers } from '../../../src/tasks/cluster-api/providers.ts';
import { buildComponent } from '../../testbed/builds/build.ts';
import { freePort } from '../free-port.ts';
import type { TestApiServer } from '../kube/api-server.ts';
import type { ServiceProxy } from './service-proxy.ts';

export interface Manager {
  readonly provider: Provider;
  readonly webhookPort: number;
  /** All it wrote so far. */
  log(): Promise<string>;
  /** Puts its certificate where it reads it, as the kubelet does after the Secret changed. */
  updateCertificate(): Promise<void>;
  stop(): Promise<void>;
}

/** Each answers on its webhooks' Service when this returns. */
export async function startManagers(server: TestApiServer, proxy: ServiceProxy): Promise<Manager[]> {
  const started = providers
    .filter(({ file }) => file !== undefined)
    .map((provider) => startManager(server, proxy, provider));
  return Promise.all(started);
}

async function startManager(server: TestApiServer, proxy: ServiceProxy, provider: Provider): Promise<Manager> {
  const { client } = server;
  const dir = await mkdtemp(path.join(tmpdir(), `bke-${provider.name}-`));
  const certificates = path.join(dir, 'certificates');
  await mkdir(certificates);
  const updateCertificate = (): Promise<void> => writeCertificate(client, provider, certificates);
  await updateCertificate();
  const [webhookPort, healthPort, metricsPort] = [await freePort(), await freePort(), await freePort()];
  const logFile = path.join(dir, 'log');
  const child = await startProgram(provider, logFile, [
    ...(await podArguments(server, provider, path.join(dir, 'kubeconfig'))),
    // In which namespace its lease is, only the files of a pod tell.
    '--leader-elect=false',
    `--webhook-port=${webhookPort}`,
    `--webhook-cert-dir=${certificates}`,
    `--health-addr=127.0.0.1:${healthPort}`,
    `--diagnostics-address=127.0.0.1:${metricsPort}`,
  ]);
  const exited = once(child, 'exit');
  const manager: Manager = {
    provider,
    webhookPort,
    log: () => readFile(logFile, 'utf8'),
    updateCertificate,
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
  const { namespace, webhook } = provider;
  const service = await needed(client, { apiVersion: 'v1', kind: 'Service', namespace, name: webhook?.service ?? '' });
  proxy.targets.set(`${textAt(service, 'spec', 'clusterIP')}:443`, webhookPort);
  await untilHealthy(manager, healthPort, () => child.exitCode === null && child.signalCode === null);
  return manager;
}

/** Of its container, and a kubeconfig with a token of the pod's service account. */
async function podArguments(
  server: TestApiServer,
  { namespace, deployment: name }: Provider,
  kubeconfig: string,
): Promise<string[]> {
  const { client, url, ca } = server;
  const deployment = await needed(client, { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name });
  const pod = fieldAt(deployment, 'spec', 'template', 'spec');
  const token = await server.tokenOf(namespace, textAt(pod, 'serviceAccountName') ?? 'default');
  await writeFile(kubeconfig, kubeconfigText(url, ca, token), { mode: 0o600 });
  const [container] = listAt(pod, 'containers');
  return [...listAt(container, 'args').map(String), `--kubeconfig=${kubeconfig}`];
}

/** Its output goes into `logFile`; it ends with this process at the latest. */
async function startProgram({ file = '' }: Provider, logFile: string, args: string[]): Promise<ChildProcess> {
  const build = await buildComponent(file);
  const log = await open(logFile, 'w');
  const child = spawn(build.program(`${file}-manager`), args, { stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.on('exit', killAtExit);
  child.once('exit', () => process.off('exit', killAtExit));
  return child;
}

/** What the controllers of Deployments would say, where no kubelet is: that all pods are there. */
export async function tellRunning(client: KubeClient): Promise<void> {
  for (const { namespace, deployment } of providers) {
    const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: deployment };
    const { generation } = (await client.get(key))?.metadata ?? {};
    const status = {
      observedGeneration: generation,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
    };
    await client.patch(key, { status }, { type: 'merge', fieldManager: 'test', subresource: 'status' });
  }
}

async function untilHealthy(manager: Manager, port: number, running: () => boolean): Promise<void> {
  const end = performance.now() + 30_000;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.ok === true) return;
    if (!running() || performance.now() > end) {
      throw new Error(`${manager.provider.name} is not ready\n${(await manager.log()).slice(-4000)}`);
    }
    await pause(100);
  }
}

async function writeCertificate(client: KubeClient, { namespace, webhook }: Provider, dir: string): Promise<void> {
  const secret = await needed(client, {
    apiVersion: 'v1',
    kind: 'Secret',
    namespace: namespace,
    name: webhook?.secret ?? '',
  });
  for (const name of ['tls.crt', 'tls.key']) {
    const draft = path.join(dir, `${name}.new`);
    await writeFile(draft, Buffer.from(textAt(secret, 'data', name) ?? '', 'base64'), { mode: 0o600 });
    await rename(draft, path.join(dir, name));
  }
}

async function needed(client: KubeClient, key: ObjectKey): Promise<KubeObject> {
  const found = await client.get(key);
  if (found === undefined) throw new Error(`there is no ${key.kind} ${key.namespace}/${key.name}`);
  return found;
}

function kubeconfigText(server: string, ca: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'manager', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'manager' } }],
    'current-context': 'test',
  });
}
