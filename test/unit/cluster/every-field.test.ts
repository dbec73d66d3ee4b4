// Every field of cluster.yaml changes what is made, or is refused: none is ignored. What is made: resources, orders to hosts, logins, add-ons.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { renderCluster } from '../../../src/cluster/render/cluster.ts';
import { unsupportedIn } from '../../../src/cluster/unsupported.ts';
import { checkCluster } from '../../../src/config/cluster/check.ts';
import { clusterConfig } from '../../../src/config/cluster/config.ts';
import { clusterFile } from '../../../src/config/cluster/file.ts';
import { readYaml } from '../../../src/config/read-yaml.ts';
import { plannedAddons } from '../../../src/controllers/addons/plan.ts';
import { viewOf } from '../../../src/controllers/bkehost/host.ts';
import { targetOf } from '../../../src/controllers/bkehost/login.ts';
import { chooseHosts } from '../../../src/controllers/bkemachine/choose.ts';
import { bootstrapOrder } from '../../../src/controllers/host-command/bootstrap.ts';
import { prepareOrder } from '../../../src/controllers/host-command/prepare.ts';
import { bkeCluster } from '../../../src/api/kinds/bke-cluster.ts';
import type { KubeObject } from '../../../src/kube/client.ts';
import { fieldAt, textAt } from '../../../src/kube/fields.ts';
import { catalogue, site, version } from '../../fakes/fleet.ts';

const base = `apiVersion: bke.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetesVersion: ${version}
  hosts:
    - {name: cp1, address: 10.0.0.11, roles: [control-plane], ssh: {user: ops, privateKeyFile: key, bastion: {address: 10.9.9.9}}}
    - {name: w1, address: 10.0.0.21, roles: [worker], ssh: {user: ops, privateKeyFile: key, bastion: {address: 10.9.9.9}}}
`;

interface Change {
  readonly path: string;
  readonly value: unknown;
  /** What has to be there for it. */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** What changes with it. */
  readonly together?: Readonly<Record<string, unknown>>;
  /** Where it is refused: by which words. */
  readonly refused?: RegExp;
}

const hostKey = `SHA256:${'a'.repeat(43)}`;
const defaultKey = 'spec.defaults.ssh.privateKeyFile';
const taint = { key: 'a.example/b', value: 'c', effect: 'NoSchedule' };
const registry = { 'spec.registry.host': 'reg.example.org' };
const host = 'spec.hosts[1]';
const agentOnly = /agent/;

/** Fields of a way to log in. */
function login(path: string, beside: Change['beside'] = {}): Change[] {
  const field = (name: string, value: unknown, more: Partial<Change> = {}): Change => ({
    path: `${path}.${name}`,
    value,
    ...more,
    beside: { ...beside, ...more.beside },
  });
  const instead = { together: { [`${path}.privateKeyFile`]: undefined } };
  const key = { beside: { [`${path}.privateKeyFile`]: 'own' } };
  return [
    field('user', 'other'),
    field('port', 2222),
    field('hostKeys', [hostKey]),
    field('password', 'x', instead),
    field('passwordFile', 'x', instead),
    field('privateKeyFile', 'other'),
    field('passphraseFile', 'x', key),
    field('agent', true, { ...instead, refused: agentOnly }),
  ];
}

const ofDefaults = { 'spec.hosts[0].ssh': undefined, 'spec.hosts[1].ssh': undefined, [defaultKey]: 'key' };
const ofBastion = { ...ofDefaults, 'spec.defaults.ssh.bastion.address': '10.9.9.9' };

