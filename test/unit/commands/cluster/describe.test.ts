// What `bke cluster describe`, `cluster list` and `host list` show of a cluster that comes up, as whole screens.
import { expect, it } from 'vitest';
import { treeText } from '../../../../src/commands/cluster/describe-text.ts';
import { describeTree, type TreeNode } from '../../../../src/commands/cluster/describe-tree.ts';
import { clusterRows } from '../../../../src/commands/cluster/list-rows.ts';
import { hostRow } from '../../../../src/commands/host/list-rows.ts';
import { type KindName, kinds, type Listed, worldOf } from '../../../../src/controllers/bkeoperation/world.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';

const created = '2026-11-30T10:00:00Z';
const condition = (type: string, status: string, reason: string, message = ''): object => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-11-30T10:01:00Z',
});

function object(
  kind: KindName,
  name: string,
  fields: { labels?: Record<string, string>; spec?: object; conditions?: object[]; status?: object },
): KubeObject {
  const labels = { 'cluster.x-k8s.io/cluster-name': 'prod', ...fields.labels };
  const { spec = {}, conditions = [], status = {} } = fields;
  return {
    ...kinds[kind],
    metadata: { namespace: 'bke', name, labels, creationTimestamp: created },
    spec,
    status: { conditions, ...status },
  };
}

const controlPlane = { 'cluster.x-k8s.io/control-plane': '' };
const pool = (name: string): Record<string, string> => ({ 'bke.io/cluster': 'prod', 'bke.io/pool': name });
const all: Partial<Record<KindName, KubeObject[]>> = {
  cluster: [
    object('cluster', 'prod', {
      spec: { infrastructureRef: { name: 'prod' }, controlPlaneRef: { name: 'prod-control-plane' } },
      conditions: [
        condition('Available', 'False', 'NotAvailable', '* WorkersAvailable: 0 of 1'),
        condition('WorkersAvailable', 'False', 'NotAvailable'),
      ],
    }),
  ],
  bkeCluster: [
    object('bkeCluster', 'prod', {
      spec: { controlPlaneEndpoint: { host: '10.0.0.11', port: 6443 } },
      conditions: [condition('Ready', 'True', 'Provisioned')],
      status: {
        addons: [
          { name: 'flannel', version: 'v0.27.4', phase: 'Ready' },
          { name: 'apps', phase: 'Failed', error: { code: 'BKE_KUBE_FAILED', message: 'no room' } },
        ],
        state: {
          name: 'Scaling',
          reason: 'Joining',
          message: 'w1 joins',
          since: created,
          host: 'w1',
          step: 'bootstrap-data',
        },
      },
    }),
  ],
  controlPlane: [
    object('controlPlane', 'prod-control-plane', {
      spec: { version: 'v1.36.3' },
      conditions: [condition('Available', 'True', 'Available')],
    }),
  ],
  deployment: [object('deployment', 'prod-workers', { conditions: [condition('Available', 'False', 'NotAvailable')] })],
  machine: [
    object('machine', 'prod-cp-x', {
      labels: controlPlane,
      spec: { infrastructureRef: { name: 'prod-cp-x' } },
      conditions: [condition('Ready', 'True', 'Ready'), condition('NodeReady', 'True', 'NodeReady')],
      status: { nodeRef: { name: 'cp1' } },
    }),
    object('machine', 'prod-w-y', {
      spec: { infrastructureRef: { name: 'prod-w-y' } },
      conditions: [
        condition('Ready', 'False', 'NotReady', '* NodeHealthy: waits for its node'),
        ...['NodeHealthy', 'NodeReady', 'EtcdPodHealthy'].map((type) =>
          condition(type, 'Unknown', 'InspectionFailed', 'waits for its node'),
        ),
      ],
    }),
  ],
  bkeMachine: [
    object('bkeMachine', 'prod-cp-x', {
      labels: controlPlane,
      conditions: [condition('Ready', 'True', 'Provisioned')],
    }),
    object('bkeMachine', 'prod-w-y', {
      conditions: [condition('Ready', 'False', 'Joining', 'runs the bootstrap data')],
    }),
  ],
  host: [
    object('host', 'cp1', {
      labels: pool('control-plane'),
      spec: { address: '10.0.0.11', roles: ['control-plane'], consumerRef: { name: 'prod-cp-x' } },
      conditions: [
        condition('AgentReady', 'True', 'Heartbeat'),
        condition('Clean', 'Unknown', 'Claimed', 'a machine has the host'),
        condition('Available', 'False', 'Claimed', 'bke/prod-cp-x has it'),
      ],
      status: { agent: { version: '0.1.0', lastSeen: created } },
    }),
    object('host', 'w1', {
      labels: pool('workers'),
      spec: { address: '10.0.0.21', roles: ['worker'], consumerRef: { name: 'prod-w-y' } },
      conditions: [
        condition('AgentReady', 'False', 'HeartbeatLost', 'none came for more than 40 s'),
        condition('Available', 'False', 'Claimed'),
      ],
    }),
    object('host', 'w2', {
      labels: pool('workers'),
      spec: { address: '10.0.0.22', roles: ['worker'] },
      conditions: [condition('Available', 'False', 'LoginRefused', 'BKE_SSH_AUTH: cannot log in to w2\nTry it.')],
    }),
  ],
  command: [
    object('command', 'w1', {
      spec: {
        commandID: 'bootstrap-0123456789abcdef-2-01234567',
        steps: [
          { id: 'a', task: 'node/images' },
          { id: 'b', task: 'bootstrap-data' },
        ],
      },
      status: {
        commandID: 'bootstrap-0123456789abcdef-2-01234567',
        steps: [
          { id: 'a', state: 'Done', finished: '2026-11-30T10:02:00Z' },
          { id: 'b', state: 'Running', message: 'kubeadm join', started: '2026-11-30T10:02:30Z' },
        ],
      },
    }),
  ],
};
const listed: Listed = (kind) => all[kind] ?? [];
const world = worldOf({ namespace: 'bke', name: 'prod' }, listed);

