// The controllers of bke against a real API server, with the rights that their components give them and no others.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { KubeClient, KubeObject, ObjectKey } from '../../../src/kube/client.ts';
import { reconcileCertificates } from '../../../src/tasks/cluster-api/certificates.ts';
import { caPlaces, injectCa, injectedKinds } from '../../../src/tasks/cluster-api/inject-ca.ts';
import { type TestApiServer, startApiServer } from '../kube/api-server.ts';
import { type ControllerProcess, startController, until, writeServiceKubeconfig } from './controller-process.ts';
import { installManagement } from './management.ts';

const webhooks: ObjectKey = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  name: 'capi-validating-webhook-configuration',
};
const definition: ObjectKey = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  name: 'kubeadmcontrolplanes.controlplane.cluster.x-k8s.io',
};
const leaf: ObjectKey = {
  apiVersion: 'v1',
  kind: 'Secret',
  namespace: 'capi-system',
  name: 'capi-webhook-service-cert',
};
const lease: ObjectKey = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  namespace: 'bke-system',
  name: 'bke-controller-manager',
};
const role: ObjectKey = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  name: 'bke-controller-manager',
};
const clusterRole = z.looseObject({
  rules: z.array(
    z.object({
      resources: z.array(z.string()),
      resourceNames: z.array(z.string()).optional(),
      verbs: z.array(z.string()),
    }),
  ),
});
const secretData = z.looseObject({ data: z.record(z.string(), z.string()) });
const leaseSpec = z.looseObject({ spec: z.looseObject({ holderIdentity: z.string().optional() }) });

let folder: string;
let server: TestApiServer;
let client: KubeClient;
let kubeconfig: string;
let token: string;
const processes: ControllerProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-controllers-'));
  server = await startApiServer();
  client = server.client;
  await installManagement(client);
  kubeconfig = join(folder, 'kubeconfig');
  token = await writeServiceKubeconfig(server, kubeconfig);
});
afterAll(async () => {
  for (const one of processes) await one.end('SIGKILL');
  await server.stop();
  await rm(folder, { recursive: true });
});

async function start(name: string): Promise<ControllerProcess> {
  const started = await startController(name, kubeconfig);
  processes.push(started);
  return started;
}

async function read(key: ObjectKey): Promise<KubeObject> {
  const found = await client.get(key);
  if (found === undefined) throw new Error(`${key.kind} ${key.name} is not there`);
  return found;
}

/** Of each place that names a CA. */
async function bundles(key: ObjectKey): Promise<readonly (string | undefined)[]> {
  return caPlaces(await read(key)).map(({ caBundle }) => caBundle);
}

async function holder(): Promise<string> {
  const found = await client.get(lease);
  return found === undefined ? '' : (leaseSpec.parse(found).spec.holderIdentity ?? '');
}

function ready(one: ControllerProcess): Promise<number> {
  return until(
    `${one.name} is ready\n${one.output()}`,
    20_000,
    async () => (await one.health('/readyz'))?.status === 200,
  );
}

