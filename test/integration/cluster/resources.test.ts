import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { customResourceDefinitions } from '../../../src/api/crd/crds.ts';
import type { KubeObject } from '../../../src/kube/client.ts';
import { isKubeObject, listAt, textAt } from '../../../src/kube/fields.ts';
import { rendered, renderedClusters } from '../../fakes/rendered.ts';
import { clusterApiComponents } from '../../testbed/release/files.ts';
import { startApiServer, type TestApiServer } from '../kube/api-server.ts';

/** Cluster API's own kinds that are rendered. */
const coreKinds = ['clusters', 'machinedeployments', 'kubeadmcontrolplanes', 'kubeadmconfigtemplates'];

let server: TestApiServer;
beforeAll(async () => {
  server = await startApiServer();
  const ours = customResourceDefinitions().map(({ definition }) => definition);
  const theirs = (await coreDefinitions()).map(withoutConversion);
  for (const definition of [...ours, ...theirs]) await apply(definition);
  for (const definition of [...ours, ...theirs]) await established(definition);
  for (const name of ['bke', 'clusters']) await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
});
afterAll(async () => {
  await server?.stop();
});

async function coreDefinitions(): Promise<KubeObject[]> {
  const names = ['cluster-api-core', 'cluster-api-bootstrap-kubeadm', 'cluster-api-control-plane-kubeadm'] as const;
  const texts = await Promise.all(names.map(async (name) => readFile(await clusterApiComponents(name, {}), 'utf8')));
  const objects = texts.flatMap((text) => parseAllDocuments(text).map((document): unknown => document.toJS()));
  return objects
    .filter(isKubeObject)
    .filter(
      ({ kind, metadata }) =>
        kind === 'CustomResourceDefinition' && coreKinds.includes(metadata.name.split('.')[0] ?? ''),
    );
}

/** There is no webhook here that could convert; every object is written in the version that is stored. */
function withoutConversion(definition: KubeObject): KubeObject {
  const spec = definition['spec'];
  return { ...definition, spec: { ...(typeof spec === 'object' ? spec : {}), conversion: { strategy: 'None' } } };
}

async function apply(object: unknown, manager = 'test'): Promise<KubeObject> {
  if (!isKubeObject(object)) throw new Error('no object');
  return server.client.apply(object, { fieldManager: manager, force: true });
}

async function established(definition: unknown): Promise<void> {
  if (!isKubeObject(definition)) throw new Error('no object');
  const { apiVersion, kind, metadata } = definition;
  const end = Date.now() + 30_000;
  for (;;) {
    const found = await server.client.get({ apiVersion, kind, name: metadata.name });
    const conditions = listAt(found, 'status', 'conditions');
    const isTrue = (type: string): boolean =>
      conditions.some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True');
    expect(conditions.filter((one) => textAt(one, 'type') === 'NonStructuralSchema')).toEqual([]);
    if (isTrue('Established')) return;
    if (Date.now() > end) throw new Error(`${metadata.name} is not established: ${JSON.stringify(conditions)}`);
    await new Promise((later) => setTimeout(later, 50));
  }
}

describe('a rendered cluster', () => {
  it.each(renderedClusters)('is accepted by the API server with nothing lost: %s', async (name) => {
    for (const object of await rendered(name)) {
      const { apiVersion, kind } = object;
      // Strict: a field that the schema does not know is an error, not dropped.
      const path = `${await collectionOf(apiVersion, kind, object.metadata.namespace ?? '')}?dryRun=All&fieldValidation=Strict`;
      const answer = await server.client.request('POST', path, { body: object });
      const { spec, data } = object;
      expect(answer, `${kind} ${object.metadata.name}`).toMatchObject({
        kind,
        ...(kind === 'Secret' ? { data } : { spec }),
      });
    }
  });
});

async function collectionOf(apiVersion: string, kind: string, namespace: string): Promise<string> {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const resources = listAt(await server.client.request('GET', root), 'resources');
  const plural = resources.find((one) => textAt(one, 'kind') === kind && textAt(one, 'name')?.includes('/') === false);
  return `${root}/namespaces/${namespace}/${textAt(plural, 'name')}`;
}

const infrastructure = 'infrastructure.cluster.x-k8s.io/v1alpha1';
const object = (apiVersion: string, kind: string, name: string, spec: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'bke' },
  spec,
});
const host = (spec: object): KubeObject =>
  object('bke.io/v1alpha1', 'BKEHost', 'h1', { address: '10.0.0.1', roles: ['worker'], ...spec });
const command = (spec: object): KubeObject =>
  object('bke.io/v1alpha1', 'HostCommand', 'h1', {
    commandID: 'command-1',
    leaseGeneration: 3,
    steps: [{ id: 'a', task: 'prepare' }],
    ...spec,
  });
const operation = (spec: object): KubeObject =>
  object('bke.io/v1alpha1', 'BKEOperation', 'o1', {
    action: 'create',
    target: { kind: 'Cluster', name: 'c' },
    ...spec,
  });
const machine = (spec: object): KubeObject => object(infrastructure, 'BKEMachine', 'm1', spec);
const cluster = (spec: object): KubeObject => object(infrastructure, 'BKECluster', 'c1', { cni: 'flannel', ...spec });
const claim = { consumerRef: { namespace: 'bke', name: 'm1' }, claimID: 'x1' };
const since = '2026-01-01T00:00:00Z';

