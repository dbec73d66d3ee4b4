import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { type ReadyOptions, waitForCluster } from '../../../../src/tasks/bootstrap-cluster/ready.ts';
import type { TaskScope } from '../../../../src/tasks/task.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

let machine: TaskHost;
let cluster: FakeCluster;

beforeEach(async () => {
  machine = await taskHost();
  cluster = new FakeCluster();
});
afterEach(() => machine.remove());

/** The first cause that is told; undefined where nothing has to be waited for. */
async function cause(systemTrouble?: ReadyOptions['systemTrouble']): Promise<string | undefined> {
  let told: string | undefined;
  const wait: TaskScope['wait'] = async (asked) => {
    const answer = await asked.probe(new AbortController().signal);
    if (answer.ready || told !== undefined) return;
    told = `${asked.for}: ${answer.cause}`;
  };
  await machine.run((scope) =>
    waitForCluster(
      { ...scope, wait },
      {
        kubeconfig: '/k',
        nodeName: 'h1',
        unit: 'kubelet.service',
        reach: (_host, work) => work(cluster.client()),
        ...(systemTrouble === undefined ? {} : { systemTrouble }),
      },
    ),
  );
  return told;
}

function node(status: string, message: string): KubeObject {
  const conditions = [{ type: 'Ready', status, message }];
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'h1' }, status: { conditions } };
}

function dns(availableReplicas: number, generation = 1): KubeObject {
  const status = { observedGeneration: 1, updatedReplicas: 2, availableReplicas };
  const metadata = { namespace: 'kube-system', name: 'coredns', generation };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 2 }, status };
}

function pod(status: object): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'kube-system', name: 'coredns-1' }, status };
}

it('a cluster that works is waited for not at all', async () => {
  cluster.put(node('True', ''), dns(2));
  expect(await cause()).toBeUndefined();
});

it('a server that does not answer, or not yet, is told by what it says', async () => {
  cluster.failure = new BkeError('BKE_KUBE_UNREACHABLE', 'no API server answers: ECONNREFUSED');
  expect(await cause()).toBe('the API server to be ready: no API server answers: ECONNREFUSED');
});

it('an answer that waiting does not change ends it', async () => {
  cluster.failure = new BkeError('BKE_KUBE_FORBIDDEN', 'Unauthorized');
  await expect(cause()).rejects.toMatchObject({ code: 'BKE_KUBE_FORBIDDEN' });
});

it('a node tells its own reason', async () => {
  expect(await cause()).toBe('node h1 to be ready: the kubelet has not registered the node h1 yet');
  cluster.put(node('False', 'cni plugin not initialized'));
  expect(await cause()).toBe('node h1 to be ready: cni plugin not initialized');
});

it('a node that is ready and takes no pods says why', async () => {
  const conditions = [
    { type: 'Ready', status: 'True' },
    { type: 'DiskPressure', status: 'True', message: 'kubelet has disk pressure' },
  ];
  cluster.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'h1' }, status: { conditions } }, dns(2));
  expect(await cause()).toBe('node h1 to be ready: it takes no pods: DiskPressure: kubelet has disk pressure');
});

it('a node that is still called ready and whose kubelet does not answer is waited for', async () => {
  cluster.put(node('True', ''), dns(2));
  const request = cluster.request.bind(cluster);
  cluster.request = async (path) => {
    if (path === '/api/v1/nodes/h1/proxy/healthz')
      throw new BkeError('BKE_KUBE_FAILED', 'dial tcp: connection refused');
    return request(path);
  };
  expect(await cause()).toBe('node h1 to be ready: dial tcp: connection refused');
});

it('a node that is ready and that somebody cordoned says so', async () => {
  cluster.put({ ...node('True', ''), spec: { unschedulable: true } }, dns(2));
  expect(await cause()).toMatch(/^node h1 to be ready: it takes no pods: somebody cordoned it/);
});

it('a program of its own that does not run is waited for', async () => {
  cluster.put(node('True', ''), dns(2));
  expect(await cause(async () => 'kube-scheduler: it has no pod')).toBe(
    "the cluster's own programs to run: kube-scheduler: it has no pod",
  );
  expect(await cause(async () => undefined)).toBeUndefined();
});

it('the DNS tells how much of it runs, and what the pods that do not wait for', async () => {
  cluster.put(node('True', ''), dns(1));
  expect(await cause()).toBe('the cluster DNS to run: 1 of 2 ready');
  cluster.put(pod({ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }] }));
  expect(await cause()).toBe('the cluster DNS to run: 1 of 2 ready; pod coredns-1: 0/1 nodes are available');
  cluster.put(
    pod({ containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'not found' } } }] }),
  );
  expect(await cause()).toBe('the cluster DNS to run: 1 of 2 ready; pod coredns-1: ImagePullBackOff: not found');
});

it('a DNS whose newest form is not seen yet is not ready', async () => {
  cluster.put(node('True', ''), dns(2, 2));
  expect(await cause()).toBe('the cluster DNS to run: its controller has not taken it up yet');
});
