// The client and applies against a real API server: what is told of every answer, and that a second apply changes nothing.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyAll } from '../../../src/kube/apply.ts';
import type { KubeClient, KubeObject, WatchEvent } from '../../../src/kube/client.ts';
import { createKubeClient } from '../../../src/kube/create-client.ts';
import { fieldAt, keyOf, listAt } from '../../../src/kube/fields.ts';
import { inClusterConnection } from '../../../src/kube/in-cluster.ts';
import { eachLimited } from '../../../src/lib/limit.ts';
import { startApiServer, type TestApiServer } from './api-server.ts';
import { everyKind, widgetDefinition } from './objects.ts';

let server: TestApiServer;
let client: KubeClient;

beforeAll(async () => {
  server = await startApiServer({ controllerManager: true });
  client = server.client;
});
afterAll(() => server.stop());

const signal = new AbortController().signal;
const configMap = (name: string, data: Record<string, string> = {}, namespace = 'default'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data,
});

describe('the client', () => {
  it('finds nothing where there is no object or no such kind', async () => {
    expect(await client.get(keyOf(configMap('nothing')))).toBeUndefined();
    expect(await client.get({ apiVersion: 'no.such/v1', kind: 'Thing', name: 'x' })).toBeUndefined();
    expect(await client.delete(keyOf(configMap('nothing')))).toBe(false);
    await expect(client.list({ apiVersion: 'no.such/v1', kind: 'Thing' })).rejects.toMatchObject({
      code: 'BKE_KUBE_FAILED',
      message: 'list Thing: this API server knows no Thing of no.such/v1',
    });
  });

  it('makes, changes and deletes an object, and keeps to its preconditions', async () => {
    const made = await client.create(configMap('one', { a: '1' }));
    await expect(client.create(configMap('one'))).rejects.toMatchObject({ code: 'BKE_KUBE_CONFLICT', exitCode: 7 });
    const key = keyOf(made);
    await client.patch(key, { data: { b: '2' } }, { type: 'merge', fieldManager: 'test' });
    const operations = [{ op: 'replace', path: '/data/a', value: '3' }];
    const patched = await client.patch(key, operations, { type: 'json', fieldManager: 'test' });
    expect(patched['data']).toEqual({ a: '3', b: '2' });
    const wrong = client.delete(key, { resourceVersion: made.metadata.resourceVersion ?? '' });
    await expect(wrong).rejects.toMatchObject({ code: 'BKE_KUBE_CONFLICT' });
    expect(await client.delete(key, { uid: made.metadata.uid ?? '' })).toBe(true);
    expect(await client.get(key)).toBeUndefined();
  });

  it('names the other owner of a field, and takes it over only when forced', async () => {
    await client.apply(configMap('two', { a: '1' }), { fieldManager: 'first' });
    const conflict = client.apply(configMap('two', { a: '2' }), { fieldManager: 'second' });
    await expect(conflict).rejects.toMatchObject({ code: 'BKE_KUBE_CONFLICT' });
    await expect(conflict).rejects.toThrow('conflict with "first": .data.a');
    const forced = await client.apply(configMap('two', { a: '2' }), { fieldManager: 'second', force: true });
    expect(forced['data']).toEqual({ a: '2' });
  });

  it('changes nothing in a dry run', async () => {
    await client.apply(configMap('three', { a: '1' }), { fieldManager: 'first', dryRun: true });
    expect(await client.get(keyOf(configMap('three')))).toBeUndefined();
  });

  it('lists more objects than one answer holds, each with its kind', async () => {
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } });
    const names = Array.from({ length: 520 }, (_, index) => `many-${index}`);
    await eachLimited(names, 16, async (name) => void (await client.create(configMap(name, {}, 'many'))));
    const { items } = await client.list({ apiVersion: 'v1', kind: 'ConfigMap' }, { namespace: 'many' });
    // The one that Kubernetes puts into each namespace is there too.
    expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual(['kube-root-ca.crt', ...names].toSorted());
    expect(items.every(({ kind, apiVersion }) => kind === 'ConfigMap' && apiVersion === 'v1')).toBe(true);
    const fieldSelector = 'metadata.name=many-7';
    const one = await client.list({ apiVersion: 'v1', kind: 'ConfigMap' }, { namespace: 'many', fieldSelector });
    expect(one.items).toHaveLength(1);
  });

  it('tells what RBAC forbids, in the words of the server', async () => {
    await client.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: 'default', name: 'nobody' },
    });
    const nobody = await server.clientOf('default', 'nobody');
    try {
      const secrets = nobody.list({ apiVersion: 'v1', kind: 'Secret' });
      await expect(secrets).rejects.toMatchObject({ code: 'BKE_KUBE_FORBIDDEN' });
      await expect(secrets).rejects.toThrow(
        'User "system:serviceaccount:default:nobody" cannot list resource "secrets"',
      );
    } finally {
      nobody.close();
    }
  });

  it('tells apart what an admission rule refuses', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'strict', labels } });
    await until(
      async () =>
        (await client.get({ apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'strict', name: 'default' })) !==
        undefined,
    );
    const spec = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] };
    const pod = client.create({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'strict', name: 'p' }, spec });
    await expect(pod).rejects.toMatchObject({ code: 'BKE_KUBE_REFUSED' });
    await expect(pod).rejects.toThrow('violates PodSecurity "restricted:latest"');
    const wrong = client.create(configMap('Wrong_Name'));
    await expect(wrong).rejects.toMatchObject({ code: 'BKE_KUBE_REFUSED' });
  });

  it('sees a kind that was defined since, and one that was defined anew under another name', async () => {
    const kind = { apiVersion: 'test.bke.io/v1', kind: 'Widget' };
    for (const plural of ['widgets', 'widgetry']) {
      const definition = widgetDefinition(plural);
      await applyAll(client, [definition], { fieldManager: 'test', signal });
      const widget = { ...kind, metadata: { namespace: 'default', name: 'w' }, spec: { plural } };
      const [applied] = await applyAll(client, [widget], { fieldManager: 'test', signal });
      expect(applied).toMatchObject({ outcome: 'created', object: { spec: { plural } } });
      await client.delete(keyOf(definition));
      await until(async () => (await client.get(keyOf(definition))) === undefined);
    }
  });

  it('watches from a version on, and ends with its signal', async () => {
    const { resourceVersion } = await client.list({ apiVersion: 'v1', kind: 'ConfigMap' }, { namespace: 'default' });
    const ending = new AbortController();
    const events: WatchEvent[] = [];
    const watch = client.watch(
      { apiVersion: 'v1', kind: 'ConfigMap' },
      { namespace: 'default', resourceVersion, signal: ending.signal },
    );
    for await (const event of watch) {
      events.push(event);
      if (events.length === 1) await client.apply(configMap('watched', { a: '1' }), { fieldManager: 'test' });
      if (events.length === 2) await client.delete(keyOf(configMap('watched')));
      if (event.type === 'DELETED') ending.abort();
    }
    expect(events.map(({ type }) => type)).toEqual(['BOOKMARK', 'ADDED', 'DELETED']);
    expect(events[0]).toEqual({ type: 'BOOKMARK', resourceVersion });
  });

  it('reads a token anew for each request, as pods must', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'bke-account-'));
    const { hostname, port } = new URL(server.url);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    await writeFile(path.join(directory, 'ca.crt'), server.ca);
    await writeFile(path.join(directory, 'token'), 'ran-out');
    const pod = createKubeClient(await inClusterConnection(env, directory));
    const whoAmI = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const ask = (): Promise<unknown> =>
      pod.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: whoAmI });
    try {
      await expect(ask()).rejects.toMatchObject({ code: 'BKE_KUBE_FORBIDDEN' });
      await expect(ask()).rejects.not.toThrow('ran-out');
      await client.create({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { namespace: 'default', name: 'pod' },
      });
      await writeFile(path.join(directory, 'token'), `${await server.tokenOf('default', 'pod')}\n`);
      expect(fieldAt(await ask(), 'status', 'userInfo', 'username')).toBe('system:serviceaccount:default:pod');
    } finally {
      pod.close();
      await rm(directory, { recursive: true });
    }
  });
});

