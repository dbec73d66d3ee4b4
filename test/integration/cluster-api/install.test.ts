// Cluster API and bke's provider in a real API server: installed, ended anywhere and gone on with, run by the real managers with their own rights.
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bkeClusterController } from '../../../src/controllers/bkecluster/controller.ts';
import { bkeMachineController } from '../../../src/controllers/bkemachine/controller.ts';
import type { KubeClient, KubeObject } from '../../../src/kube/client.ts';
import { conditionOf } from '../../../src/kube/conditions.ts';
import { textAt } from '../../../src/kube/fields.ts';
import type { Catalogue } from '../../../src/release/catalogue.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { reconcileCertificates } from '../../../src/tasks/cluster-api/certificates.ts';
import { connectByKubeconfig } from '../../../src/tasks/cluster-api/connect.ts';
import { ensureManagementCa } from '../../../src/tasks/cluster-api/management-ca.ts';
import { managementStatus } from '../../../src/tasks/cluster-api/status.ts';
import { managementPhases } from '../../../src/tasks/cluster-api/phases.ts';
import { providers } from '../../../src/tasks/cluster-api/providers.ts';
import type { Phase } from '../../../src/operations/operation.ts';
import { webhookTrouble } from '../../../src/tasks/cluster-api/webhook-proof.ts';
import type { TaskScope } from '../../../src/tasks/task.ts';
import { startApiServer, type TestApiServer } from '../kube/api-server.ts';
import { clusterctl, clusterctlConfig } from './clusterctl.ts';
import { type Manager, startManagers, tellRunning } from './managers.ts';
import { testRelease, type TestRelease } from './release.ts';
import { runPhases } from './run.ts';
import { egressConfiguration, type ServiceProxy, startServiceProxy } from './service-proxy.ts';
import { testManager } from '../controllers/test-manager.ts';
import { createCluster, createOwnCluster, defineInfrastructure } from './workload.ts';

const dayMs = 24 * 3_600_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * dayMs);
const merge = { type: 'merge', fieldManager: 'somebody' } as const;
/** More than two thirds of a leaf's life. */
const longAgo = daysAgo(270);
/** Secrets, webhook configurations (mutating and validating) and definitions with a conversion. */
const [leaves, callers] = [3, 3 + 3 + 17];

let dir: string;
let server: TestApiServer;
let proxy: ServiceProxy;
let release: TestRelease;
/** With the rights of bke's own controller, which keeps the certificates later. */
let controller: KubeClient;
const managers: Manager[] = [];

beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'bke-cluster-api-'));
  const socket = path.join(dir, 'services');
  proxy = await startServiceProxy(socket);
  const egress = path.join(dir, 'egress.json');
  await writeFile(egress, egressConfiguration(socket));
  release = await testRelease();
  server = await startApiServer({
    controllerManager: true,
    apiServerArguments: [`--egress-selector-config-file=${egress}`],
  });
});

afterAll(async () => {
  controller?.close();
  for (const manager of managers) await manager.stop();
  await server?.stop();
  await proxy?.stop();
  await release?.remove();
  await rm(dir, { recursive: true, force: true });
});

type Connect = (scope: TaskScope) => Promise<KubeClient>;

interface Changed {
  readonly connect?: Connect;
  readonly catalogue?: Catalogue;
}

function phases(now: Date, { connect, catalogue = release.catalogue }: Changed = {}) {
  const plan = {
    host: 'node',
    cluster: { kubeconfig: server.kubeconfig, ready: async () => undefined },
    catalogue,
    platform: 'linux/amd64' as const,
    filesDir: release.filesDir,
    bkeVersion: release.bkeVersion,
    site: {
      domain: 'deploy.bke.internal',
      hostIP: '192.0.2.10',
      ports: { registry: 40_443, files: 40_080, charts: 38_080 },
      ca: () => '-----BEGIN CERTIFICATE-----',
      servers: ['https://192.0.2.10:36443'],
    },
    now: () => now,
  };
  const [install, proof] = managementPhases(plan, connect);
  if (install === undefined || proof === undefined) throw new Error('two phases were expected');
  return { install, proof };
}

