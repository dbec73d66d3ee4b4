// That there is nothing to do is said by controllers that are at work, and by the rules of the operation that would be opened otherwise.
import { beforeEach, expect, it } from 'vitest';
import { isWell, tellNothingToDo } from '../../../../src/commands/cluster/nothing-to-do.ts';
import type { Command } from '../../../../src/commands/context.ts';
import { controllerLeaseKey } from '../../../../src/cluster/site.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { available, ClusterSite, clusterName, resources } from '../../../fakes/cluster-site.ts';
import { runCli } from '../../../fakes/cli.ts';

const cluster = { namespace: 'bke', name: clusterName };
const options = { toldMs: 50, mostMs: 100, everyMs: 5 };

let site: ClusterSite;
let notes: string[];
/** Reads of the lease; it is renewed at each of them where a controller is at work. */
let reads: number;
let atWork: boolean;
let refusal: BkeError | undefined;

beforeEach(() => {
  [site, notes, reads, atWork, refusal] = [new ClusterSite(), [], 0, true, undefined];
  resources(site);
  site.host('cp1', 'control-plane', available);
  site.host('w1', 'workers', available);
  for (const [host, pool] of [['cp1', 'control-plane'] as const, ['w1', 'workers'] as const]) {
    site.claim(host, pool, []);
    site.prepared(host);
    site.node(host, true);
  }
  state({ name: 'Healthy', reason: 'AllReady' });
  const spec = { infrastructureRef: { name: clusterName }, controlPlaneRef: { name: 'prod-cp' } };
  site.put('cluster', clusterName, {
    spec,
    status: {
      initialization: { controlPlaneInitialized: true, infrastructureProvisioned: true },
      conditions: [{ type: 'Available', status: 'True', reason: 'Available', message: '' }],
    },
  });
});

function state(value: object | undefined): void {
  const status = { initialization: { provisioned: true }, ...(value === undefined ? {} : { state: value }) };
  site.put('bkeCluster', clusterName, { spec: { cni: 'flannel' }, status });
}

function agent(host: string, reason: string): void {
  const ready = {
    type: 'AgentReady',
    status: 'False',
    reason,
    message: 'no heartbeat',
    lastTransitionTime: '2026-11-30T09:00:00Z',
  };
  const labels = { 'bke.io/cluster': clusterName, 'bke.io/pool': 'workers' };
  const spec = { consumerRef: { namespace: 'bke', name: `m-${host}` } };
  site.put('host', host, { labels, spec, status: { conditions: [ready] } });
}

const client = {
  get: async (): Promise<KubeObject> => {
    if (refusal !== undefined) throw refusal;
    reads += 1;
    const { apiVersion, kind, ...metadata } = controllerLeaseKey;
    return { apiVersion, kind, metadata, spec: { renewTime: `2026-11-30T10:00:00.${atWork ? reads : 0}Z` } };
  },
  list: async ({ kind }: { readonly kind: string }) => ({
    items: [...site.objects.values()].filter((object) => object.kind === kind),
    resourceVersion: '1',
  }),
};
const context = {
  note: (line: string) => void notes.push(line),
  now: () => new Date('2026-11-30T11:00:00Z'),
  signal: new AbortController().signal,
};
const well = (): Promise<boolean> => isWell(context, client, cluster, options);

it('is so where all is well, and a controller was seen at work', async () => {
  expect(await well()).toBe(true);
  expect([reads, notes]).toEqual([2, []]);
});

it('is not said by controllers that are dead: what is wrong is told, in bounded time', async () => {
  atWork = false;
  await expect(well()).rejects.toMatchObject({
    code: 'BKE_TIMEOUT',
    message: expect.stringMatching(
      /^no controller of bke has been at work for \S+ \(no pod of bke-controller-manager is there\)$/,
    ),
    hint: "'kubectl -n bke-system get pods' shows its pods. When one is at work again, run the same command again.",
  });
});

it.each(['HeartbeatLost', 'HostReset'])('is not so where the agent of a node is silent (%s)', async (reason) => {
  agent('w1', reason);
  expect(await well()).toBe(false);
  expect(reads).toBe(0);
});

it.each([undefined, { name: 'Abnormal' }, { name: 'Installing' }])('is not so in the state %j', async (value) => {
  state(value);
  expect(await well()).toBe(false);
});

it.each<readonly [string, readonly object[]]>([
  ['is not applied yet', []],
  ['has failed', [{ name: 'apps', phase: 'Failed', error: { code: 'BKE_KUBE_REFUSED', message: 'x' } }]],
  ['does not run', [{ name: 'apps', phase: 'Applied' }]],
])('is not so where an add-on %s, whatever the state says', async (_, addons) => {
  const status = { initialization: { provisioned: true }, state: { name: 'Healthy' } };
  const spec = { cni: 'flannel', addons: [{ name: 'apps' }] };
  site.put('bkeCluster', clusterName, { spec, status: { ...status, addons } });
  expect(await well()).toBe(false);
  site.put('bkeCluster', clusterName, { spec, status: { ...status, addons: [{ name: 'apps', phase: 'Ready' }] } });
  expect(await well()).toBe(true);
});

it('is looked at again when the controller was seen: it may have found out meanwhile', async () => {
  const { get } = client;
  const later = { ...client, get: async () => (state({ name: 'Abnormal' }), get()) };
  expect(await isWell(context, later, cluster, options)).toBe(false);
});

it('is told with a warning to an account that may not see the lease, and not where nothing answers', async () => {
  refusal = new BkeError('BKE_KUBE_FORBIDDEN', 'leases is forbidden');
  expect(await well()).toBe(true);
  expect(notes).toEqual(['warning: whether a controller of bke is at work could not be seen: leases is forbidden']);
  refusal = new BkeError('BKE_KUBE_UNREACHABLE', 'connection refused');
  await expect(well()).rejects.toMatchObject({ code: 'BKE_KUBE_UNREACHABLE' });
});

it('is told to programs as the end of an operation, and to people in one line', async () => {
  const command: Command = {
    path: ['try'],
    group: 'clusters',
    summary: 'x',
    examples: [],
    run: async (context) => {
      tellNothingToDo(context, cluster, ['cp1', 'w1']);
      return { kind: 'none' };
    },
  };
  const line = `Nothing to do: cluster ${clusterName} is as the file says, and healthy.\n`;
  for (const tty of [false, true])
    expect(await runCli(['try'], { commands: [command], tty })).toMatchObject({ stdout: '', stderr: line });
  const { stdout, stderr } = await runCli(['try', '-o', 'json'], { commands: [command] });
  expect(stderr).toBe(line);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((text): unknown => JSON.parse(text)),
  ).toEqual([
    expect.objectContaining({
      type: 'operation.finished',
      outcome: 'done',
      changed: false,
      hosts: ['cp1', 'w1'].map((host) => ({ host, state: 'done', changed: false })),
    }),
  ]);
});
