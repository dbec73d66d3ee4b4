// Clients of the clusters that bke made: one for all controllers, by the kubeconfig as it is now.
import { beforeEach, expect, it } from 'vitest';
import { kubeconfigSecretKey } from '../../../src/controllers/cluster-objects.ts';
import { WorkloadClients } from '../../../src/controllers/workload.ts';
import { FakeCluster } from '../../fakes/kube-client.ts';

const prod = { namespace: 'bke', name: 'prod' };

let management: FakeCluster;
let clients: WorkloadClients;
beforeEach(() => {
  management = new FakeCluster();
  const check = (): void => undefined;
  const fence = { check, signal: new AbortController().signal };
  clients = new WorkloadClients(management, { fence, now: () => new Date('2026-11-30T10:00:00Z') });
});

function putKubeconfig(text: string): void {
  const { apiVersion, kind, name } = kubeconfigSecretKey('bke', 'prod');
  const metadata = { namespace: 'bke', name };
  management.put({ apiVersion, kind, metadata, data: { value: Buffer.from(text).toString('base64') } });
}

const kubeconfig = (port: number): string => `apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: 'https://127.0.0.1:${port}'}}]
users: [{name: a, user: {token: t}}]
`;

it('are none before there is a kubeconfig', async () => {
  expect(await clients.clientOf(prod)).toBeUndefined();
});

it('are one, also where two controllers ask at the same time', async () => {
  putKubeconfig(kubeconfig(6443));
  const [first, second] = await Promise.all([clients.clientOf(prod), clients.clientOf(prod)]);
  expect(first).toBeDefined();
  expect(second).toBe(first);
  expect(await clients.clientOf(prod)).toBe(first);
});

it('are made anew for another kubeconfig, and after one that nothing can be made of', async () => {
  putKubeconfig(kubeconfig(6443));
  const first = await clients.clientOf(prod);
  putKubeconfig('nothing: 1');
  await expect(clients.clientOf(prod)).rejects.toMatchObject({ code: 'BKE_KUBECONFIG_INVALID' });
  clients.forget(prod);
  putKubeconfig(kubeconfig(6443));
  expect(await clients.clientOf(prod)).not.toBe(first);
});
