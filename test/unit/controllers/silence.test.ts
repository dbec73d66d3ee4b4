// A cluster that does not answer: asked again after pauses that grow, and told of with since when and why.
import { expect, it } from 'vitest';
import { patientClient } from '../../../src/controllers/silence.ts';
import type { KubeClient, KubeObject } from '../../../src/kube/client.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { FakeCluster } from '../../fakes/kube-client.ts';

const key = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };

interface Bench {
  readonly cluster: FakeCluster;
  readonly client: KubeClient;
  /** What came of asking that many ms after the test began. */
  readonly askAt: (ms: number) => Promise<string>;
  /** Questions that went out. */
  readonly asked: () => number;
}

function bench(): Bench {
  const cluster = new FakeCluster();
  cluster.put(node);
  let asked = 0;
  let ms = 0;
  const counting: KubeClient = {
    ...cluster.client(),
    get: async (of) => {
      asked += 1;
      return cluster.get(of);
    },
  };
  const began = Date.parse('2026-11-30T10:00:00Z');
  const now = (): Date => new Date(began + ms);
  const client = patientClient(counting, { cluster: 'the cluster bke/prod', now, clock: () => ms });
  const askAt = async (at: number): Promise<string> => {
    ms = at;
    return client.get(key).then(
      (object) => object?.metadata.name ?? 'nothing',
      (thrown: BkeError) => `${thrown.code}: ${thrown.message}`,
    );
  };
  return { cluster, client, askAt, asked: () => asked };
}

const silent = new BkeError('BKE_KUBE_UNREACHABLE', 'no API server answers: no answer within 10 s');
const said =
  'BKE_KUBE_UNREACHABLE: the cluster bke/prod has not answered since 2026-11-30T10:00:10Z: no API server answers: no answer within 10 s';

it('says since when, and asks again only after pauses that grow up to half a minute', async () => {
  const { cluster, askAt, asked } = bench();
  cluster.failure = silent;
  expect(await askAt(10_000)).toBe(said);
  // Pauses are 2, 4, 8, 16 and 30 s at most, half of each at least.
  let at = 10_000;
  for (const pauseMs of [2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    const before = asked();
    expect(await askAt(at + pauseMs / 2 - 1)).toBe(said);
    expect(asked()).toBe(before);
    at += pauseMs;
    expect(await askAt(at)).toBe(said);
    expect(asked()).toBe(before + 1);
  }
});

it('is as any other client when it answers again, and forgets what was', async () => {
  const { cluster, askAt } = bench();
  cluster.failure = silent;
  await askAt(10_000);
  cluster.failure = undefined;
  expect(await askAt(12_000)).toBe('n1');
  cluster.failure = silent;
  expect(await askAt(60_000)).toBe(said.replace('10:00:10Z', '10:01:00Z'));
});

it('takes a refusal for an answer', async () => {
  const { cluster, askAt, asked } = bench();
  cluster.failure = new BkeError('BKE_KUBE_FORBIDDEN', 'no right to it');
  expect(await askAt(0)).toBe('BKE_KUBE_FORBIDDEN: no right to it');
  expect(await askAt(1)).toBe('BKE_KUBE_FORBIDDEN: no right to it');
  expect(asked()).toBe(2);
});
