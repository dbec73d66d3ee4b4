// Making a cluster as an operation: its phases, and what of each is so now.
import type { BKEOperationStatus } from '../../api/kinds/bke-operation.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { defined } from '../../lib/defined.ts';
import { openAddons } from '../addons/plan.ts';
import { firstLine, holds, troubleOf } from './causes.ts';
import { addonTrouble, type Asking, siteTrouble } from './host-errors.ts';
import {
  type Around,
  causeOf,
  describeCommand,
  hostSteps,
  isNode,
  itsDeployment,
  lacksDeployment,
  unwrittenWords,
} from './host-steps.ts';
import type { Chain, Look, LookedStep, OperationFrame } from './chain.ts';
import { clusterEntry } from './entries.ts';
import { isKubeletSilent, kubeletLog, unreadyWords, withLostNodes } from './lost-nodes.ts';
import { clusterCommand, inNamespace } from './next-commands.ts';
import { type ClusterName, isInitialised, kinds, type World } from './world.ts';

const minuteMs = 60_000;
const limits = {
  resources: 5 * minuteMs,
  infrastructure: 60 * minuteMs,
  controlPlane: 60 * minuteMs,
  network: 60 * minuteMs,
  health: 30 * minuteMs,
};

/** Cluster API's own order; hosts are prepared ahead of their phase, so that phases overlap. */
const phases = [
  { id: 'infrastructure', title: 'Infrastructure' },
  { id: 'control-plane', title: 'Control plane' },
  { id: 'workers', title: 'Workers' },
  { id: 'network', title: 'Network' },
  { id: 'health', title: 'Health' },
] as const;

export function createFrame(cluster: ClusterName): OperationFrame {
  const { name } = cluster;
  const describe = clusterCommand(cluster, 'describe');
  const kubeconfig = `bke cluster kubeconfig ${name}${inNamespace(cluster)} --to ${name}.kubeconfig`;
  return {
    action: 'cluster.create',
    target: `cluster ${name}`,
    phases,
    next: (outcome) => (outcome === 'done' ? [describe, kubeconfig] : [describe]),
  };
}

export function createChains(world: World, told: BKEOperationStatus, asking: Asking): Chain[] {
  const failed = new Set((told.hosts ?? []).flatMap(({ name, state }) => (state === 'Failed' ? [name] : [])));
  const entry = clusterEntry(world.name);
  const needed = [entry, ...world.nodes.flatMap(({ name, pool }) => (pool === 'control-plane' ? [name] : []))];
  const noControlPlane = !isInitialised(world) && needed.some((name) => failed.has(name));
  const around: Around = { world, asking, noControlPlane };
  const hosts = world.nodes.map((node) => ({ name: node.name, host: node.name, steps: hostSteps(node, around) }));
  const someFailed = [...failed].some((name) => name !== entry);
  return [{ name: entry, steps: clusterSteps(around, someFailed) }, ...hosts];
}

const pausedCause = 'the Cluster is paused (spec.paused): nothing goes on before somebody lets it';

/** Nobody is at work on a paused cluster, so that is what all of it waits for. */
export function whilePaused(chains: readonly Chain[]): Chain[] {
  const paused = (look: Look): Look => (look.state === 'done' ? look : { ...look, cause: pausedCause });
  return chains.map((chain) => ({
    ...chain,
    steps: chain.steps.map((step) => ({ ...step, look: paused(step.look) })),
  }));
}

function clusterSteps(around: Around, someFailed: boolean): LookedStep[] {
  const { world, noControlPlane } = around;
  const step = (
    phase: string,
    name: string,
    rest: Pick<LookedStep, 'title' | 'timeoutMs'> & { look: Look },
  ): LookedStep => ({
    phase,
    step: `cluster/${name}`,
    ...rest,
  });
  const held = (look: Look, blocked: boolean): Look =>
    look.state === 'waiting' ? withLostNodes({ ...look, blocked }, around) : look;
  return [
    step('infrastructure', 'resources', {
      title: 'resources',
      timeoutMs: limits.resources,
      look: resourcesLook(world),
    }),
    step('infrastructure', 'infrastructure', {
      title: 'infrastructure',
      timeoutMs: limits.infrastructure,
      look: held(infrastructureLook(around), noControlPlane),
    }),
    step('control-plane', 'control-plane', {
      title: 'API server',
      timeoutMs: limits.controlPlane,
      look: held(controlPlaneLook(world), noControlPlane),
    }),
    step('network', 'network', {
      title: 'network plugin',
      timeoutMs: limits.network,
      look: held(networkLook(around), noControlPlane),
    }),
    step('health', 'health', {
      title: 'health',
      timeoutMs: limits.health,
      look: held(healthLook(around), noControlPlane || someFailed),
    }),
  ];
}

