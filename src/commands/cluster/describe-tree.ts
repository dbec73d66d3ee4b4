// A cluster as a tree of what it is made of, each with what its controller says about it: pure.
import { coreLabels } from '../../cluster/render/names.ts';
import { commandSteps, conditionsOf, wellWhenFalse, workOf } from '../../controllers/bkeoperation/causes.ts';
import type { NodeView, World } from '../../controllers/bkeoperation/world.ts';
import { readCommandID } from '../../controllers/host-command/command-id.ts';
import type { KubeObject } from '../../kube/client.ts';
import { conditionSince } from '../../kube/conditions.ts';
import { listAt, textAt } from '../../kube/fields.ts';
import { named } from '../../lib/text.ts';

export interface TreeNode {
  /** Kind/name, or the name of a condition. */
  readonly name: string;
  /** True, False, Unknown; '' where nothing is said. */
  readonly status: string;
  readonly reason: string;
  /** RFC 3339; '' where it is not known. */
  readonly since: string;
  readonly message: string;
  readonly children: readonly TreeNode[];
}

/** @param all shows also the conditions that are as they should be */
export function describeTree(world: World, { all }: { readonly all: boolean }): TreeNode {
  const { cluster, bkeCluster, controlPlane, deployments, nodes } = world;
  const below = (owner: KubeObject | undefined): TreeNode[] =>
    nodes.filter((node) => ownerOf(node, world) === owner).map((node) => nodeTree(node, all));
  const children = [
    ...objectTree(bkeCluster, { all, children: [...stateNodes(bkeCluster), ...addonNodes(bkeCluster)] }),
    ...(controlPlane === undefined ? [] : objectTree(controlPlane, { all, children: below(controlPlane) })),
    ...deployments.flatMap((deployment) => objectTree(deployment, { all, children: below(deployment) })),
    ...below(undefined),
  ];
  const [root] = objectTree(cluster, { all, children });
  return (
    root ?? { name: `Cluster/${world.name}`, status: '', reason: '', since: '', message: 'it is not there', children }
  );
}

/** What makes its machine; undefined: nobody can say of several, or there is none. */
function ownerOf(
  { pool, machine, bkeMachine }: NodeView,
  { controlPlane, deployments }: World,
): KubeObject | undefined {
  if (pool === 'control-plane') return controlPlane;
  if (deployments.length < 2) return deployments[0];
  const labels = { ...bkeMachine?.metadata.labels, ...machine?.metadata.labels };
  return deployments.find(({ metadata }) => metadata.name === labels[coreLabels.deployment]);
}

/** Conditions that sum up an object, the first that it has. */
const sums = ['Available', 'Ready'];
const negative: ReadonlySet<string> = new Set(wellWhenFalse);

/** By kind: what sums up parts that the tree shows themselves. */
const mirrors: Readonly<Record<string, readonly string[]>> = {
  Cluster: [
    'InfrastructureReady',
    'ControlPlaneAvailable',
    'ControlPlaneMachinesReady',
    'ControlPlaneMachinesUpToDate',
    'WorkersAvailable',
    'WorkerMachinesReady',
    'WorkerMachinesUpToDate',
  ],
  KubeadmControlPlane: ['MachinesReady', 'MachinesUpToDate'],
  MachineDeployment: ['MachinesReady', 'MachinesUpToDate'],
  Machine: ['Ready', 'InfrastructureReady'],
};
/** Nothing is wrong: it cannot be said yet. */
const unasked: ReadonlySet<string> = new Set(['Claimed', 'NotAsked']);

interface Shown {
  readonly all: boolean;
  readonly children: readonly TreeNode[];
}

function objectTree(object: KubeObject | undefined, { all, children }: Shown): TreeNode[] {
  if (object === undefined) return [];
  const conditions = conditionNodes(object);
  const sum = sums.flatMap((type) => conditions.find(({ name }) => name === type) ?? []).at(0);
  const isMirror = (condition: string): boolean => (mirrors[object.kind] ?? []).includes(condition);
  const rest = conditions.filter((node) => node !== sum && (all || !(isWell(node) || isMirror(node.name))));
  const name = `${object.kind}/${object.metadata.name}`;
  const { status = '', reason = '', since = object.metadata.creationTimestamp ?? '', message = '' } = sum ?? {};
  return [{ name, status, reason, since, message, children: [...rest, ...children] }];
}

function isWell({ name, status, reason }: TreeNode): boolean {
  if (status === 'Unknown' && unasked.has(reason)) return true;
  return negative.has(name) ? status !== 'True' : status === 'True';
}

