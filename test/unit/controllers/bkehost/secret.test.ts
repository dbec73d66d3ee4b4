// The Secret that logs in to a host goes with it where bke wrote it, and nobody else needs it.
import { beforeEach, expect, it } from 'vitest';
import { hostKind, secretFinalizer, viewOf } from '../../../../src/controllers/bkehost/host.ts';
import { holdForSecret, leaveWithSecret } from '../../../../src/controllers/bkehost/secret.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';

const namespace = 'bke';
const secretKey = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'w1-ssh' };

function host(name: string, secret: string, finalizers: readonly string[] = [secretFinalizer]): KubeObject {
  return {
    ...hostKind,
    metadata: { namespace, name, uid: `uid-${name}`, finalizers },
    spec: {
      address: '10.0.0.11',
      roles: ['worker'],
      ssh: { user: 'root', port: 22, retain: true, secretRef: { name: secret } },
    },
  };
}

let cluster: FakeCluster;
beforeEach(() => {
  cluster = new FakeCluster();
});

function putSecret(labels: Readonly<Record<string, string>>): void {
  const { apiVersion, kind, ...metadata } = secretKey;
  cluster.put({ apiVersion, kind, metadata: { ...metadata, labels } });
}

async function leave(
  others: readonly KubeObject[] = [],
): Promise<{ readonly secret: boolean; readonly held: boolean }> {
  const leaving = host('w1', 'w1-ssh');
  cluster.put(leaving);
  await leaveWithSecret(cluster, leaving, [leaving, ...others]);
  const after = await cluster.get({ ...hostKind, namespace, name: 'w1' });
  return {
    secret: (await cluster.get(secretKey)) !== undefined,
    held: after?.metadata.finalizers?.includes(secretFinalizer) === true,
  };
}

it.each([
  ['that bke wrote for the host goes', { 'bke.io/secret-of': 'w1' }, [], false],
  ['of a person stays', {}, [], true],
  ['of another host of the name stays', { 'bke.io/secret-of': 'w2' }, [], true],
  ['that another host logs in with stays', { 'bke.io/secret-of': 'w1' }, [host('w2', 'w1-ssh')], true],
] as const)('a Secret %s, and the host is let go', async (_what, labels, others, stays) => {
  putSecret(labels);
  expect(await leave(others)).toEqual({ secret: stays, held: false });
});

it.each([
  ['its own Secret', 'w1-ssh', true],
  ['one of a person', 'mine', false],
])('a host that logs in with %s is held for it: %s', async (_what, secret, held) => {
  const object = host('w1', secret, []);
  cluster.put(object);
  const after = await holdForSecret(cluster, viewOf(object));
  expect(after.metadata.finalizers?.includes(secretFinalizer)).toBe(held);
});