describe('applyAll', () => {
  const options = { fieldManager: 'test', signal };

  it('makes objects of every kind in whatever order they come, and finds nothing to do the second time', async () => {
    const objects = everyKind('shop');
    const first = await applyAll(client, objects.toReversed(), options);
    expect(first.filter(({ outcome }) => outcome !== 'created')).toEqual([]);
    // What a controller fills in is not put back.
    const aggregated = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'shop-aggregated' };
    await until(async () => listAt(await client.get(aggregated), 'rules').length === 1);
    const second = await applyAll(client, objects, options);
    expect(second.filter(({ outcome }) => outcome !== 'unchanged')).toEqual([]);
    expect(second).toHaveLength(objects.length);
  });

  it('tells what was changed, and puts back what somebody else did to its fields', async () => {
    const objects = [configMap('a', { x: '1' }), configMap('b', { x: '1' })];
    await applyAll(client, objects, options);
    await client.patch(keyOf(configMap('a')), { data: { x: '2' } }, { type: 'merge', fieldManager: 'somebody' });
    await expect(applyAll(client, objects, options)).rejects.toMatchObject({ code: 'BKE_KUBE_CONFLICT' });
    const forced = await applyAll(client, objects, { ...options, force: true });
    expect(forced.map(({ outcome }) => outcome)).toEqual(['changed', 'unchanged']);
  });

  it('ends at once at what is wrong, and leaves no other object waiting', async () => {
    const wrong = { ...configMap('wrong'), data: { a: true } };
    const unknown = { apiVersion: 'no.such/v1', kind: 'Thing', metadata: { name: 'x' } };
    const thing = { ...unknown, kind: 'ConfigMap' };
    const started = performance.now();
    await expect(applyAll(client, [thing, wrong], options)).rejects.toMatchObject({ code: 'BKE_KUBE_REFUSED' });
    expect(performance.now() - started).toBeLessThan(10_000);
    const late = applyAll(client, [unknown], { ...options, timeoutMs: 300 });
    await expect(late).rejects.toThrow('this API server knows no Thing of no.such/v1');
  });

  it('ends with its signal', async () => {
    const stop = new AbortController();
    const unknown = { apiVersion: 'no.such/v1', kind: 'Thing', metadata: { name: 'x' } };
    const onWait = (): void => stop.abort(new Error('enough'));
    await expect(applyAll(client, [unknown], { ...options, signal: stop.signal, onWait })).rejects.toThrow('enough');
  });

  it('waits for a webhook that does not answer yet, says so, and gives up in bounded time', async () => {
    const gate = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'gated' } };
    await applyAll(client, [gate, closedGate], options);
    const object = configMap('x', {}, 'gated');
    await until(async () =>
      client.create(object).then(
        () => client.delete(keyOf(object)).then(() => false),
        () => true,
      ),
    );
    const late = applyAll(client, [object], { ...options, timeoutMs: 700 });
    await expect(late).rejects.toMatchObject({ code: 'BKE_KUBE_FAILED' });
    await expect(late).rejects.toThrow('failed calling webhook "gate.bke.test"');
    const causes: string[] = [];
    const waiting = applyAll(client, [object], { ...options, onWait: (cause) => causes.push(cause) });
    await until(async () => causes.length > 0);
    await client.delete(keyOf(closedGate));
    expect((await waiting)[0]?.outcome).toBe('created');
    expect(causes[0]).toContain('failed calling webhook');
  });
});

/** Nothing listens where it points. */
const closedGate: KubeObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'gate' },
  webhooks: [
    {
      name: 'gate.bke.test',
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'gated' } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 2,
    },
  ],
};

async function until(probe: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await probe())) {
    expect(performance.now()).toBeLessThan(end);
    await pause(50);
  }
}