describe('rights of its service account', () => {
  let own: KubeClient;
  beforeAll(async () => {
    own = await server.clientOf('bke-system', 'bke-controller-manager');
  });
  afterAll(() => own.close());

  it('reads the certificates of webhooks, and no other Secret', async () => {
    const secret = (namespace: string, name: string): ObjectKey => ({
      apiVersion: 'v1',
      kind: 'Secret',
      namespace,
      name,
    });
    const other = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'bke-system', name: 'ssh-password' } };
    await client.create(other);
    expect((await own.get(leaf))?.metadata.name).toBe(leaf.name);
    const forbidden = { code: 'BKE_KUBE_FORBIDDEN' };
    const kind = { apiVersion: 'v1', kind: 'Secret' };
    await expect(own.get(secret('bke-system', 'ssh-password'))).rejects.toMatchObject(forbidden);
    await expect(own.get(secret('capi-system', 'bke-management-ca'))).rejects.toMatchObject(forbidden);
    await expect(own.list(kind)).rejects.toMatchObject(forbidden);
    await expect(own.list(kind, { namespace: 'bke-system' })).rejects.toMatchObject(forbidden);
    await expect(
      own.create({ ...other, metadata: { namespace: 'capi-system', name: leaf.name } }),
    ).rejects.toMatchObject(forbidden);
    await expect(own.delete(leaf)).rejects.toMatchObject(forbidden);
  });

  it('changes the definitions and webhooks of providers, and no others', async () => {
    const patch = [{ op: 'add', path: '/metadata/annotations', value: { 'test.bke.io/x': 'y' } }];
    const options = { type: 'json', fieldManager: 'test' } as const;
    const other = { ...definition, name: 'others.example.com' };
    const forbidden = { code: 'BKE_KUBE_FORBIDDEN' };
    await expect(own.patch(other, patch, options)).rejects.toMatchObject(forbidden);
    await expect(own.patch({ ...webhooks, name: 'other' }, patch, options)).rejects.toMatchObject(forbidden);
    await expect(own.delete(webhooks)).rejects.toMatchObject(forbidden);
    await expect(own.patch(role, patch, options)).rejects.toMatchObject(forbidden);
  });

  it('may patch exactly what the providers of this release call webhooks by', async () => {
    const rules = clusterRole.parse(await read(role)).rules.filter(({ verbs }) => verbs.join() === 'patch');
    const plurals: Record<string, string> = {
      CustomResourceDefinition: 'customresourcedefinitions',
      MutatingWebhookConfiguration: 'mutatingwebhookconfigurations',
      ValidatingWebhookConfiguration: 'validatingwebhookconfigurations',
    };
    for (const kind of injectedKinds) {
      const { items } = await client.list(kind, { labelSelector: `${injectCa.label}=${injectCa.value}` });
      const rule = rules.find(({ resources }) => resources.includes(plurals[kind.kind] ?? ''));
      expect(rule?.resourceNames?.toSorted()).toEqual(items.map(({ metadata }) => metadata.name).sort());
    }
  });

  it('takes no lease but its own', async () => {
    await client.create({
      apiVersion: lease.apiVersion,
      kind: lease.kind,
      metadata: { namespace: 'bke-system', name: 'x' },
      spec: {},
    });
    // Heartbeats of agents are leases too, so that it may look at all of them.
    const take = own.patch(
      { ...lease, name: 'x' },
      { spec: { holderIdentity: 'bke' } },
      { type: 'merge', fieldManager: 'test' },
    );
    await expect(take).rejects.toMatchObject({ code: 'BKE_KUBE_FORBIDDEN' });
  });
});