const now = new Date('2026-11-30T10:05:00Z');
function screenOf(all: boolean): string {
  const { headers, text } = treeText(describeTree(world, { all }), now);
  return headers + text;
}

it('shows a cluster as a tree of what is not as it should be', async () => {
  await expect(screenOf(false)).toMatchFileSnapshot('golden/describe.txt');
});

it.each([
  ['w1: bootstrap-data: kubeadm join', 'w1: bootstrap-data: kubeadm join'],
  ['w1, step bootstrap-data: BKE_TIMEOUT: too late', 'w1, step bootstrap-data: BKE_TIMEOUT: too late'],
  ['w10: is not w1', 'w1 in bootstrap-data: w10: is not w1'],
])('says the host of a state once: %s', (message, told) => {
  const bkeCluster = {
    ...object('bkeCluster', 'prod', {}),
    status: {
      state: { name: 'Scaling', reason: 'Joining', message, since: created, host: 'w1', step: 'bootstrap-data' },
    },
  };
  const tree = describeTree({ ...world, bkeCluster }, { all: false });
  const state = tree.children[0]?.children.find(({ name }) => name === 'state Scaling');
  expect(state?.message).toBe(told);
});

it('shows every condition when asked', () => {
  const [some, every] = [screenOf(false), screenOf(true)];
  for (const condition of ['WorkersAvailable  ', 'Clean  ']) {
    expect(every).toMatch(new RegExp(`[├└]─${condition}`));
    expect(some).not.toMatch(new RegExp(`[├└]─${condition}`));
  }
});

it('lists clusters and hosts by what they say of themselves', () => {
  expect(clusterRows(listed)).toEqual([
    {
      name: 'prod',
      namespace: 'bke',
      state: 'Scaling',
      controlPlane: '1/1',
      workers: '0/2',
      version: 'v1.36.3',
      endpoint: '10.0.0.11:6443',
      created,
      reason: 'w1 joins',
    },
  ]);
  const paused = (kind: KindName): readonly KubeObject[] =>
    listed(kind).map((found) => (kind === 'cluster' ? { ...found, spec: { paused: true } } : found));
  expect(clusterRows(paused)).toMatchObject([{ state: 'Paused' }]);
  expect(listed('host').map((host) => [hostRow(host).name, hostRow(host).state, hostRow(host).message])).toEqual([
    ['cp1', 'Claimed', 'bke/prod-cp-x has it'],
    ['w1', 'HeartbeatLost', 'none came for more than 40 s'],
    ['w2', 'LoginRefused', 'BKE_SSH_AUTH: cannot log in to w2'],
  ]);
});

/** Names, with how deep each stands. */
function outline({ name, children }: TreeNode, depth = 0): string[] {
  const isObject = /^[A-Z]\w+\//.test(name);
  return [...(isObject ? ['  '.repeat(depth) + name] : []), ...children.flatMap((child) => outline(child, depth + 1))];
}

it('shows each machine below the deployment that made it, and what nobody has made below the cluster', () => {
  const ofDeployment = (name: string) => ({ 'cluster.x-k8s.io/deployment-name': name });
  const node = (name: string, deployment: string): Partial<Record<KindName, KubeObject[]>> => ({
    machine: [object('machine', name, { labels: ofDeployment(deployment), spec: { infrastructureRef: { name } } })],
    bkeMachine: [object('bkeMachine', name, {})],
    host: [object('host', `host-${name}`, { labels: pool('workers'), spec: { consumerRef: { name } } })],
  });
  const parts = [
    { deployment: [object('deployment', 'gpu', {}), object('deployment', 'plain', {})] },
    { host: [object('host', 'spare', { labels: pool('workers') })] },
    node('a', 'plain'),
    node('b', 'gpu'),
    node('c', 'plain'),
  ];
  const cluster = object('cluster', 'prod', {});
  const several = worldOf({ namespace: 'bke', name: 'prod' }, (kind) =>
    kind === 'cluster' ? [cluster] : parts.flatMap((part: Partial<Record<KindName, KubeObject[]>>) => part[kind] ?? []),
  );
  expect(outline(describeTree(several, { all: false }))).toEqual([
    'Cluster/prod',
    '  MachineDeployment/gpu',
    '    Machine/b',
    '      BKEMachine/b',
    '      BKEHost/host-b',
    '  MachineDeployment/plain',
    '    Machine/a',
    '      BKEMachine/a',
    '      BKEHost/host-a',
    '    Machine/c',
    '      BKEMachine/c',
    '      BKEHost/host-c',
    '  BKEHost/spare',
  ]);
});