describe('a change of a resource', () => {
  it.each<[string, KubeObject | undefined, KubeObject, string]>([
    ['a host without role', undefined, host({ roles: [] }), 'should have at least 1 items'],
    [
      'a claim without id',
      undefined,
      host({ consumerRef: claim.consumerRef }),
      'consumerRef and claimID come and go together',
    ],
    [
      'a claim to the host of the services',
      undefined,
      host({ ...claim, services: true }),
      'the host of the local services cannot be claimed',
    ],
    [
      'a claim in quarantine',
      host({ quarantine: { reason: 'x', since } }),
      host({ ...claim, quarantine: { reason: 'x', since } }),
      'a host in quarantine cannot be claimed',
    ],
    [
      'a claim of what is not clean',
      host({ cleanUpPending: true }),
      host({ ...claim, cleanUpPending: true }),
      'a host that is not cleaned cannot be claimed',
    ],
    [
      'a claim that is taken over',
      host(claim),
      host({ ...claim, consumerRef: { namespace: 'bke', name: 'm2' } }),
      'a claimed host must be released before another machine can have it',
    ],
    [
      'another address under a machine',
      host(claim),
      host({ ...claim, address: '10.0.0.2' }),
      'address cannot be changed while a machine has the host',
    ],
    [
      'an older leader',
      command({}),
      command({ commandID: 'command-2', leaseGeneration: 2 }),
      'a controller that is not the leader any more wrote this',
    ],
    [
      'other steps under the same id',
      command({}),
      command({ steps: [{ id: 'b', task: 'prepare' }] }),
      'other steps need a new commandID',
    ],
    [
      'a step that is there twice',
      undefined,
      command({
        steps: [
          { id: 'a', task: 'x' },
          { id: 'a', task: 'y' },
        ],
      }),
      'duplicate entries',
    ],
    [
      'another action',
      operation({}),
      operation({ action: 'delete' }),
      'an operation stays what it is: make another one',
    ],
    [
      'another plan',
      operation({ planDigest: `sha256:${'0'.repeat(64)}` }),
      operation({}),
      'the plan was agreed to: make another operation',
    ],
    [
      'a cancel taken back',
      operation({ cancelRequested: true }),
      operation({ cancelRequested: false }),
      'a cancel cannot be taken back',
    ],
    [
      'a providerID without host',
      undefined,
      machine({ providerID: 'bke://bke/h1/x1' }),
      'providerID follows from hostRef',
    ],
    [
      'another providerID',
      machine({ providerID: 'bke://bke/h1/x1', hostRef: { name: 'h1' } }),
      machine({ providerID: 'bke://bke/h1/x2', hostRef: { name: 'h1' } }),
      'providerID cannot be changed',
    ],
    [
      'another host under a node',
      machine({ providerID: 'bke://bke/h1/x1', hostRef: { name: 'h1' } }),
      machine({ providerID: 'bke://bke/h1/x1', hostRef: { name: 'h2' } }),
      'hostRef cannot be changed while the node is on it',
    ],
    [
      'another endpoint',
      cluster({ controlPlaneEndpoint: { host: 'a', port: 6443 } }),
      cluster({ controlPlaneEndpoint: { host: 'b', port: 6443 } }),
      'controlPlaneEndpoint cannot be changed once it is set',
    ],
    ['another network plugin', cluster({}), cluster({ cni: 'none' }), 'cni cannot be changed'],
    [
      'a load balancer without address',
      undefined,
      cluster({ loadBalancer: 'keepalived' }),
      'loadBalancer needs controlPlaneEndpoint',
    ],
  ])('is refused: %s', async (_name, before, after, message) => {
    const { apiVersion, kind, metadata } = after;
    const key = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace };
    await server.client.delete(key);
    if (before !== undefined) await apply(before);
    await expect(apply(after)).rejects.toThrow(message);
    await server.client.delete(key);
  });

  it('is accepted where it is one that happens', async () => {
    await apply(host({}));
    await apply(host(claim));
    await apply(host({ ...claim, maintenance: { reason: 'disk', since } }));
    await apply(host({ cleanUpPending: true }));
    await apply(command({}));
    await apply(
      command({
        commandID: 'command-2',
        leaseGeneration: 4,
        steps: [{ id: 'b', task: 'x', parameters: { any: [1, { thing: true }] } }],
      }),
    );
    const kept = await server.client.get({
      apiVersion: 'bke.io/v1alpha1',
      kind: 'HostCommand',
      name: 'h1',
      namespace: 'bke',
    });
    expect(kept?.['spec']).toMatchObject({ steps: [{ parameters: { any: [1, { thing: true }] } }] });
    await apply(operation({}));
    await apply(operation({ cancelRequested: true, retryToken: '1' }));
    await apply(machine({}));
    await apply(machine({ hostRef: { name: 'h1' }, providerID: 'bke://bke/h1/x1' }));
    await apply(cluster({}));
    await apply(cluster({ controlPlaneEndpoint: { host: 'a', port: 6443 }, loadBalancer: 'external' }));
  });

  it('of parameters alone needs a new commandID too', async () => {
    await apply(
      command({ commandID: 'command-9', leaseGeneration: 9, steps: [{ id: 'a', task: 'x', parameters: { a: 1 } }] }),
    );
    await expect(
      apply(
        command({ commandID: 'command-9', leaseGeneration: 9, steps: [{ id: 'a', task: 'x', parameters: { a: 2 } }] }),
      ),
    ).rejects.toThrow('other steps need a new commandID');
  });
});
