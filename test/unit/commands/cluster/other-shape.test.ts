// A file that says something else of what is made already: refused where nothing would apply it, with its place, who has what, and what works.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refuseOtherShape, type Wanted } from '../../../../src/commands/cluster/other-shape.ts';
import { renderCluster } from '../../../../src/cluster/render/cluster.ts';
import { loadCluster } from '../../../../src/config/cluster/load.ts';
import { kinds, type KindName, type World, worldOf } from '../../../../src/controllers/bkeoperation/world.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-other-shape-'));
});
afterAll(() => rm(folder, { recursive: true }));

const [cp1, w1, w2] = [
  '    - {name: cp1, address: 10.0.0.11, roles: [control-plane]}',
  '    - {name: w1, address: 10.0.0.21, roles: [worker]}',
  '    - {name: w2, address: 10.0.0.22, roles: [worker]}',
];

interface File {
  readonly version?: string;
  /** Lines below spec, after that of the version. */
  readonly lines?: readonly string[];
  readonly hosts?: readonly string[];
}

async function wanted({ version = 'v1.36.3', lines = [], hosts = [cp1, w1, w2] }: File = {}): Promise<Wanted> {
  const path = join(folder, 'cluster.yaml');
  const head = ['apiVersion: bke.io/v1alpha1', 'kind: Cluster', 'metadata: {name: prod}', 'spec:'];
  const labels = ['  defaults:', '    ssh: {agent: true}', '    labels: {site: north}'];
  const text = [...head, `  kubernetesVersion: ${version}`, ...lines, ...labels, '  hosts:', ...hosts, ''].join('\n');
  await writeFile(path, text);
  const named = { path, name: 'cluster.yaml', home: undefined, withFiles: false };
  const { cluster, problems, placeOf } = await loadCluster(named);
  if (cluster === undefined) throw new Error(JSON.stringify(problems));
  const objects = renderCluster(cluster.config, { resolve: () => '' });
  return { loaded: { config: cluster.config, placeOf }, objects };
}

interface Site {
  readonly nodes?: readonly string[];
  /** Whose agents have begun to make them nodes. */
  readonly begun?: readonly string[];
  /** Nodes whose Machine is being deleted. */
  readonly going?: readonly string[];
  readonly initialised?: boolean;
  readonly file?: File;
}

/** As it was written by an earlier create, and what has become of its hosts. Nothing in it is healthy. */
async function world({ nodes = [], begun = [], going = [], initialised = true, file = {} }: Site): Promise<World> {
  const { objects } = await wanted(file);
  const all = objects.map((object): KubeObject => {
    const consumed = object.kind === 'BKEHost' && [...nodes, ...begun].includes(object.metadata.name);
    if (consumed)
      return { ...object, spec: { ...Object(object['spec']), consumerRef: { name: `m-${object.metadata.name}` } } };
    if (object.kind !== 'Cluster') return object;
    const conditions = [{ type: 'Available', status: 'False', reason: 'NotAvailable', message: '' }];
    return { ...object, status: { initialization: { controlPlaneInitialized: initialised }, conditions } };
  });
  const labels = (host: string): Record<string, string> => ({
    'cluster.x-k8s.io/cluster-name': 'prod',
    ...(host.startsWith('cp') ? { 'cluster.x-k8s.io/control-plane': '' } : {}),
  });
  for (const host of [...nodes, ...begun]) {
    const metadata = { namespace: 'bke', name: `m-${host}`, labels: labels(host) };
    const deleted = going.includes(host) ? { deletionTimestamp: '2026-11-30T10:00:00Z' } : {};
    const status = nodes.includes(host) ? { nodeRef: { name: host } } : {};
    const spec = { infrastructureRef: { name: `m-${host}` } };
    all.push(
      { ...kinds.bkeMachine, metadata },
      { ...kinds.machine, metadata: { ...metadata, ...deleted }, spec, status },
    );
    const commandID = `${begun.includes(host) ? 'bootstrap' : 'prepare'}-0123456789abcdef-1-01234567`;
    all.push({ ...kinds.command, metadata: { namespace: 'bke', name: host }, spec: { commandID } });
  }
  const listed = (name: KindName): KubeObject[] => all.filter(({ kind }) => kind === kinds[name].kind);
  return worldOf({ namespace: 'bke', name: 'prod' }, listed);
}

const refused = (details: readonly string[], hint = '') =>
  expect.objectContaining({ code: 'BKE_CLUSTER_EXISTS', exitCode: 7, details, hint: expect.stringContaining(hint) });
const taken = async (there: Promise<World>, after: Wanted): Promise<void> => {
  const now = await there;
  expect(() => refuseOtherShape(now, after)).not.toThrow();
};
const kubelet = (maxPods: number): string => `  settings: {kubelet: {maxPods: ${maxPods}}}`;

it('takes the file as it was, whatever is there', async () => {
  for (const nodes of [[], ['cp1'], ['cp1', 'w1', 'w2']])
    for (const initialised of [true, false]) {
      const there = await world({ nodes, initialised });
      const same = await wanted();
      expect(() => refuseOtherShape(there, same)).not.toThrow();
    }
});

