// `bke cluster create` as a user runs it: a real sshd, a real API server, and the controller of operations. Nobody brings the host up.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bkeOperationController } from '../../../src/controllers/bkeoperation/controller.ts';
import { kinds } from '../../../src/controllers/bkeoperation/world.ts';
import type { KubeObject } from '../../../src/kube/client.ts';
import { fieldAt, listAt, textAt } from '../../../src/kube/fields.ts';
import { checkNames } from '../../../src/lib/check-names.ts';
import { releaseObject } from '../../../src/tasks/cluster-api/release-object.ts';
import { type CliOptions, runCli } from '../../fakes/cli.ts';
import { catalogue } from '../../fakes/fleet.ts';
import { until } from '../controllers/controller-process.ts';
import { installOwn } from '../controllers/management.ts';
import { startApiServer, type TestApiServer } from '../kube/api-server.ts';
import { TestSshd } from '../ssh/sshd.ts';
import { testManager } from '../controllers/test-manager.ts';

const namespace = 'bke';
const stop = new AbortController();
/** A cluster.yaml takes no loopback address. */
const address = Object.values(networkInterfaces())
  .flatMap((found) => found ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
let folder: string;
let server: TestApiServer;
let sshd: TestSshd;
let running: Promise<void>;

beforeAll(async () => {
  if (address === undefined) throw new Error('this machine has no address but loopback: add one to any link');
  folder = await mkdtemp(join(tmpdir(), 'bke-create-'));
  sshd = await TestSshd.start({ config: [`ListenAddress ${address}`] });
  server = await startApiServer();
  await installOwn(server.client);
  await server.client.create(releaseObject(catalogue));
  const events = { record: async () => undefined };
  const manager = testManager(server.client, (context) => [bkeOperationController(server.client, context)], { events });
  running = manager.run(stop.signal);
});
afterAll(async () => {
  stop.abort();
  await running;
  await server?.stop();
  await sshd?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function clusterFile(ssh: string): Promise<string> {
  const path = join(folder, 'cluster.yaml');
  const text = `apiVersion: bke.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: v1.36.3
  network: {podCIDR: 172.28.0.0/16, serviceCIDR: 172.29.0.0/16}
  settings: {ignoreChecks: [${checkNames.join(', ')}]}
  hosts:
    - {name: cp1, address: ${address}, roles: [control-plane], ssh: {port: ${sshd.port}, ${ssh}}}
`;
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

const runBke = (words: readonly string[], more: CliOptions = {}) =>
  runCli([...words, '--kubeconfig', server.kubeconfig], {
    env: { HOME: folder },
    operationsDirectory: join(folder, 'operations'),
    ...more,
  });
const bke = (...words: string[]) => runBke(words);

/** While the resource of the host says another address than the file. */
async function movedHost<Result>(work: () => Promise<Result>): Promise<Result> {
  const key = { ...kinds.host, namespace, name: 'cp1' };
  const move = (to: string | undefined) =>
    server.client.patch(key, { spec: { address: to } }, { type: 'merge', fieldManager: 'other' });
  await move('10.0.0.99');
  try {
    return await work();
  } finally {
    await move(address);
  }
}

const operations = async (): Promise<readonly KubeObject[]> =>
  (await server.client.list(kinds.operation, { namespace })).items;

it('refuses a host that only an SSH agent can log in to, before anything is asked', async () => {
  const path = await clusterFile('agent: true');
  const { code, stderr } = await bke('cluster', 'create', '-f', path, '--yes');
  expect(code).toBe(3);
  expect(stderr).toContain('error[BKE_SSH_AGENT_ONLY]');
  expect(stderr).toContain('cp1: ssh.agent');
});

it('runs programs on the hosts of the file', async () => {
  const path = await clusterFile(`privateKeyFile: ${join(sshd.directory, 'root')}`);
  const run = (...words: string[]) =>
    runCli(['host', 'exec', '-f', path, '--accept-new-host-keys', '--', ...words], { env: { HOME: folder } });
  expect(await run('echo', 'a  b; exit 3')).toMatchObject({ code: 0, stdout: '== cp1\na  b; exit 3\n' });
  expect(await run('sh', '-c', 'echo no >&2; exit 3')).toMatchObject({ code: 1, stdout: '== cp1: exit code 3\nno\n' });
});

it('lists what it would make, and makes nothing', async () => {
  const path = await clusterFile(`privateKeyFile: ${join(sshd.directory, 'root')}`);
  const { code, stdout, stderr } = await bke('cluster', 'create', '-f', path, '--dry-run', '--accept-new-host-keys');
  expect(code, stderr).toBe(0);
  for (const what of [
    'its Secret with the SSH login',
    'its BKEHost',
    'Cluster prod',
    'KubeadmControlPlane prod-control-plane',
  ])
    expect(stdout).toContain(`+ create ${what}`);
  expect(stdout).toMatch(
    /Plan for cp1:\n[^]*> log in as root[^]*> prepare it for Kubernetes v1\.36\.3[^]*> make it a node of the control plane/,
  );
  expect(await server.client.get({ ...kinds.cluster, namespace, name: 'prod' })).toBeUndefined();
  expect(await operations()).toEqual([]);
});

it('writes the cluster with the keys of its hosts, watches its operation, and goes on after a cancel', async () => {
  const path = await clusterFile(`privateKeyFile: ${join(sshd.directory, 'root')}`);
  const create = ['cluster', 'create', '-f', path, '--progress', 'plain'];
  // From two terminals at once: one makes it, the other follows.
  const twins = [1, 2].map(() => {
    const lines: string[] = [];
    return { lines, run: runBke(create, { stderr: { write: (text) => lines.push(text) > 0 } }) };
  });
  // One that still reads would meet what is changed below.
  await until('both wait for the host', 60_000, async () =>
    twins.every(({ lines }) => lines.join('').includes('cp1: agent and checks:')),
  );
  const [operation] = await operations();
  const id = operation?.metadata.name ?? '';
  await until('the host is written', 20_000, async () => {
    const claimed = await server.client.get({ ...kinds.host, namespace, name: 'cp1' });
    return fieldAt(claimed, 'spec', 'ssh') !== undefined;
  });
  const host = await server.client.get({ ...kinds.host, namespace, name: 'cp1' });
  expect(listAt(host, 'spec', 'ssh', 'hostKeys')).toEqual([expect.stringMatching(/^SHA256:/)]);
  // It was claimed by a request of its own; what it has is the file's all the same, so that a role left out later goes.
  const owners = listAt(host, 'metadata', 'managedFields').flatMap((entry) =>
    fieldAt(entry, 'fieldsV1', 'f:spec', 'f:roles') === undefined
      ? []
      : [`${textAt(entry, 'manager')} ${textAt(entry, 'operation')}`],
  );
  expect(owners).toEqual(['bke-cli Apply']);
  const secret = await server.client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name: 'cp1-ssh' });
  expect(Buffer.from(textAt(secret, 'data', 'ssh-privatekey') ?? '', 'base64').toString()).toContain('PRIVATE KEY');
  const lines: string[] = [];
  const other = await movedHost(() => bke('cluster', 'create', '-f', path));
  expect(other).toMatchObject({ code: 7, stderr: expect.stringContaining('BKEHost cp1 differs') });
  const second = runBke(['cluster', 'create', '-f', path, '--progress', 'plain'], {
    stderr: { write: (text) => lines.push(text) > 0 },
  });
  await until('the second one watches', 60_000, async () => lines.join('').includes('cp1: agent and checks:'));
  expect(lines.join('')).toContain(`Operation ${id} makes cluster prod already.`);
  expect(await operations()).toHaveLength(1);
  expect((await bke('operation', 'cancel', id)).code).toBe(0);
  expect((await second).code).toBe(130);
  const told = twins.map(({ lines: words }) => words.join('')).join('');
  for (const { run } of twins) expect((await run).code, told).toBe(130);
  expect(told).not.toContain('PRIVATE KEY');
  expect(told).toContain(`Cluster prod is written; operation ${id} makes it.`);
  expect(told).toContain(`Operation ${id} makes cluster prod already.`);
  const again = bke('cluster', 'create', '-f', path, '--progress', 'plain');
  await until('another operation runs', 60_000, async () => (await operations()).length === 2);
  const next = (await operations()).find(({ metadata }) => metadata.name !== id)?.metadata.name ?? '';
  await until('it is carried out', 20_000, async () => {
    const found = await server.client.get({ ...kinds.operation, namespace, name: next });
    return textAt(found, 'status', 'phase') === 'Running';
  });
  const cluster = await server.client.get({ ...kinds.cluster, namespace, name: 'prod' });
  expect(fieldAt(cluster, 'spec', 'paused')).toBeUndefined();
  expect((await bke('operation', 'cancel', next)).code).toBe(0);
  expect((await again).code).toBe(130);
}, 180_000);