/** The steps of a phase that are called so, where the others are no matter. */
function only(phase: Phase<TaskScope>, ...names: string[]): Phase<TaskScope> {
  const isNamed = ({ name }: { name: string }): boolean => names.includes(name.replace('management/', ''));
  return { ...phase, chains: phase.chains.map((chain) => ({ ...chain, steps: chain.steps.filter(isNamed) })) };
}

/** Clients that together make so many calls; then it is as if bke were killed: before a call, or when the server has done it already. */
function dyingAfter(calls: number, when: 'before' | 'after'): Connect {
  let left = calls;
  const reach = connectByKubeconfig(server.kubeconfig);
  return async (scope) => {
    const client = await reach(scope);
    return new Proxy(client, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function' || name === 'close')
          return typeof method === 'function' ? method.bind(target) : method;
        return async (...args: unknown[]) => {
          left -= 1;
          if (left < 0 && when === 'before') throw new BkeError('BKE_CANCELLED', 'killed');
          const answer: unknown = await Reflect.apply(method, target, args);
          if (left < 0) throw new BkeError('BKE_CANCELLED', 'killed');
          return answer;
        };
      },
    });
  };
}

/** What a client of the webhook sees, as the API server would: the serial number of the certificate, verified against the CA for the Service's name. */
async function servedBy({ provider, webhookPort }: Manager): Promise<string> {
  const secret = { apiVersion: 'v1', kind: 'Secret', namespace: 'bke-system', name: 'bke-management-ca' };
  const ca = Buffer.from(textAt(await server.client.get(secret), 'data', 'tls.crt') ?? '', 'base64');
  const servername = `${provider.webhook?.service}.${provider.namespace}.svc`;
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port: webhookPort, servername, ca }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
      socket.end();
    });
    socket.on('error', reject);
  });
}

async function storedLeaf({ namespace, webhook }: Manager['provider']): Promise<X509Certificate> {
  const secret = await server.client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name: webhook?.secret ?? '' });
  return new X509Certificate(Buffer.from(textAt(secret, 'data', 'tls.crt') ?? '', 'base64'));
}

async function logs(): Promise<string[]> {
  return (await Promise.all(managers.map((manager) => manager.log()))).flatMap((log) => log.split('\n'));
}

const get = async (
  apiVersion: string,
  kind: string,
  name: string,
  namespace = 'bke',
): Promise<KubeObject | undefined> => server.client.get({ apiVersion, kind, name, namespace });