const changes: readonly Change[] = [
  { path: 'metadata.name', value: 'other' },
  { path: 'metadata.namespace', value: 'other' },
  { path: 'spec.kubernetesVersion', value: 'v1.36.2' },
  { path: 'spec.management', value: true, refused: /spec\.management.*write false/ },
  { path: 'spec.controlPlaneEndpoint.host', value: '10.0.0.99' },
  { path: 'spec.controlPlaneEndpoint.port', value: 7443 },
  {
    path: 'spec.loadBalancer',
    value: 'keepalived',
    beside: { 'spec.controlPlaneEndpoint.host': '10.0.0.99' },
    refused: /spec\.loadBalancer.*external/,
  },
  // One value alone is right, and it is so without it.
  { path: 'spec.containerRuntime', value: 'docker', refused: /dockershim/ },
  { path: 'spec.network.podCIDR', value: '10.251.0.0/16' },
  { path: 'spec.network.serviceCIDR', value: '10.97.0.0/16' },
  { path: 'spec.network.dnsDomain', value: 'k8s.site' },
  { path: 'spec.network.cni', value: 'none' },
  { path: 'spec.registry.host', value: 'reg.example.org' },
  { path: 'spec.registry.port', value: 5000, beside: registry },
  { path: 'spec.registry.caFile', value: 'ca.crt', beside: registry },
  {
    path: 'spec.registry.username',
    value: 'me',
    beside: { ...registry, 'spec.registry.passwordFile': 'pw' },
    refused: /spec\.registry\.username.*without a login/,
  },
  {
    path: 'spec.registry.passwordFile',
    value: 'pw',
    beside: { ...registry, 'spec.registry.username': 'me' },
    refused: /spec\.registry\.username/,
  },
  { path: 'spec.registry.rewrites', value: { 'docker.io': 'mirror/hub' }, beside: registry },
  { path: 'spec.ntp', value: ['10.0.0.1'] },
  { path: 'spec.settings.kubelet', value: { maxPods: 200 } },
  { path: 'spec.settings.kubeProxy', value: { mode: 'nftables' } },
  { path: 'spec.settings.containerd', value: { oom_score: 0 } },
  { path: 'spec.settings.kubeadm.ignorePreflightErrors', value: ['NumCPU'] },
  { path: 'spec.settings.ignoreChecks', value: ['cpu'] },
  ...login('spec.defaults.ssh', ofDefaults),
  { path: 'spec.defaults.ssh.sudo.password', value: 'x', beside: ofDefaults },
  { path: 'spec.defaults.ssh.sudo.passwordFile', value: 'x', beside: ofDefaults },
  { path: 'spec.defaults.ssh.bastion.address', value: '10.9.9.8', beside: ofDefaults },
  ...login('spec.defaults.ssh.bastion', ofBastion),
  { path: 'spec.defaults.ssh.bastion.bastion', value: { address: '10.9.9.8' }, beside: ofBastion },
  { path: 'spec.defaults.labels', value: { rack: 'a' } },
  { path: 'spec.defaults.taints', value: [taint] },
  { path: `${host}.name`, value: 'w2' },
  { path: `${host}.address`, value: '10.0.0.22' },
  { path: `${host}.roles`, value: ['control-plane', 'worker'], together: { 'spec.hosts[0].roles': ['worker'] } },
  { path: `${host}.nodeIP`, value: '10.1.0.21' },
  { path: `${host}.labels`, value: { rack: 'a' } },
  { path: `${host}.taints`, value: [taint] },
  { path: `${host}.ssh`, value: { user: 'other', privateKeyFile: 'other' } },
  { path: 'spec.addons[0].name', value: 'metrics-server' },
  { path: 'spec.addons[0].version', value: 'v0.8.0', beside: { 'spec.addons[0].name': 'metrics-server' } },
  {
    path: 'spec.addons[0].chart',
    value: 'my-app',
    beside: { 'spec.addons[0].name': 'my-app' },
    refused: /spec\.addons\[0\]\.chart.*helm/,
  },
  {
    path: 'spec.addons[0].values',
    value: { a: 1 },
    beside: { 'spec.addons[0].name': 'my-app' },
    refused: /only charts have values/,
  },
];

/** What no order and no resource shows, and the test that does. */
const shownElsewhere = {
  apiVersion: 'config: another one is refused',
  kind: 'config: another one is refused',
  'spec.defaults.ssh.retain': 'controllers/bkehost/status: the Secret goes',
  'spec.addons[0].namespace': 'controllers/bkecluster/controller: its pods count for the health',
} as const;

interface Made {
  readonly refused: readonly unknown[];
  readonly all: string;
}

/** Without what only says what was asked for: BKECluster and BKEHost count by what becomes of them. */
function madeOf(text: string): Made {
  const read = readYaml(text, 'cluster.yaml', clusterFile, checkCluster);
  if ('problems' in read) return { refused: read.problems, all: '' };
  const config = clusterConfig(read.value);
  const objects = renderCluster(config, {
    resolve: (source) => ('file' in source ? source.file : source.value),
    ...(config.registry?.caFile === undefined ? {} : { registryCa: 'PEM' }),
  });
  const cluster = objects.find(({ kind }) => kind === 'BKECluster');
  const spec = bkeCluster.shape.spec.parse(fieldAt(cluster, 'spec'));
  const agents = config.hosts.flatMap(({ ssh }) =>
    [ssh, ssh.bastion].flatMap((one) => (one?.agent === true ? ['agent'] : [])),
  );
  const hosts = objects.filter(({ kind }) => kind === 'BKEHost');
  return {
    refused: [...unsupportedIn(spec), ...agents],
    all: JSON.stringify([
      objects.filter(({ kind }) => kind !== 'BKECluster' && kind !== 'BKEHost'),
      agents.length > 0 ? [] : hosts.map((object) => ordersFor(object, { cluster, objects })),
      cluster === undefined ? [] : plannedAddons(cluster),
    ]),
  };
}

