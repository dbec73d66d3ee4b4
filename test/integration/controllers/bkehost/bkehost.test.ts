// The controller of hosts against a real API server and a real sshd, with the rights of its service account. Nothing is installed: bke is a script.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, siteObject } from '../../../../src/cluster/site.ts';
import { bkeHostController } from '../../../../src/controllers/bkehost/controller.ts';
import type { Connect } from '../../../../src/controllers/bkehost/enrol.ts';
import { createMetrics } from '../../../../src/controllers/metrics.ts';
import { connect } from '../../../../src/host/ssh/connect.ts';
import type { KubeClient, KubeObject } from '../../../../src/kube/client.ts';
import { conditionOf, conditionWords } from '../../../../src/kube/conditions.ts';
import { fieldAt } from '../../../../src/kube/fields.ts';
import { checkNames } from '../../../../src/lib/check-names.ts';
import { type TestApiServer, startApiServer } from '../../kube/api-server.ts';
import { TestSshd } from '../../ssh/sshd.ts';
import { until } from '../controller-process.ts';
import { installOwn } from '../management.ts';
import { beat, clientOfAgent, FakeBke } from './fake-bke.ts';
import { testManager } from '../test-manager.ts';

const namespace = 'bke';
const group = 'bke.io/v1alpha1';
const stop = new AbortController();
let folder: string;
let server: TestApiServer;
let sshd: TestSshd;
let own: KubeClient;
let bke: FakeBke;
let running: Promise<void>;
const metrics = createMetrics();
/** Programs that were run on hosts, by their name for messages. */
const programs: string[] = [];

/** The real connection; only taking bke off this machine is kept from it. */
const guarded: Connect = async (target, options) => {
  const shell = await connect(target, { ...options, deadlineMs: 3000 });
  return {
    name: shell.name,
    upload: (source, path, file) => shell.upload(source, path, file),
    close: () => shell.close(),
    run: async (argv, runOptions) => {
      const name = argv[0] === '/bin/sh' ? (argv[3] ?? '') : argv.slice(1).join(' ');
      programs.push(`${target.name} ${name}`);
      if (name === 'bke-leave') return { exitCode: 0, stdout: 'clean\n', stderr: '' };
      return shell.run(argv, runOptions);
    },
  };
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-hosts-'));
  bke = new FakeBke(join(folder, 'told.json'), folder);
  [server, sshd] = await Promise.all([startApiServer(), TestSshd.start()]);
  await installOwn(server.client);
  const site: Site = {
    domain: 'deploy.bke.internal',
    hostIP: '127.0.0.1',
    ports: { registry: 40_443, files: 40_080, charts: 38_080 },
    ca: server.ca,
    servers: [server.url],
    serverCa: server.ca,
  };
  await server.client.create(siteObject(site));
  // A cluster whose settings leave all checks out: this machine is no bare host.
  await server.client.create({
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
    kind: 'BKECluster',
    metadata: { name: 'lab', namespace },
    spec: { cni: 'flannel', settings: { ignoreChecks: [...checkNames] } },
  });
  await server.client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'release-lab', namespace: 'bke-system', labels: { 'bke.io/catalogue': '' } },
    data: {
      'catalogue.json': JSON.stringify({
        name: 'lab',
        version: '0.1.0',
        kubernetesVersions: ['v1.36.3'],
        files: [],
        images: [],
        charts: [],
      }),
    },
  });
  own = await server.clientOf('bke-system', 'bke-controller-manager');
  const options = { connect: guarded, version: '0.1.0', own: bke.binary(), firstPauseMs: 200 };
  const client = own;
  const manager = testManager(client, (context) => [bkeHostController(client, context, options)], { metrics });
  running = manager.run(stop.signal);
});

afterAll(async () => {
  stop.abort();
  await running;
  own?.close();
  await sshd?.[Symbol.asyncDispose]();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface HostFields {
  readonly hostKeys?: readonly string[];
  readonly secret?: string;
  readonly retain?: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly port?: number;
}

async function createHost(name: string, fields: HostFields = {}): Promise<void> {
  const { hostKeys = [sshd.fingerprint()], secret = `${name}-ssh`, retain = true, annotations = {}, port } = fields;
  const ssh = { user: 'root', port: port ?? sshd.port, hostKeys, secretRef: { name: secret }, retain };
  await server.client.create({
    apiVersion: group,
    kind: 'BKEHost',
    metadata: { name, namespace, annotations, labels: { 'bke.io/cluster': 'lab' } },
    spec: { address: '127.0.0.1', roles: ['worker'], ssh },
  });
}

/** As `bke cluster create` writes it for a host. */
function ofHost(host: string): Record<string, string> {
  return { 'bke.io/secret-of': host };
}

async function createSecret(
  name: string,
  data: Readonly<Record<string, string>> = {},
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const key = readFileSync(join(sshd.directory, 'root'), 'utf8');
  const values = Object.keys(data).length === 0 ? { 'ssh-privatekey': key } : data;
  await server.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels },
    stringData: values,
  });
}

