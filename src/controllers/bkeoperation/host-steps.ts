// What each host of a cluster goes through until it is a node, and what it looks like now.
import { hostLabels } from '../../cluster/render/names.ts';
import type { KubeObject } from '../../kube/client.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { readCommandID } from '../host-command/command-id.ts';
import { causeWords, type CommandStep, commandSteps, holds, troubleOf, workOf } from './causes.ts';
import { type Asking, commandTrouble, hostTrouble, silence, siteTrouble } from './host-errors.ts';
import { clusterCommand, hostListCommand } from './next-commands.ts';
import type { Look, LookedStep, Trouble, Waiting } from './chain.ts';
import { isInitialised, type NodeView, type World } from './world.ts';

const minuteMs = 60_000;
const agentMs = 20 * minuteMs;
/** Members of a control plane come one after the other, and workers after the first. */
const prepareMs = 60 * minuteMs;
const joinMs = 60 * minuteMs;
/** Of the step that makes a host a node (src/tasks/registry.ts). */
const joinTask = 'bootstrap-data';

export interface Around {
  readonly world: World;
  readonly asking: Asking;
  /** The control plane cannot come up: what needs it is not waited for. */
  readonly noControlPlane: boolean;
}

export function hostSteps(node: NodeView, around: Around): LookedStep[] {
  const phase = node.pool;
  return [
    {
      phase: 'infrastructure',
      step: 'host/agent',
      title: 'agent and checks',
      timeoutMs: agentMs,
      look: agentLook(node, around),
    },
    {
      phase,
      step: 'node/prepare',
      title: 'prepare for Kubernetes',
      timeoutMs: prepareMs,
      look: prepareLook(node, around),
    },
    { phase, step: 'node/join', title: 'become a node', timeoutMs: joinMs, look: joinLook(node, around) },
  ];
}

function agentLook(node: NodeView, { world, asking }: Around): Look {
  const { name, host } = node;
  const waiting = { state: 'waiting', for: `the agent of ${name}`, next: hostListCommand(world) } as const;
  // A node goes on without its agent, but nobody can say that its host is as it was asked for.
  const silent = isNode(node) ? silence(host, asking) : undefined;
  if (silent !== undefined) return { ...waiting, cause: causeOf(silent), trouble: silent };
  const available = conditionOf(host, 'Available');
  if (available?.status === 'True' || fieldAt(host, 'spec', 'consumerRef') !== undefined) return { state: 'done' };
  if (available === undefined) return { ...waiting, cause: 'the controller has not looked at it yet' };
  const trouble = hostTrouble(host, asking);
  return { ...waiting, cause: causeWords(available), ...(trouble === undefined ? {} : { trouble }) };
}

/** Hosts are prepared before machines take them (docs/adr/0013-hosts-before-machines.md), but not those that nobody will take. */
function prepareLook(node: NodeView, around: Around): Look {
  const { name, bkeMachine, machine, command } = node;
  if (isNode(node) || holds(bkeMachine, 'Prepared')) return { state: 'done' };
  const steps = commandSteps(command);
  const own = steps.filter(({ task }) => task !== joinTask && task !== 'reset');
  if (own.length > 0 && own.every(({ state }) => state === 'Done')) return { state: 'done' };
  if (bkeMachine === undefined && own.length === 0) return unclaimedLook(node, around);
  const otherwise = troubleOf(bkeMachine) ?? troubleOf(machine) ?? 'its command is not written yet';
  const look = atWork(node, around, { for: `${name} to be prepared`, steps, own, otherwise });
  return withTrouble(look, look.trouble ?? siteTrouble(bkeMachine, 'Prepared'));
}

interface Work {
  readonly for: string;
  /** Of the command that the host has. */
  readonly steps: readonly CommandStep[];
  /** Those that are waited for. */
  readonly own: readonly CommandStep[];
  /** Why none of them runs. */
  readonly otherwise: string;
}

