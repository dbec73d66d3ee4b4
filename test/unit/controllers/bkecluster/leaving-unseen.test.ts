// A BKECluster that is deleted before the controller has seen all of its machines.
import { expect, it } from 'vitest';
import { leaveCluster, type LeavingOptions } from '../../../../src/controllers/bkecluster/leaving.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';

const apiVersion = 'infrastructure.cluster.x-k8s.io/v1beta1';
const cluster = { namespace: 'bke', name: 'prod' };
const object = (kind: string, name: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { namespace: 'bke', name, labels: { 'cluster.x-k8s.io/cluster-name': 'prod' } },
});

function optionsWith(machines: readonly KubeObject[]): LeavingOptions {
  const never = (): never => {
    throw new Error('not to be called');
  };
  return {
    client: {
      get: never,
      patch: never,
      list: async ({ kind }, { labelSelector } = {}) => {
        const isAsked = kind === 'BKEMachine' && labelSelector === 'cluster.x-k8s.io/cluster-name=prod';
        return { items: isAsked ? [...machines] : [], resourceVersion: '1' };
      },
    },
    // Watches of two kinds may be of two moments.
    around: { bkeMachinesOf: () => [] },
    now: () => new Date(),
    giving: never,
  };
}

it('waits for a machine that only the API server knows', async () => {
  const left = await leaveCluster(object('BKECluster', 'prod'), cluster, optionsWith([object('BKEMachine', 'm1')]));
  expect(left).toEqual({
    done: false,
    waits: { message: '1 machines are still there, bke/m1 among them' },
    failed: [],
  });
});

it('is done where the API server knows none', async () => {
  expect(await leaveCluster(object('BKECluster', 'prod'), cluster, optionsWith([]))).toEqual({
    done: true,
    failed: [],
  });
});
