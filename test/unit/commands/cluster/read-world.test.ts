// What is read of clusters where the management cluster does not answer as it should: nothing may look as if it were not there.
import { expect, it } from 'vitest';
import { logTexts } from '../../../../src/commands/cluster/logs-handler.ts';
import { everyKind, listAll } from '../../../../src/commands/cluster/read-world.ts';
import { kinds } from '../../../../src/controllers/bkeoperation/world.ts';
import type { KubeClient, KubeObject } from '../../../../src/kube/client.ts';
import { noSuchKind, statusError } from '../../../../src/kube/status-error.ts';
import { BkeError } from '../../../../src/lib/errors.ts';

const cluster: KubeObject = { ...kinds.cluster, metadata: { namespace: 'bke', name: 'prod' }, spec: {} };

it('has no objects of a kind that is not defined', async () => {
  const list: KubeClient['list'] = async ({ kind }) => {
    if (kind !== 'Cluster') throw noSuchKind(`list ${kind}`, kind);
    return { items: [cluster], resourceVersion: '1' };
  };
  const listed = await listAll({ list }, 'bke', everyKind);
  expect(everyKind.flatMap((kind) => listed(kind))).toEqual([cluster]);
});

it('does not take an answer that is a failure for an empty one', async () => {
  const list: KubeClient['list'] = async ({ kind }) => {
    throw statusError({ what: `list ${kind}`, status: 500, body: '{"message":"etcdserver: request timed out"}' });
  };
  await expect(listAll({ list }, 'bke', everyKind)).rejects.toMatchObject({
    code: 'BKE_KUBE_FAILED',
    message: expect.stringContaining('etcdserver: request timed out'),
  });
});

it('says while it follows that nobody answers, once, and that somebody does again', async () => {
  const stop = new AbortController();
  const notes: string[] = [];
  let looks = 0;
  const event = (message: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace: 'bke', name: message, uid: message },
    involvedObject: { kind: 'Cluster', name: 'prod' },
    reason: 'Told',
    message,
    lastTimestamp: '2026-11-30T10:00:00Z',
  });
  const list: KubeClient['list'] = async ({ kind }) => {
    if (kind === 'Cluster') looks += 1;
    if (looks === 2 || looks === 3) throw new BkeError('BKE_KUBE_UNREACHABLE', 'connection refused');
    const items = kind === 'Cluster' ? [cluster] : kind === 'Event' ? [event(looks === 1 ? 'first' : 'second')] : [];
    return { items, resourceVersion: '1' };
  };
  const context = { signal: stop.signal, note: (text: string) => void notes.push(text) };
  const wanted = { namespace: 'bke', name: 'prod', follow: true };
  const texts: string[] = [];
  for await (const text of logTexts(context, { list, close: () => undefined }, wanted, 1)) {
    texts.push(text);
    if (texts.length === 2) stop.abort();
  }
  expect(texts.map((text) => text.trim().split(' ').at(-1))).toEqual(['first', 'second']);
  expect(notes).toEqual([
    'warning: the management cluster does not answer (connection refused); it goes on when it is back',
    'The management cluster answers again.',
  ]);
});
