import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Reach } from '../../../../../src/tasks/bootstrap-cluster/client.ts';
import { applyNetwork } from '../../../../../src/tasks/bootstrap-cluster/kubeadm/network.ts';
import { FakeCluster } from '../../../../fakes/kube-client.ts';
import { type TaskHost, taskHost } from '../../../../fakes/task-host.ts';

const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: kube-flannel}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-flannel-cfg, namespace: kube-flannel}
data: {net-conf.json: '{"Network": "10.244.0.0/16"}'}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kube-flannel-ds, namespace: kube-flannel}
spec: {template: {spec: {containers: [{name: kube-flannel, args: [--kube-subnet-mgr]}]}}}
`;
const file = '/srv/kube-flannel.yml';
const endpoint = { host: '10.0.0.5', port: 36443 };

let machine: TaskHost;
let cluster: FakeCluster;
const reach: Reach = (_host, work) => work(cluster.client());
const apply = (podCIDR: string): Promise<string[]> =>
  machine.run((scope) => applyNetwork(scope, { podCIDR, endpoint, file, reach }));

beforeEach(async () => {
  machine = await taskHost();
  cluster = new FakeCluster();
  await mkdir(join(machine.root, 'srv'));
  await writeFile(join(machine.root, file), manifest);
});
afterEach(() => machine.remove());

it('the network of the pods is applied where the cluster has another or none', async () => {
  await apply('100.72.0.0/16');
  expect(cluster.writes).toEqual([
    'apply v1 Namespace  kube-flannel',
    'apply v1 ConfigMap kube-flannel kube-flannel-cfg',
    'apply apps/v1 DaemonSet kube-flannel kube-flannel-ds',
  ]);
  await apply('100.72.0.0/16');
  expect(cluster.writes).toHaveLength(3);
  await apply('100.80.0.0/16');
  expect(cluster.writes.slice(3)).toEqual(['apply v1 ConfigMap kube-flannel kube-flannel-cfg']);
});

it('a manifest that is not there is told', async () => {
  await machine.host.files.remove(file);
  await expect(apply('100.72.0.0/16')).rejects.toMatchObject({ code: 'BKE_ARTIFACT_MISSING' });
});