it('refuses settings that nodes were made with, though the cluster is not healthy, with place, hosts and what works', async () => {
  const before = { lines: [kubelet(110), '  ntp: [10.0.0.1]'] };
  const there = await world({ nodes: ['cp1', 'w1'], file: before });
  const after = await wanted({ lines: [kubelet(50), '  registry: {host: 10.9.9.9}'] });
  expect(() => refuseOtherShape(there, after)).toThrow(
    refused(
      [
        'cluster.yaml:6:33: spec.settings.kubelet.maxPods is 110 on cp1, w1, the file says 50',
        'cluster.yaml:7:20: spec.registry.host is not set on cp1, w1, the file says 10.9.9.9',
        'cluster.yaml:7:13: spec.registry.port is not set on cp1, w1, the file says 40443',
        'cluster.yaml:5:3: spec.ntp is ["10.0.0.1"] on cp1, w1, the file does not set it',
      ],
      "make the cluster anew: 'kubectl -n bke delete cluster prod' ends all that runs in it",
    ),
  );
});

it('refuses labels and taints of a host that is a node or becomes one, and takes those of one that is none yet', async () => {
  const labelled = (line: string, rack: string): string => line.replace('}', `, labels: {rack: ${rack}}}`);
  const before = { hosts: [cp1, labelled(w1, 'a'), labelled(w2, 'a')] };
  const after = await wanted({ hosts: [cp1, labelled(w1, 'b'), labelled(w2, 'b')] });
  const workers =
    "have these workers made anew: delete their Machines ('kubectl -n bke get machines -o wide' shows them";
  const words = (host: string, line: number): string =>
    `cluster.yaml:${line}:70: spec.hosts[${line - 10}].labels.rack is a on ${host}, the file says b`;
  const one = await world({ nodes: ['cp1', 'w1'], file: before });
  expect(() => refuseOtherShape(one, after)).toThrow(refused([words('w1', 11)], workers));
  // From then on it is not prepared again.
  const both = await world({ nodes: ['cp1', 'w1'], begun: ['w2'], file: before });
  expect(() => refuseOtherShape(both, after)).toThrow(refused([words('w1', 11), words('w2', 12)], workers));
  const none = await world({ nodes: ['cp1'], file: before });
  expect(() => refuseOtherShape(none, after)).not.toThrow();
  // The way that the hint tells.
  const anew = await world({ nodes: ['cp1', 'w1'], going: ['w1'], file: before });
  expect(() => refuseOtherShape(anew, after)).not.toThrow();
});

it('tells a label that comes from the defaults where it is written', async () => {
  const there = await world({
    nodes: ['cp1'],
    file: { hosts: [cp1.replace('}', ', labels: {site: south}}'), w1, w2] },
  });
  const after = await wanted();
  expect(() => refuseOtherShape(there, after)).toThrow(
    refused(
      ['cluster.yaml:8:20: spec.hosts[0].labels.site is south on cp1, the file says north'],
      'make the cluster anew',
    ),
  );
});

it('refuses what would roll an initialised control plane, and takes it before', async () => {
  const lines = ['  settings: {kubeadm: {ignorePreflightErrors: [Swap]}}'];
  const words =
    'cluster.yaml:6:47: spec.settings.kubeadm.ignorePreflightErrors is not set in the cluster, the file says ["Swap"]';
  const after = await wanted({ lines });
  for (const nodes of [[], ['cp1']]) {
    const there = await world({ nodes });
    expect(() => refuseOtherShape(there, after)).toThrow(refused([words]));
  }
  await taken(world({ initialised: false }), after);
});

it('does not scale, upgrade or change the network of a cluster that is initialised', async () => {
  const there = await world({ nodes: ['cp1', 'w1'], file: { hosts: [cp1, w1] } });
  const after = await wanted({ version: 'v1.37.0', lines: ['  network: {podCIDR: 172.28.0.0/16}'] });
  expect(() => refuseOtherShape(there, after)).toThrow(
    refused([
      'cluster.yaml:13:7: spec.hosts[2]: host w2 is not part of it',
      'cluster.yaml:6:22: spec.network.podCIDR is ["10.250.0.0/16"] in the cluster, the file says ["172.28.0.0/16"]',
      'cluster.yaml:5:22: spec.kubernetesVersion is v1.36.3 in the cluster, the file says v1.37.0',
      'cluster.yaml:11:5: spec.hosts (number of workers) is 1 in the cluster, the file says 2',
    ]),
  );
  await taken(world({ initialised: false, file: { hosts: [cp1, w1] } }), after);
});

it('lets a host take the place of one that is no node, and of none that is', async () => {
  const w3 = '    - {name: w3, address: 10.0.0.23, roles: [worker]}';
  const after = await wanted({ hosts: [cp1, w1, w3] });
  await taken(world({ nodes: ['cp1', 'w1'] }), after);
  const there = await world({ nodes: ['cp1', 'w1', 'w2'] });
  expect(() => refuseOtherShape(there, after)).toThrow(
    refused([
      'cluster.yaml:12:7: spec.hosts[2]: host w3 is not part of it',
      'cluster.yaml:10:5: spec.hosts: host w2 is part of it, and the file does not name it',
    ]),
  );
});
