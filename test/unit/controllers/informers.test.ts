// Informers that controllers share.
import { expect, it, vi } from 'vitest';
import { SharedInformers } from '../../../src/controllers/informers.ts';
import { noSuchKind } from '../../../src/kube/status-error.ts';
import type { KubeObject, ListOptions, ResourceKind, WatchEvent } from '../../../src/kube/client.ts';

const kind = { apiVersion: 'v1', kind: 'Secret' };

function secret(name: string, version: string): KubeObject {
  const metadata = { name, namespace: 'a', uid: name, resourceVersion: version, managedFields: [{ manager: 'x' }] };
  return { ...kind, metadata, data: { large: 'x' } };
}

/** A cluster with one Secret and the events that are pushed. */
function cluster(events: WatchEvent[] = []) {
  const lists: ListOptions[] = [];
  return {
    lists,
    list: async (_kind: ResourceKind, options: ListOptions = {}) => {
      lists.push(options);
      return { items: [secret('one', '1')], resourceVersion: '1' };
    },
    watch: async function* (
      _kind: ResourceKind,
      { signal }: { readonly signal: AbortSignal },
    ): AsyncGenerator<WatchEvent> {
      yield* events.splice(0);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
}

it('lists what two want to know once, and tells both', async () => {
  const stop = new AbortController();
  const client = cluster();
  const informers = new SharedInformers();
  const [first, second] = [vi.fn(), vi.fn()];
  const view = informers.watch({ ...kind, namespace: 'a' }, first);
  informers.watch({ ...kind, namespace: 'a' }, second);
  informers.watch({ ...kind, namespace: 'a', labelSelector: 'x' }, vi.fn());
  expect(view.items()).toEqual([]);
  informers.start(client, stop.signal);
  await informers.synced();
  expect(client.lists).toEqual([{ namespace: 'a' }, { namespace: 'a', labelSelector: 'x' }]);
  for (const handler of [first, second])
    expect(handler.mock.calls).toMatchObject([[{ metadata: { name: 'one' } }, true]]);
  expect(view.get('one', 'a')).toHaveProperty('data');
  expect(informers.behind()).toEqual([]);
  stop.abort();
});

it('tells of a kind that is not there what puts it there', async () => {
  const stop = new AbortController();
  const informers = new SharedInformers();
  informers.watch({ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine' }, vi.fn());
  const list = (): Promise<never> => Promise.reject(noSuchKind('list Machine', 'Machine of cluster.x-k8s.io/v1beta2'));
  informers.start({ ...cluster(), list }, stop.signal);
  await vi.waitFor(() =>
    expect(informers.behind()).toEqual([
      "Machine (list Machine: this API server knows no Machine of cluster.x-k8s.io/v1beta2: 'bke init' on the bootstrap node puts its definition there)",
    ]),
  );
  stop.abort();
});

it('keeps no more than the metadata where no more is asked for', async () => {
  const stop = new AbortController();
  const informers = new SharedInformers();
  const events: WatchEvent[] = [
    { type: 'MODIFIED', object: secret('one', '2') },
    { type: 'DELETED', object: secret('one', '3') },
  ];
  const seen: unknown[] = [];
  informers.watch({ ...kind, metadataOnly: true }, (object, there) => seen.push([object, there]));
  informers.start(cluster(events), stop.signal);
  await vi.waitFor(() => expect(seen).toHaveLength(3));
  const slim = (resourceVersion: string) => ({
    ...kind,
    metadata: { name: 'one', namespace: 'a', uid: 'one', resourceVersion },
  });
  expect(seen).toEqual([
    [slim('1'), true],
    [slim('2'), true],
    [slim('3'), false],
  ]);
  stop.abort();
});

it('names what is not in step, with the reason', async () => {
  const stop = new AbortController();
  const informers = new SharedInformers();
  informers.watch({ ...kind, namespace: 'a', fieldSelector: 'metadata.name=x' }, vi.fn());
  const client = { ...cluster(), list: () => Promise.reject(new Error('forbidden')) };
  informers.start(client, stop.signal);
  await vi.waitFor(() => expect(informers.behind()).toEqual(['Secret in a, metadata.name=x (forbidden)']));
  stop.abort();
  await expect(informers.synced()).rejects.toThrow();
});