describe('Cluster API in a cluster', () => {
  it('is listed by a dry run before there is anything, which changes nothing', async () => {
    expect(await managementStatus(server.client, new Date())).toMatchObject(
      providers.map(({ name }) => ({ name, version: undefined, trouble: 'it is not installed' })),
    );
    const { install, proof } = phases(longAgo);
    const { result, planned } = await runPhases([install, proof], { dryRun: true });
    expect(result).toMatchObject({ outcome: 'done', changed: true });
    expect(planned).toContain('make the management CA and the certificates of the webhooks');
    expect(planned.find((line) => line.startsWith('apply Cluster API v1.14.2: '))).toMatch(/and \d+ more$/);
    expect(await get('v1', 'Namespace', 'bke')).toBeUndefined();
  });

  it('is installed in the end however often the installation is ended', async () => {
    for (const [index, calls] of [1, 4, 7, 11, 18, 23, 29, 41, 83].entries()) {
      const { install } = phases(longAgo, { connect: dyingAfter(calls, index % 2 === 0 ? 'before' : 'after') });
      const { result } = await runPhases([install]);
      expect(result.outcome).toBe('failed');
      expect(result.errors).toMatchObject([{ code: 'BKE_CANCELLED', message: 'killed' }]);
    }
    const { result } = await runPhases([phases(longAgo).install]);
    expect(result).toMatchObject({ outcome: 'done', changed: true, errors: [] });
  });

  it('is not touched by another run, and a dry run has nothing to do', async () => {
    const again = await runPhases([phases(longAgo).install]);
    expect(again.result).toMatchObject({ outcome: 'done', changed: false });
    const { install, proof } = phases(longAgo);
    const dry = await runPhases([install, proof], { dryRun: true });
    expect(dry.planned).toEqual([]);
    expect(dry.result).toMatchObject({ outcome: 'done', changed: false });
  });

  it('is what clusterctl takes for its own work', async () => {
    const config = await clusterctlConfig(dir, release);
    const plan = await clusterctl(config, server.kubeconfig, ['upgrade', 'plan']);
    for (const { name, namespace, type, file } of providers) {
      const version = file === undefined ? `v${release.bkeVersion}` : 'v1.14.2';
      expect(plan).toMatch(new RegExp(`${name} +${namespace} +${type} +${version} +Already up to date`));
    }
    expect(plan).toContain('You are already up to date!');
  });

  it('keeps the catalogue of the release, which nobody can edit and the same release with other content replaces', async () => {
    const list = async (): Promise<readonly KubeObject[]> => {
      const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
      return (await server.client.list(kind, { labelSelector: 'bke.io/catalogue' })).items;
    };
    const items = await list();
    expect(items).toHaveLength(1);
    const [kept] = items;
    expect(kept?.['data']).toEqual({ 'catalogue.json': JSON.stringify(release.catalogue) });
    const { apiVersion = '', kind = '', metadata = { name: '' } } = kept ?? {};
    const edit = server.client.patch({ apiVersion, kind, ...metadata }, { data: { 'catalogue.json': '{}' } }, merge);
    await expect(edit).rejects.toMatchObject({ code: 'BKE_KUBE_REFUSED' });
    const rebuilt = { ...release.catalogue, kubernetesVersions: ['v1.36.3', 'v1.37.2'] };
    const put = async (catalogue: Catalogue) =>
      (await runPhases([only(phases(longAgo, { catalogue }).install, 'catalogue')])).result;
    expect(await put(rebuilt)).toMatchObject({ outcome: 'done', changed: true });
    expect((await list())[0]?.['data']).toEqual({ 'catalogue.json': JSON.stringify(rebuilt) });
    expect(await put(release.catalogue)).toMatchObject({ outcome: 'done', changed: true });
    expect(await put(release.catalogue)).toMatchObject({ outcome: 'done', changed: false });
  });

  it('has webhooks that refuse a mistake, called by the API server at their Services', async () => {
    const before = await managementStatus(server.client, new Date());
    expect(before.map(({ name, version, trouble }) => [name, version, trouble])).toEqual(
      providers.map(({ name, file }) => [
        name,
        file === undefined ? `v${release.bkeVersion}` : 'v1.14.2',
        'its controller has not taken it up yet',
      ]),
    );
    for (const { webhook } of providers) {
      if (webhook === undefined) continue;
      expect(await webhookTrouble(server.client, webhook.probe)).toMatch(/failed calling webhook "\S+": /);
    }
    managers.push(...(await startManagers(server, proxy)));
    await tellRunning(server.client);
    expect((await managementStatus(server.client, new Date())).map(({ trouble }) => trouble)).toEqual(
      providers.map(() => undefined),
    );
    const { result } = await runPhases([phases(longAgo).proof]);
    expect(result).toMatchObject({ outcome: 'done', changed: false, errors: [] });
  });

  it('works with no more rights than the managers are given', async () => {
    await defineInfrastructure(server.client);
    await createCluster(server.client, 'first');
    const plane = await get('controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane', 'first');
    // What was left out came from the webhook.
    expect(plane).toMatchObject({
      spec: {
        replicas: 1,
        version: 'v1.36.3',
        rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
      },
    });
    await expect
      .poll(
        async () => {
          const { items } = await server.client.list({ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine' });
          return items.map((machine) => textAt(machine, 'spec', 'bootstrap', 'dataSecretName') !== undefined);
        },
        { timeout: 30_000, interval: 200 },
      )
      .toEqual([true]);
    // Asked for in an older version, which only the webhook of its definition can make.
    const older = await get('cluster.x-k8s.io/v1beta1', 'Cluster', 'first');
    expect(older).toMatchObject({
      spec: { infrastructureRef: { apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1' } },
    });
    expect((await logs()).filter((line) => /forbidden|unauthorized|x509/i.test(line))).toEqual([]);
  });

  it('has its certificates renewed, by whoever looks first, and goes on', async () => {
    controller = await server.clientOf('bke-system', 'bke-controller-manager');
    const warnings: string[] = [];
    const options = { now: new Date(), warn: (message: string) => warnings.push(message) };
    const old = await Promise.all(managers.map(servedBy));
    expect(old).toEqual(
      await Promise.all(managers.map(async ({ provider }) => (await storedLeaf(provider)).serialNumber)),
    );
    expect(await reconcileCertificates(controller, { ...options, now: daysAgo(100) })).toEqual([]);
    expect(await reconcileCertificates(controller, options)).toEqual(
      managers.map(
        ({ provider: { namespace, webhook } }) =>
          `certificate of ${namespace}/${webhook?.service}: two thirds of its life are over`,
      ),
    );
    expect(await reconcileCertificates(controller, options)).toEqual([]);
    expect(warnings).toEqual([]);
    for (const manager of managers) {
      await manager.updateCertificate();
      const { serialNumber, validTo } = await storedLeaf(manager.provider);
      expect(new Date(validTo).getTime()).toBeGreaterThan(Date.now() + 360 * dayMs);
      await expect.poll(() => servedBy(manager), { timeout: 20_000, interval: 100 }).toBe(serialNumber);
    }
    const { install, proof } = phases(new Date());
    const again = await runPhases([only(install, 'certificates'), proof]);
    expect(again.result).toMatchObject({ outcome: 'done', changed: false });
  });

  it('comes to the end of a deletion of everything at once, where the host is off for good', async () => {
    const core = 'cluster.x-k8s.io/v1beta2';
    const infrastructure = 'infrastructure.cluster.x-k8s.io/v1alpha1';
    const stop = new AbortController();
    const own = testManager(controller, (context) => [
      bkeMachineController(controller, context),
      bkeClusterController(controller, context),
    ]);
    const running = own.run(stop.signal);
    try {
      await createOwnCluster(server.client, 'gone', 'off1');
      const labelSelector = 'cluster.x-k8s.io/cluster-name=gone';
      const all = async (kind: string, apiVersion = infrastructure): Promise<readonly KubeObject[]> =>
        (await server.client.list({ apiVersion, kind }, { namespace: 'bke', labelSelector })).items;
      const host = () => get('bke.io/v1alpha1', 'BKEHost', 'off1');
      const poll = { timeout: 30_000, interval: 100 };
      await expect.poll(async () => textAt(await host(), 'spec', 'consumerRef', 'name'), poll).toMatch(/^gone-/);
      const kinds = [
        ['BKEMachine', infrastructure],
        ['BKECluster', infrastructure],
        ['BKEMachineTemplate', infrastructure],
        ['Machine', core],
        ['KubeadmControlPlane', 'controlplane.cluster.x-k8s.io/v1beta2'],
        ['Cluster', core],
      ] as const;
      // As `kubectl delete -f everything.yaml` does, in the order of a file.
      for (const [kind, apiVersion] of kinds) {
        for (const { metadata } of await all(kind, apiVersion)) {
          await server.client.delete({ apiVersion, kind, namespace: 'bke', name: metadata.name });
        }
      }
      const ready = async () => conditionOf((await all('BKEMachine'))[0], 'Ready');
      await expect.poll(ready, poll).toMatchObject({
        reason: 'CleaningUp',
        message: expect.stringMatching(
          /^off1: .*\nIts agent does not answer \(HeartbeatLost\)\. .*bke\.io\/force-release=true/s,
        ),
      });
      const [machine] = await all('BKEMachine');
      const name = machine?.metadata.name ?? '';
      const force = { metadata: { annotations: { 'bke.io/force-release': 'true' } } };
      await server.client.patch(
        { apiVersion: infrastructure, kind: 'BKEMachine', namespace: 'bke', name },
        force,
        merge,
      );
      const left = async () =>
        (await Promise.all(kinds.map(([kind, apiVersion]) => all(kind, apiVersion)))).flat().map(({ kind }) => kind);
      await expect.poll(left, poll).toEqual([]);
      expect(textAt(await host(), 'spec', 'quarantine', 'reason')).toBe(
        'released by bke.io/force-release without being cleaned: what the cluster left is still there',
      );
    } finally {
      stop.abort();
      await running;
    }
  }, 120_000);

  it('has what somebody changed put back', async () => {
    const names = ['capi-validating-webhook-configuration', 'capi-mutating-webhook-configuration'];
    const [validating, mutating] = names;
    const registration = 'admissionregistration.k8s.io/v1';
    const key = { apiVersion: registration, kind: 'ValidatingWebhookConfiguration', name: validating ?? '' };
    const stranger = Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64');
    const path = '/webhooks/3/clientConfig/caBundle';
    await server.client.patch(key, [{ op: 'replace', path, value: stranger }], { ...merge, type: 'json' });
    await server.client.delete({
      apiVersion: registration,
      kind: 'MutatingWebhookConfiguration',
      name: mutating ?? '',
    });
    const { install, proof } = phases(new Date());
    expect(await reconcileCertificates(controller, { now: new Date(), warn: () => undefined })).toEqual([
      `CA bundle of ValidatingWebhookConfiguration ${validating}`,
    ]);
    const core = only(install, 'certificates', 'cluster-api');
    const dry = await runPhases([core], { dryRun: true });
    expect(dry.planned.join('\n')).toContain(`MutatingWebhookConfiguration ${mutating}`);
    expect((await runPhases([core, proof])).result).toMatchObject({ outcome: 'done', changed: true });
    expect((await runPhases([core])).result).toMatchObject({ outcome: 'done', changed: false });
  });

  it('tells that the CA is missing, damaged, near its end or over, and a new one mends all by another run', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', namespace: 'bke-system', name: 'bke-management-ca' };
    const warnings: string[] = [];
    const reconcile = (now: Date) => reconcileCertificates(controller, { now, warn: (text) => warnings.push(text) });
    await server.client.patch(secret, { data: { 'tls.key': Buffer.from('no key').toString('base64') } }, merge);
    await expect(reconcile(new Date())).rejects.toMatchObject({
      code: 'BKE_MANAGEMENT_CA',
      message: expect.stringContaining('is damaged'),
    });
    expect((await runPhases([phases(new Date()).install])).result.outcome).toBe('failed');
    await server.client.delete(secret);
    await expect(reconcile(new Date())).rejects.toMatchObject({ message: expect.stringContaining('is missing') });
    const made = daysAgo(3650 - 100);
    expect(await ensureManagementCa(server.client, { now: made })).toBe(true);
    expect(await ensureManagementCa(server.client, { now: made })).toBe(false);
    expect(await reconcile(new Date())).toHaveLength(leaves + callers);
    expect(warnings).toEqual([
      expect.stringMatching(/^The management CA ends on \d{4}-\d\d-\d\d; webhooks stop working then/),
    ]);
    // As old as the CA already: a newer one would be no better.
    expect(await reconcile(daysAgo(-99))).toEqual([]);
    await expect(reconcile(daysAgo(-101))).rejects.toMatchObject({ message: expect.stringContaining('ended on') });
    await server.client.delete(secret);
    const { install, proof } = phases(new Date());
    const certificates = only(install, 'certificates');
    expect((await runPhases([certificates])).result).toMatchObject({ outcome: 'done', changed: true });
    for (const manager of managers) {
      await manager.updateCertificate();
      const { serialNumber } = await storedLeaf(manager.provider);
      await expect.poll(() => servedBy(manager).catch(String), { timeout: 20_000, interval: 100 }).toBe(serialNumber);
    }
    expect((await runPhases([certificates, proof])).result).toMatchObject({ outcome: 'done', changed: false });
  });
});