function atWork(node: NodeView, { world, asking }: Around, work: Work): Waiting {
  const silent = silence(node.host, asking);
  const failed = work.own.find(({ state }) => state === 'Failed')?.error;
  const trouble = silent ?? (failed === undefined ? undefined : commandTrouble(node, failed, asking));
  const doing = work.own.some(({ state }) => state === 'Running' || state === 'Pending')
    ? workOf(work.steps)
    : undefined;
  return {
    state: 'waiting',
    for: work.for,
    cause: trouble === undefined ? (doing ?? work.otherwise) : causeOf(trouble),
    next: describeCommand({ world }),
    retries: isRetry(node.command),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

function withTrouble(look: Waiting, trouble: Trouble | undefined): Waiting {
  return trouble === undefined ? look : { ...look, trouble };
}

export function causeOf({ error: { code, message, details = [] } }: Trouble): string {
  return `error[${code}] ${[message, ...details].join(' ')}`;
}

function isRetry(command: KubeObject | undefined): boolean {
  return (readCommandID(textAt(command, 'spec', 'commandID') ?? '')?.attempt ?? 1) > 1;
}

/** A host that no machine asks for is a spare one. */
function unclaimedLook(node: NodeView, around: Around): Look {
  const { name, host, pool } = node;
  const { world, noControlPlane } = around;
  const unwritten = lacksDeployment(world, node);
  if (!unwritten && isPoolFull(world, pool)) return { state: 'done' };
  const trouble = hostTrouble(host, around.asking);
  return {
    state: 'waiting',
    for: `a machine that takes ${name}`,
    cause: trouble === undefined ? unclaimedCause(world, node) : causeOf(trouble),
    ...(trouble === undefined ? {} : { trouble }),
    next: describeCommand(around),
    // Where nobody writes it, the step of the resources fails.
    blocked: noControlPlane || unwritten,
  };
}

export const itsDeployment = 'its MachineDeployment';

/** The command that asked for the operation writes it all: where it has died, whoever waits has to run it again. */
export function unwrittenWords(missing: readonly string[]): string {
  return `bke cluster create has not written ${missing.join(', ')}: where it has ended, run it again`;
}

/** A host that is labelled for workers is none to spare while nothing is there that makes any: it may just not be written yet. */
export function lacksDeployment({ deployments }: World, { host, pool, bkeMachine }: NodeView): boolean {
  const isMeant = host.metadata.labels?.[hostLabels.pool] !== undefined;
  return pool === 'workers' && isMeant && bkeMachine === undefined && deployments.length === 0;
}

function unclaimedCause(world: World, node: NodeView): string {
  const { pool } = node;
  if (world.cluster === undefined) return 'the cluster is not there yet';
  if (lacksDeployment(world, node)) return unwrittenWords([itsDeployment]);
  const owner = pool === 'control-plane' ? world.controlPlane : world.deployments[0];
  if (pool === 'control-plane' || owner === undefined)
    return troubleOf(owner) ?? troubleOf(world.cluster) ?? 'none was made yet';
  return troubleOf(world.cluster) ?? troubleOf(owner) ?? 'none was made yet';
}

function isPoolFull(world: World, pool: NodeView['pool']): boolean {
  const { nodes, controlPlane, deployments } = world;
  const owners = pool === 'control-plane' ? [controlPlane] : deployments;
  // Hosts of before are there when an operation begins; what takes them is written after it.
  if (owners.length === 0 && !isInitialised(world)) return false;
  const wanted = owners.map((owner) => fieldAt(owner, 'spec', 'replicas'));
  if (!wanted.every((count) => typeof count === 'number')) return false;
  const taken = nodes.filter((node) => node.pool === pool && node.bkeMachine !== undefined).length;
  return taken >= wanted.reduce((sum, count) => sum + count, 0);
}

function joinLook(node: NodeView, around: Around): Look {
  const { name, command, bkeMachine, machine } = node;
  if (isNode(node)) return { state: 'done' };
  if (bkeMachine === undefined) return unclaimedLook(node, around);
  const steps = commandSteps(command).filter(({ task }) => task !== 'reset');
  const otherwise = troubleOf(machine) ?? troubleOf(bkeMachine) ?? 'it was prepared';
  const look = atWork(node, around, { for: `${name} to become a node`, steps, own: steps, otherwise });
  const isAtIt = steps.some(({ task }) => task === joinTask);
  return { ...look, blocked: around.noControlPlane && !isAtIt };
}

export function isNode({ machine }: NodeView): boolean {
  return textAt(machine, 'status', 'nodeRef', 'name') !== undefined;
}

export function describeCommand({ world }: Pick<Around, 'world'>): string {
  return clusterCommand(world, 'describe');
}