function ordersFor(
  object: KubeObject,
  { cluster, objects }: { readonly cluster: KubeObject | undefined; readonly objects: readonly KubeObject[] },
): unknown {
  const view = viewOf(object);
  const controlPlane = view.spec.roles.includes('control-plane');
  if (view.spec.ssh?.secretRef === undefined) return 'no login';
  const wanted = {
    namespace: view.namespace,
    cluster: cluster?.metadata.name ?? '',
    controlPlane,
    matchLabels: {},
    endpoint: textAt(cluster, 'spec', 'controlPlaneEndpoint', 'host'),
  };
  const claim = { id: 'c', providerID: 'bke://c' };
  const secret = objects.find(({ metadata }) => metadata.name === view.spec.ssh?.secretRef?.name);
  return [
    prepareOrder({
      host: view,
      arch: 'amd64',
      version,
      controlPlane,
      bkeCluster: cluster,
      site,
      catalogues: [catalogue],
      claim,
    }),
    bootstrapOrder({ host: view, claimID: 'c', providerID: 'bke://c', digest: 'd', bkeCluster: cluster, controlPlane }),
    chooseHosts([object], wanted).length,
    targetOf(view, secret),
  ];
}

/** @param path `a.b[1].c` */
function put(value: unknown, path: string, what: unknown): unknown {
  const [, field = '', index, rest = ''] = /^([^.[]+)(?:\[(\d+)\])?\.?(.*)$/.exec(path) ?? [];
  const within = (old: unknown): unknown => (rest === '' ? what : put(old, rest, what));
  const old = fieldAt(value, field);
  if (index === undefined) return { ...Object(value), [field]: within(old) };
  const list: unknown[] = Array.isArray(old) ? [...old] : [];
  list[Number(index)] = within(list[Number(index)]);
  return { ...Object(value), [field]: list };
}

function withChange({ path, value, beside = {}, together = {}, refused }: Change): { before: Made; after: Made } {
  const file: unknown = parse(base);
  const putAll = (all: unknown, more: object): unknown =>
    Object.entries(more).reduce((now: unknown, [place, what]) => put(now, place, what), all);
  const before = putAll(file, beside);
  const without = path.startsWith('spec.addons[0].name') || refused !== undefined ? file : before;
  return {
    before: madeOf(JSON.stringify(without)),
    after: madeOf(JSON.stringify(putAll(before, { ...together, [path]: value }))),
  };
}

function inner(schema: z.ZodOptional | z.ZodLazy | z.ZodArray): z.ZodType {
  const found: unknown = schema.unwrap();
  if (found instanceof z.ZodType) return found;
  throw new Error('no schema');
}

/** Paths of all that a file may say; a part of the schema that stands in several places counts where it is met first. */
function pathsOf(schema: z.ZodType, path: string, met: Set<z.ZodType>): string[] {
  if (schema instanceof z.ZodOptional) return pathsOf(inner(schema), path, met);
  if (schema instanceof z.ZodLazy) {
    if (met.has(schema)) return [path];
    met.add(schema);
    return pathsOf(inner(schema), path, met);
  }
  if (schema instanceof z.ZodArray && inner(schema) instanceof z.ZodObject) {
    const element = inner(schema);
    return element instanceof z.ZodObject && 'effect' in element.shape ? [path] : pathsOf(element, `${path}[0]`, met);
  }
  if (!(schema instanceof z.ZodObject) || met.has(schema)) return [path];
  met.add(schema);
  return Object.entries(schema.shape).flatMap(([name, field]) =>
    pathsOf(field, path === '' ? name : `${path}.${name}`, met),
  );
}

describe('every field of cluster.yaml', () => {
  it.each(changes)('has an effect or is refused: $path', (change) => {
    const { before, after } = withChange(change);
    expect(before.refused).toEqual([]);
    if (change.refused === undefined) {
      expect(after.refused).toEqual([]);
      expect(after.all).not.toBe(before.all);
    } else expect(JSON.stringify(after.refused)).toMatch(change.refused);
  });

  it('is one of these', () => {
    const shown = [...changes.map(({ path }) => path), ...Object.keys(shownElsewhere)];
    const plain = (path: string): string => path.replace(/\[\d*\]$/, '').replace('hosts[1]', 'hosts[0]');
    expect([...new Set(shown.map(plain))].sort()).toEqual(pathsOf(clusterFile, '', new Set()).map(plain).sort());
  });
});
