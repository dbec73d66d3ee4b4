// A real API server for tests: etcd and kube-apiserver of the test bed on loopback, with RBAC; on request the controllers that clean up.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KubeClient } from '../../../src/kube/client.ts';
import { createKubeClient } from '../../../src/kube/create-client.ts';
import { textAt } from '../../../src/kube/fields.ts';
import { connectionFromKubeconfig } from '../../../src/kube/kubeconfig.ts';
import { buildComponent } from '../../testbed/builds/build.ts';
import { freePort } from '../free-port.ts';
import { makeClusterCertificates } from './certificates.ts';
import { startProcess, type TestProcess, untilReady } from './process.ts';

export interface ApiServerOptions {
  /** Garbage collection, namespace deletion, aggregated ClusterRoles, service accounts and their tokens. Default false: only the API. */
  readonly controllerManager?: boolean;
  /** Further arguments of kube-apiserver. */
  readonly apiServerArguments?: readonly string[];
}

export interface TestApiServer {
  readonly url: string;
  /** PEM */
  readonly ca: string;
  /** Path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Of the administrator; closed by stop(). */
  readonly client: KubeClient;
  /** A client of a service account, by a token of an hour. The account must be there. The caller closes it. */
  clientOf(namespace: string, serviceAccount: string): Promise<KubeClient>;
  /** A token of an hour of a service account that is there. */
  tokenOf(namespace: string, serviceAccount: string): Promise<string>;
  /** kubectl with the administrator's kubeconfig: its path, to be run with KUBECONFIG. */
  readonly kubectl: string;
  /** Ends kube-apiserver at once (SIGKILL); etcd goes on. */
  killApiServer(): Promise<void>;
  /** The same again, on the same port, after a kill. */
  startApiServerAgain(): Promise<void>;
  stop(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions = {}): Promise<TestApiServer> {
  const dir = await mkdtemp(path.join(tmpdir(), 'bke-api-server-'));
  const running: TestProcess[] = [];
  const stop = async (): Promise<void> => {
    // Nothing of it is kept, so that an orderly end would only cost time.
    for (const child of running) await child.kill();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    return await startAll(dir, running, stop, options);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

async function startAll(
  dir: string,
  running: TestProcess[],
  stop: () => Promise<void>,
  options: ApiServerOptions,
): Promise<TestApiServer> {
  const file = (name: string): string => path.join(dir, name);
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const url = `https://127.0.0.1:${port}`;
  const { ca } = await writeFiles(dir, url);
  const [etcd, kubernetes] = [await buildComponent('etcd'), await buildComponent('kubernetes')];
  running.push(startProcess(etcd.program('etcd'), etcdArguments(file('etcd'), etcdPort, peerPort)));
  const startServer = (): TestProcess =>
    startProcess(kubernetes.program('kube-apiserver'), [
      ...apiServerArguments(file, etcdPort, port),
      ...(options.apiServerArguments ?? []),
    ]);
  const kubeconfig = file('admin.conf');
  const client = createKubeClient(
    await connectionFromKubeconfig(await readFile(kubeconfig, 'utf8'), {
      file: kubeconfig,
      readFile: (name) => readFile(name, 'utf8'),
    }),
  );
  let server = startServer();
  running.push(server);
  const ready = (): Promise<void> => untilReady('kube-apiserver', server, () => client.request('GET', '/readyz'));
  await ready();
  if (options.controllerManager === true) {
    running.push(startProcess(kubernetes.program('kube-controller-manager'), controllerManagerArguments(file)));
  }
  return {
    url,
    ca,
    kubeconfig,
    client,
    kubectl: kubernetes.program('kubectl'),
    tokenOf: (namespace, serviceAccount) => tokenOf(client, namespace, serviceAccount),
    clientOf: async (namespace, serviceAccount) => {
      const token = await tokenOf(client, namespace, serviceAccount);
      return createKubeClient({ servers: [url], ca: [ca], credential: { type: 'token', token: async () => token } });
    },
    killApiServer: () => server.kill(),
    startApiServerAgain: async () => {
      running[running.indexOf(server)] = server = startServer();
      await ready();
    },
    stop: async () => {
      client.close();
      await stop();
    },
  };
}

async function tokenOf(client: KubeClient, namespace: string, serviceAccount: string): Promise<string> {
  const answer = await client.request(
    'POST',
    `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`,
    { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } } },
  );
  const token = textAt(answer, 'status', 'token');
  if (token === undefined) throw new Error(`no token for ${namespace}/${serviceAccount}`);
  return token;
}

async function writeFiles(dir: string, url: string): Promise<{ readonly ca: string }> {
  const certificates = await makeClusterCertificates();
  const admin = await certificates.account('kubernetes-admin', ['system:masters']);
  const signing = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const files = {
    'ca.crt': certificates.ca.certificate,
    'tls.crt': certificates.serving.certificate,
    'tls.key': certificates.serving.key,
    // The API server reads this form only.
    'sa.key': signing.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    'sa.pub': signing.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    'admin.conf': kubeconfigText(url, certificates.ca.certificate, admin),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(dir, name), text, { mode: 0o600 });
  return { ca: certificates.ca.certificate };
}

function kubeconfigText(
  url: string,
  ca: string,
  admin: { readonly certificate: string; readonly key: string },
): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
    users: [
      {
        name: 'admin',
        user: { 'client-certificate-data': base64(admin.certificate), 'client-key-data': base64(admin.key) },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  });
}

function etcdArguments(dataDir: string, port: number, peerPort: number): string[] {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return [
    `--data-dir=${dataDir}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // Lost with the machine, which is no matter here, and far faster.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

function apiServerArguments(file: (name: string) => string, etcdPort: number, port: number): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${file('tls.crt')}`,
    `--tls-private-key-file=${file('tls.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    '--authorization-mode=Node,RBAC',
    `--service-account-key-file=${file('sa.pub')}`,
    `--service-account-signing-key-file=${file('sa.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    '--service-cluster-ip-range=10.96.0.0/16',
    // A loopback address is no valid endpoint of the service `kubernetes`.
    '--endpoint-reconciler-type=none',
    '--allow-privileged=true',
  ];
}

function controllerManagerArguments(file: (name: string) => string): string[] {
  const controllers = [
    'garbage-collector-controller',
    'namespace-controller',
    'clusterrole-aggregation-controller',
    'serviceaccount-controller',
    'serviceaccount-token-controller',
    'root-ca-certificate-publisher-controller',
  ];
  return [
    `--kubeconfig=${file('admin.conf')}`,
    `--controllers=${controllers.join(',')}`,
    `--service-account-private-key-file=${file('sa.key')}`,
    `--root-ca-file=${file('ca.crt')}`,
    '--leader-elect=false',
    '--secure-port=0',
  ];
}
