// When a cluster is well.
import { expect, it } from 'vitest';
import { askHealth, podsTrouble } from '../../../../src/controllers/bkecluster/health.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';

function node(name: string, ready: boolean): KubeObject {
  const condition = {
    type: 'Ready',
    status: ready ? 'True' : 'False',
    reason: 'KubeletNotReady',
    message: 'no network',
  };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions: [condition] } };
}

function pod(name: string, status: object, owner?: string): KubeObject {
  const ownerReferences = owner === undefined ? [] : [{ kind: owner, name: 'o' }];
  const metadata = { namespace: 'kube-system', name, ownerReferences };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: 'w1' }, status };
}

const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

it('counts pods, names the one that is waited for, and leaves out those of jobs that have ended', () => {
  const waiting = pod('coredns-x', { phase: 'Pending' });
  const ended = [pod('job-1', { phase: 'Succeeded' }), pod('job-2', { phase: 'Failed' }, 'Job')];
  expect(podsTrouble([pod('a', ready), ...ended])).toBeUndefined();
  expect(podsTrouble([pod('a', ready), waiting, ...ended])).toEqual({
    host: 'w1',
    message: '1 of 2 Pods ready, waiting for kube-system/coredns-x: it is being started',
  });
});

it('is not well with a node too few or one that is not ready, nor where nobody answers', async () => {
  const cluster = new FakeCluster();
  cluster.put(node('cp1', true));
  const ask = (expected: number) => askHealth(cluster, ['kube-system'], expected);
  expect(await ask(1)).toEqual({ trouble: undefined, nodesReady: true });
  expect((await ask(2)).trouble?.message).toBe('1 of 2 nodes are there');
  cluster.put(node('w1', false));
  expect(await ask(2)).toEqual({
    trouble: { host: 'w1', message: 'node w1: KubeletNotReady: no network' },
    nodesReady: false,
  });
  cluster.failure = new BkeError('BKE_KUBE_UNREACHABLE', 'connection refused');
  expect((await ask(1)).trouble?.message).toContain('connection refused');
});