describe('two processes', () => {
  let first: ControllerProcess;
  let second: ControllerProcess;
  beforeAll(async () => {
    first = await start('first');
    await ready(first);
    await until('the first one reconciles', 20_000, () => first.output().includes('reconciling'));
    second = await start('second');
    await ready(second);
  });

  it('puts back the CA bundle that someone removed, within seconds', async () => {
    for (const key of [webhooks, definition]) {
      const before = await bundles(key);
      expect(before.length).toBeGreaterThan(0);
      const gone = caPlaces(await read(key)).map(({ pointer }) => ({ op: 'remove', path: pointer }));
      await client.patch(key, gone, { type: 'json', fieldManager: 'test' });
      await until(
        `the CA bundle of ${key.name} is back\n${first.output()}`,
        5000,
        async () => (await bundles(key)).join() === before.join(),
      );
    }
  });

  it('makes a certificate anew that someone damaged', async () => {
    const before = secretData.parse(await read(leaf)).data;
    const damage = { data: { 'tls.crt': Buffer.from('no certificate').toString('base64') } };
    await client.patch(leaf, damage, { type: 'merge', fieldManager: 'test' });
    await until(`a new certificate\n${first.output()}`, 5000, async () => {
      const { data } = secretData.parse(await read(leaf));
      return (
        Buffer.from(data['tls.crt'] ?? '', 'base64')
          .toString()
          .startsWith('-----BEGIN') && data['tls.key'] !== before['tls.key']
      );
    });
  });

  it('tells in an event what it may not mend, and goes on when that is there again', async () => {
    await client.delete(leaf);
    const kind = { apiVersion: 'v1', kind: 'Event' };
    let messages = '';
    await until(`an event\n${first.output()}`, 10_000, async () => {
      const { items } = await client.list(kind, {
        namespace: 'bke-system',
        fieldSelector: 'reason=CertificatesNotKept',
      });
      messages = items.map((item) => String(item['message'])).join('\n');
      return items.length > 0;
    });
    expect(messages).toMatch(/capi-system\/capi-webhook-service-cert[^]*bke init/);
    expect(await reconcileCertificates(client, { now: new Date(), warn: () => undefined })).toHaveLength(1);
    const failed = 'bke_controller_reconcile_total{controller="certificates",outcome="error"}';
    expect(await first.metrics()).toContain(failed);
  });

  it('tells its work in metrics', async () => {
    let text = '';
    await until('the queue is empty', 10_000, async () => {
      text = await first.metrics();
      return text.includes('bke_controller_queue_depth{controller="certificates"} 0');
    });
    const values = new Map(
      text
        .split('\n')
        .filter((line) => line.startsWith('bke_'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
    );
    expect(values.get('bke_controller_leader')).toBe(1);
    expect(await second.metrics()).toContain('bke_controller_leader 0');
    expect(values.get('bke_controller_reconcile_total{controller="certificates",outcome="requeued"}')).toBeGreaterThan(
      3,
    );
    expect(values.get('bke_controller_reconcile_duration_seconds_count{controller="certificates"}')).toBeGreaterThan(3);
    const end = (name: string): number => values.get(`bke_certificate_expiry_timestamp_seconds{${name}}`) ?? 0;
    const days = (seconds: number): number => Math.round((seconds * 1000 - Date.now()) / 86_400_000);
    expect(days(end('namespace="capi-system",secret="capi-webhook-service-cert"'))).toBe(365);
    expect(days(end('namespace="bke-system",secret="bke-management-ca"'))).toBe(3650);
  });

  it('goes on in the other process when one is killed', async () => {
    expect(await holder()).toMatch(/^first_/);
    await first.end('SIGKILL');
    await until(`the second one holds the lease\n${second.output()}`, 25_000, async () =>
      (await holder()).startsWith('second_'),
    );
    const before = await bundles(webhooks);
    const gone = caPlaces(await read(webhooks)).map(({ pointer }) => ({ op: 'remove', path: pointer }));
    await client.patch(webhooks, gone, { type: 'json', fieldManager: 'test' });
    await until('the CA bundle is back', 5000, async () => (await bundles(webhooks)).join() === before.join());
  });

  it('ends quickly when told to and gives the lease back, so that the next one begins at once', async () => {
    const third = await start('third');
    await ready(third);
    await until('the third one waits', 10_000, () => third.output().includes('waiting for the lease'));
    const { exit, ms } = await second.end('SIGTERM');
    expect(exit).toBe(0);
    expect(ms).toBeLessThan(5000);
    expect(await until('the third one begins', 10_000, () => third.output().includes('reconciling'))).toBeLessThan(
      5000,
    );
    expect(await third.end('SIGTERM')).toMatchObject({ exit: 0 });
    expect(await holder()).toBe('');
  });

  it('writes a JSON line for each event, and no secret', async () => {
    const lines = processes.flatMap((one) => one.output().trim().split('\n'));
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('msg');
    const all = lines.join('\n');
    expect(all).toContain('certificates changed');
    expect(all).not.toContain(token);
    expect(all).not.toContain('PRIVATE KEY');
    expect(all).not.toContain(secretData.parse(await read(leaf)).data['tls.key']);
  });
});
