import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BootstrapChoice } from '../../../../src/config/bootstrap.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { clusterStatus } from '../../../../src/tasks/bootstrap-cluster/status.ts';
import { bootstrapSettings } from '../../../fakes/bootstrap-settings.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

let machine: TaskHost;
let cluster: FakeCluster;
beforeEach(async () => {
  machine = await taskHost();
  cluster = new FakeCluster();
});
afterEach(() => machine.remove());

const text = '[Service]\nExecStart=/x\n[Install]\nWantedBy=multi-user.target\n';
const unit = (name: string, running: boolean): Promise<unknown> =>
  machine.run(async (scope) => {
    await scope.apply({ kind: 'unit', name, text, enabled: true, running });
  });
async function status(bootstrap: BootstrapChoice): Promise<string[]> {
  const parts = await clusterStatus(machine.host, bootstrapSettings({ bootstrap }), {
    now: new Date(),
    reachOf: () => (_host, work) => work(cluster.client()),
  });
  return parts.map(({ name, state, address, reason }) =>
    [name, state, address, reason].filter((part) => part !== undefined).join(' | '),
  );
}

function node(status: string, message: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'h1' },
    status: {
      conditions: [{ type: 'Ready', status, reason: 'KubeletNotReady', message }],
      addresses: [{ type: 'InternalIP', address: '10.0.0.5' }],
    },
  };
}

function object(kind: string, name: string, namespace = 'kube-system'): KubeObject {
  const labels = kind === 'Pod' ? { component: name, tier: 'control-plane' } : {};
  return { apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1', kind, metadata: { namespace, name, labels, generation: 1 } };
}

function dns(replicas: number): KubeObject {
  const status = { observedGeneration: 1, updatedReplicas: replicas, availableReplicas: replicas, replicas };
  return { ...object('Deployment', 'coredns'), spec: { replicas }, status };
}

function daemonSet(namespace: string, name: string): KubeObject {
  const status = { observedGeneration: 1, desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1 };
  return { ...object('DaemonSet', name, namespace), status };
}

function controlPlane(...names: string[]): KubeObject[] {
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  return names.map((name) => ({ ...object('Pod', name), status }));
}

describe('the state of a bootstrap cluster', () => {
  it('is not told where there is to be none', async () => {
    expect(await status('none')).toEqual([]);
  });

  it('is missing where init did not come as far, whatever makes it', async () => {
    const address = 'https://10.0.0.5:36443 | it has no unit: run bke init again';
    expect(await status('kubeadm')).toEqual([`kubernetes | missing | ${address}`]);
    expect(await status('k3s')).toEqual([`kubernetes | missing | ${address}`]);
  });

  it('is stopped where somebody stopped the kubelet, with what starts it again', async () => {
    await unit('kubelet.service', false);
    expect(await status('kubeadm')).toEqual([
      'kubernetes | stopped | https://10.0.0.5:36443 | bke init starts kubelet.service',
    ]);
  });

  it('has each node and manager, with why it does not work', async () => {
    await unit('k3s.service', true);
    cluster.put(node('False', 'cni plugin not initialized'), dns(1));
    const lines = await status('k3s');
    expect(lines.slice(0, 2)).toEqual([
      'kubernetes | healthy | https://10.0.0.5:36443',
      'node/h1 | unhealthy | 10.0.0.5 | KubeletNotReady: cni plugin not initialized',
    ]);
    expect(lines.slice(2)).toHaveLength(4);
    expect(lines[2]).toBe('cluster-api | missing | namespace capi-system | it is not installed');
  });

  it('is unhealthy where its DNS does not run, or its node takes no pods', async () => {
    await unit('k3s.service', true);
    cluster.put({ ...node('True', ''), spec: { unschedulable: true } }, dns(0));
    expect((await status('k3s')).slice(0, 2)).toEqual([
      'kubernetes | unhealthy | https://10.0.0.5:36443 | coredns: somebody scaled it down to 0',
      'node/h1 | unhealthy | 10.0.0.5 | it takes no pods: somebody cordoned it (kubectl --kubeconfig /etc/rancher/k3s/k3s.yaml uncordon h1 ends that)',
    ]);
  });

  it('is unhealthy where a program of kubeadm is gone', async () => {
    await unit('kubelet.service', true);
    cluster.put(node('True', ''), dns(1), ...controlPlane('etcd', 'kube-apiserver', 'kube-controller-manager'));
    const reason = async (): Promise<string | undefined> => (await status('kubeadm'))[0]?.split(' | ')[3];
    expect(await reason()).toBe('kube-scheduler: it has no pod');
    cluster.put(...controlPlane('kube-scheduler'));
    expect(await reason()).toBe('kube-proxy: there is no DaemonSet kube-system/kube-proxy');
    cluster.put(daemonSet('kube-system', 'kube-proxy'));
    expect(await reason()).toBe('kube-flannel-ds: there is no DaemonSet kube-flannel/kube-flannel-ds');
    cluster.put(daemonSet('kube-flannel', 'kube-flannel-ds'));
    expect(await reason()).toBeUndefined();
    const [etcd] = controlPlane('etcd');
    const waiting = { state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } } };
    cluster.put({ ...etcd, ...object('Pod', 'etcd'), status: { containerStatuses: [waiting] } });
    expect(await reason()).toMatch(/^etcd: .*CrashLoopBackOff/);
  });

  it('is unhealthy where the API server does not answer, in its words', async () => {
    await unit('kubelet.service', true);
    cluster.failure = new BkeError('BKE_KUBE_UNREACHABLE', 'no API server answers: ECONNREFUSED');
    expect(await status('kubeadm')).toEqual([
      'kubernetes | unhealthy | https://10.0.0.5:36443 | no API server answers: ECONNREFUSED',
    ]);
  });
});