function resourcesLook(world: World): Look {
  const { cluster, bkeCluster, nodes } = world;
  const missing = [
    ...(cluster === undefined ? ['the cluster'] : []),
    ...(bkeCluster === undefined ? ['its infrastructure'] : []),
    ...(lacksControlPlane(world) ? ['its control plane'] : []),
    ...(nodes.some((node) => lacksDeployment(world, node)) ? [itsDeployment] : []),
    ...(nodes.length === 0 ? ['its hosts'] : []),
  ];
  if (missing.length === 0) return { state: 'done' };
  return { state: 'waiting', for: 'the resources of the cluster', cause: unwrittenWords(missing) };
}

/** The one that the Cluster names; another kind than kubeadm's is not watched. */
function lacksControlPlane({ cluster, controlPlane }: World): boolean {
  const ref = fieldAt(cluster, 'spec', 'controlPlaneRef');
  const kind = textAt(ref, 'kind') ?? kinds.controlPlane.kind;
  return ref !== undefined && kind === kinds.controlPlane.kind && controlPlane === undefined;
}

function infrastructureLook({ world }: Around): Look {
  if (fieldAt(world.bkeCluster, 'status', 'initialization', 'provisioned') === true) return { state: 'done' };
  const trouble = siteTrouble(world.bkeCluster, 'FirstHostPrepared');
  return {
    state: 'waiting',
    for: 'the infrastructure of the cluster',
    cause: troubleOf(world.bkeCluster) ?? 'no host of the control plane is prepared yet',
    next: describeCommand({ world }),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

function controlPlaneLook(world: World): Look {
  if (isInitialised(world)) return { state: 'done' };
  return {
    state: 'waiting',
    for: 'the API server of the cluster',
    cause: troubleOf(world.controlPlane) ?? troubleOf(world.cluster) ?? 'the control plane is not initialised yet',
    next: describeCommand({ world }),
  };
}

/** Nodes are ready as soon as their network works: that is asked for, whoever brings it. Other add-ons belong to the health of the cluster. */
function networkLook({ world, asking }: Around): Look {
  const { bkeCluster, nodes } = world;
  const joined = nodes.filter(isNode);
  const unready = joined.filter(({ machine }) => !holds(machine, 'NodeReady') && !holds(machine, 'NodeHealthy'));
  const open = openAddons(bkeCluster).filter(({ isNetwork }) => isNetwork);
  if (joined.length > 0 && unready.length === 0 && open.length === 0) return { state: 'done' };
  const told = unready.flatMap((node) => unreadyWords(node) ?? []);
  const trouble = addonTrouble(bkeCluster, open, asking);
  const addons = open.map(({ words }) => firstLine(words));
  // A node is not ready for want of the network that could not be applied; what was applied works when the nodes do.
  const causes = open.some(({ error }) => error !== undefined) ? [...addons, ...told] : [...told, ...addons];
  const cause = causes[0] ?? (unready[0] === undefined ? 'no node is there yet' : `${unready[0].name} is not ready`);
  const silent = unready.find(isKubeletSilent);
  const next = silent === undefined ? describeCommand({ world }) : kubeletLog(silent.name);
  return { state: 'waiting', for: 'the network of the nodes', cause, next, ...defined({ trouble }) };
}

/** The state of the cluster may be of before it was asked for an add-on: those are looked at too. */
function healthLook({ world, asking }: Around): Look {
  const { bkeCluster, cluster } = world;
  const state = textAt(bkeCluster, 'status', 'state', 'name');
  const open = openAddons(bkeCluster);
  const isWell = state === 'Healthy' || (state === undefined && holds(cluster, 'Available'));
  if (isWell && open.length === 0) return { state: 'done' };
  const trouble = addonTrouble(bkeCluster, open, asking);
  const cause =
    trouble === undefined ? ((isWell ? open[0]?.words : undefined) ?? healthWords(world)) : causeOf(trouble);
  return {
    state: 'waiting',
    for: 'the cluster to be healthy',
    cause: firstLine(cause),
    next: describeCommand({ world }),
    ...defined({ trouble }),
  };
}

function healthWords({ bkeCluster, cluster }: World): string {
  const parts = ['name', 'reason', 'message'].flatMap((part) => textAt(bkeCluster, 'status', 'state', part) ?? []);
  return parts.length === 0 ? (troubleOf(cluster) ?? 'its health is not known yet') : parts.join(': ');
}