function conditionNodes(object: KubeObject): TreeNode[] {
  return conditionsOf(object).map(({ type, status, reason, message }) => ({
    name: type,
    status,
    reason,
    since: conditionSince(object, type) ?? '',
    message,
    children: [],
  }));
}

/** What people are told of the cluster as a whole. */
function stateNodes(bkeCluster: KubeObject | undefined): TreeNode[] {
  const name = textAt(bkeCluster, 'status', 'state', 'name');
  if (name === undefined) return [];
  const host = textAt(bkeCluster, 'status', 'state', 'host');
  const message = textAt(bkeCluster, 'status', 'state', 'message') ?? '';
  const at = [host, textAt(bkeCluster, 'status', 'state', 'step')].filter((part) => part !== undefined);
  // What begins with the host tells the step as well.
  const isPlaced = host !== undefined && named(host, message) === message;
  const place = isPlaced ? '' : at.join(' in ');
  return [
    {
      name: `state ${name}`,
      status: '',
      reason: textAt(bkeCluster, 'status', 'state', 'reason') ?? '',
      since: textAt(bkeCluster, 'status', 'state', 'since') ?? '',
      message: [place, message].filter((part) => part !== '').join(': '),
      children: [],
    },
  ];
}

function addonNodes(bkeCluster: KubeObject | undefined): TreeNode[] {
  return listAt(bkeCluster, 'status', 'addons').map((addon) => {
    const phase = textAt(addon, 'phase') ?? '';
    const [code, message] = [textAt(addon, 'error', 'code'), textAt(addon, 'error', 'message')];
    return {
      name: ['add-on', textAt(addon, 'name'), textAt(addon, 'version')].filter((part) => part !== undefined).join(' '),
      status: phase === 'Ready' ? 'True' : 'False',
      reason: phase,
      since: '',
      message: message === undefined ? (textAt(addon, 'message') ?? '') : `error[${code ?? ''}] ${message}`,
      children: [],
    };
  });
}

/** A machine over its host; a host that no machine has stands for itself. */
function nodeTree({ host, machine, bkeMachine, command }: NodeView, all: boolean): TreeNode {
  const [hostNode] = objectTree(host, { all, children: commandNodes(command) });
  // The sum says no more than that a machine has it.
  const shown = hostNode === undefined || bkeMachine === undefined ? hostNode : claimed(hostNode);
  const below = shown === undefined ? [] : [shown];
  const [ofMachine] = objectTree(machine, {
    all,
    children: [...objectTree(bkeMachine, { all, children: [] }), ...below],
  });
  const nothing: TreeNode = {
    name: `BKEHost/${host.metadata.name}`,
    status: '',
    reason: '',
    since: '',
    message: '',
    children: [],
  };
  return ofMachine ?? shown ?? nothing;
}

function claimed(node: TreeNode): TreeNode {
  const agent = node.children.find(({ name }) => name === 'AgentReady');
  if (node.reason !== 'Claimed') return node;
  const { status = 'True', reason = 'Claimed', message = '' } = agent ?? {};
  return { ...node, status, reason, message, children: node.children.filter((child) => child !== agent) };
}

function commandNodes(command: KubeObject | undefined): TreeNode[] {
  const steps = commandSteps(command);
  if (steps.length === 0) return [];
  const over = steps.filter(({ state }) => state === 'Done').length;
  const failed = steps.find(({ state }) => state === 'Failed');
  const state = failed !== undefined ? 'Failed' : over === steps.length ? 'Done' : 'Running';
  const error = failed?.error === undefined ? undefined : `error[${failed.error.code}] ${failed.error.message}`;
  return [
    {
      name: `command ${purposeOf(textAt(command, 'spec', 'commandID') ?? '')}`,
      status: '',
      reason: `${state} ${over}/${steps.length}`,
      since: lastTime(command),
      message: error ?? workOf(steps) ?? '',
      children: [],
    },
  ];
}

/** 'bootstrap', 'prepare, attempt 3'; the whole id where somebody else gave it. */
function purposeOf(id: string): string {
  const { purpose = id, attempt = 1 } = readCommandID(id) ?? {};
  return attempt === 1 ? purpose : `${purpose}, attempt ${attempt}`;
}

function lastTime(command: KubeObject | undefined): string {
  const times = listAt(command, 'status', 'steps').map(
    (step) => textAt(step, 'finished') ?? textAt(step, 'started') ?? '',
  );
  return times.toSorted().at(-1) ?? '';
}