function get(kind: string, name: string, apiVersion = group): Promise<KubeObject | undefined> {
  return server.client.get({ apiVersion, kind, namespace, name });
}

async function words(host: string, type: string): Promise<string> {
  const found = conditionOf(await get('BKEHost', host), type);
  return found === undefined ? '' : `${found.status} ${conditionWords(found)}`;
}

async function condition(host: string, type: string, wanted: RegExp): Promise<void> {
  let last = '';
  try {
    await until(`${host} ${type}`, 15_000, async () => wanted.test((last = await words(host, type))));
  } catch (error) {
    throw new Error(`${host} ${type}: wanted ${wanted}, last was '${last}'`, { cause: error });
  }
}

function dialled(): number {
  return sshd.log().split('Connection from').length - 1;
}

describe('a host', () => {
  it('is not dialled while its host key is not known', async () => {
    await createSecret('keyless-ssh');
    await createHost('keyless', { hostKeys: [] });
    await condition('keyless', 'HostKeysKnown', /^False HostKeyUnknown: BKE_HOST_KEY_UNKNOWN: .*127\.0\.0\.1/);
    await condition('keyless', 'Available', /^False HostKeyUnknown/);
    await condition('keyless', 'Reachable', /^Unknown NotTried/);
    expect(dialled()).toBe(0);
  });

  it('gets no credential when it shows another key, and people are told', async () => {
    await createSecret('other-ssh', { password: 'CANARY-8812' });
    await createHost('other', { hostKeys: ['SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'] });
    await condition('other', 'HostKeysKnown', /^False HostKeyChanged: BKE_HOST_KEY_CHANGED/);
    expect(sshd.log()).not.toMatch(/Failed password|Accepted/);
    // Told after the condition is written.
    await until('the event', 5000, async () => {
      const { items } = await server.client.list({ apiVersion: 'v1', kind: 'Event' }, { namespace });
      return items.some(
        (event) => fieldAt(event, 'involvedObject', 'name') === 'other' && event['reason'] === 'HostKeyChanged',
      );
    });
  });

  it('is asked once for a login that is refused, and again when somebody asks anew', async () => {
    await createSecret('refused-ssh', { password: 'CANARY-7391' });
    await createHost('refused');
    await condition('refused', 'Reachable', /^False LoginRefused: BKE_SSH_AUTH/);
    const failed = (): number => sshd.log().split('Failed password').length - 1;
    expect(failed()).toBe(1);
    // Of another host, so that time goes by.
    await createHost('away', { port: 1, secret: 'keyless-ssh' });
    await condition('away', 'Reachable', /^False Unreachable: BKE_SSH_UNREACHABLE/);
    expect(failed()).toBe(1);
    expect(await words('refused', 'Reachable')).not.toContain('CANARY');
    await server.client.patch(
      { apiVersion: group, kind: 'BKEHost', namespace, name: 'refused' },
      { metadata: { annotations: { 'bke.io/asked': 'create-2' } } },
      { type: 'merge', fieldManager: 'test' },
    );
    await until('it is asked again', 10_000, async () => failed() === 2);
  });

  it('comes up: looked at, agent brought and installed, Available when its heartbeat is there', async () => {
    await createHost('h1', { retain: false });
    await condition('h1', 'Reachable', /^False CredentialsMissing: BKE_HOST_CREDENTIALS: .*bke\/h1-ssh/);
    await createSecret('h1-ssh');
    await until('the agent is installed', 20_000, async () => (await bke.told()) !== undefined);
    const told = await bke.told();
    if (told === undefined) throw new Error('nothing was told');
    expect(told).toMatchObject({
      host: 'h1',
      namespace,
      servers: [server.url],
      site: { domain: 'deploy.bke.internal', hostIP: '127.0.0.1' },
      broughtTo: `/var/lib/bke-brought-${bke.digest.slice(7, 23)}`,
    });
    await condition('h1', 'Available', /^False NotEnrolled/);
    const agent = clientOfAgent(told);
    await beat(agent, told);
    await condition('h1', 'Available', /^True Available/);
    const host = await get('BKEHost', 'h1');
    expect(host).toMatchObject({
      metadata: { finalizers: ['bke.io/secret', 'bke.io/enrolled'] },
      status: { agent: { version: '0.1.0' }, facts: { uid: 0, probedAddress: '127.0.0.1' } },
    });
    await until('the Secret is gone', 5000, async () => (await get('Secret', 'h1-ssh', 'v1')) === undefined);
    // The token is good for the host's own things only.
    const command = { apiVersion: group, kind: 'HostCommand', namespace };
    expect(await agent.get({ ...command, name: 'h1' })).toMatchObject({ spec: { steps: [] } });
    await expect(agent.get({ ...command, name: 'other' })).rejects.toMatchObject({ code: 'BKE_KUBE_FORBIDDEN' });
    agent.close();
    expect(programs.filter((program) => program.startsWith('h1 '))).toEqual(['h1 bke-probe', 'h1 agent install']);
  });

  it('gets a HostCommand again where somebody deletes it', async () => {
    await server.client.delete({ apiVersion: group, kind: 'HostCommand', namespace, name: 'h1' });
    await until('it is there again', 5000, async () => (await get('HostCommand', 'h1')) !== undefined);
  });

  it('is left alone while it is paused, even when it is deleted', async () => {
    const key = { apiVersion: group, kind: 'BKEHost', namespace, name: 'h1' };
    const annotate = (annotations: Record<string, string | null>): Promise<KubeObject> =>
      server.client.patch(key, { metadata: { annotations } }, { type: 'merge', fieldManager: 'test' });
    await annotate({ 'clusterctl.cluster.x-k8s.io/delete-for-move': '' });
    await server.client.delete(key);
    await condition('other', 'HostKeysKnown', /^False/);
    expect(await get('ServiceAccount', 'agent-h1', 'v1')).toBeDefined();
    expect(await words('h1', 'Available')).toBe('True Available');
    await annotate({ 'clusterctl.cluster.x-k8s.io/delete-for-move': null });
    await condition('h1', 'Available', /^False Deleting: .*BKE_HOST_CREDENTIALS.*bke\/h1-ssh is not there/s);
    await createSecret('h1-ssh', {}, ofHost('h1'));
    await until('it is gone', 20_000, async () => (await get('BKEHost', 'h1')) === undefined);
    expect(programs.at(-1)).toBe('h1 bke-leave');
    expect(await get('Secret', 'h1-ssh', 'v1')).toBeUndefined();
    expect(await get('ServiceAccount', 'agent-h1', 'v1')).toBeUndefined();
    expect(await get('HostCommand', 'h1')).toBeUndefined();
    expect(await get('Lease', 'agent-h1', 'coordination.k8s.io/v1')).toBeUndefined();
  });

  it('that was never enrolled goes at once, with the Secret that bke wrote for it and no other', async () => {
    const remove = async (host: string): Promise<void> => {
      await server.client.delete({ apiVersion: group, kind: 'BKEHost', namespace, name: host });
      await until(`${host} is gone`, 5000, async () => (await get('BKEHost', host)) === undefined);
    };
    await createSecret('never-ssh', { password: 'x' }, ofHost('never'));
    await createSecret('lender-ssh', { password: 'x' }, ofHost('lender'));
    for (const host of ['never', 'lender']) await createHost(host, { hostKeys: [] });
    await createHost('borrower', { hostKeys: [], secret: 'lender-ssh' });
    for (const host of ['never', 'lender', 'borrower']) await condition(host, 'HostKeysKnown', /^False/);
    await remove('never');
    expect(await get('Secret', 'never-ssh', 'v1')).toBeUndefined();
    await remove('lender');
    expect(await get('Secret', 'lender-ssh', 'v1')).toBeDefined();
    await remove('keyless');
    expect(await get('Secret', 'keyless-ssh', 'v1')).toBeDefined();
  });

  it('is counted by what holds it', async () => {
    expect((await metrics.render()).text).toMatch(/bke_hosts\{reason="LoginRefused"\} 1/);
  });
});
