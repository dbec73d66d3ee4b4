// The machines of a cluster, counted: what is wanted, what is there, what fails and what is waited for. Pure.
import type { KubeObject } from '../../kube/client.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { fieldAt, listAt, numberAt, textAt } from '../../kube/fields.ts';
import { coreLabels } from '../../cluster/render/names.ts';
import { named } from '../../lib/text.ts';
import { failureReasons } from '../bkemachine/conditions.ts';
import { isControlPlane } from '../cluster-objects.ts';
import type { StateInput, Trouble } from './state.ts';

export interface Member {
  readonly machine: KubeObject;
  readonly bkeMachine: KubeObject | undefined;
  /** Of its host. */
  readonly command: KubeObject | undefined;
}

export interface Fleet {
  readonly controlPlane: KubeObject | undefined;
  readonly deployments: readonly KubeObject[];
  readonly members: readonly Member[];
}

export type Members = Pick<
  StateInput,
  'wanted' | 'joined' | 'unjoined' | 'leaving' | 'joining' | 'outdated' | 'failed' | 'waits' | 'deleteTrouble'
>;

export function membersOf(fleet: Fleet): Members {
  const { controlPlane, deployments, members } = fleet;
  const staying = members.filter(({ machine }) => !isGoing(machine));
  const joined = staying.filter(({ machine }) => hasNode(machine));
  const missing = staying.filter(({ machine }) => !hasNode(machine)).toSorted(controlPlaneFirst);
  const leaving = members.filter(({ machine }) => isGoing(machine));
  return {
    wanted: {
      // Without one there is no cluster.
      controlPlane: controlPlane === undefined ? 1 : sizeOf(controlPlane),
      workers: deployments.reduce((sum, deployment) => sum + sizeOf(deployment), 0),
    },
    joined: countOf(joined),
    unjoined: missing.length,
    leaving: leaving.length,
    joining: missing.some((member) => !isControlPlane(member.machine) && isJoining(member)),
    outdated: joined.filter((member) => isOutdated(member, fleet)).length,
    failed: members.flatMap(failureOf),
    // What failed before it was to go is over.
    deleteTrouble: leaving.flatMap((member) => (reasonOf(member) === 'CleanUpFailed' ? failureOf(member) : [])),
    waits: firstOf([...missing, ...leaving].map(waitOf)),
  };
}

function firstOf(troubles: readonly Trouble[]): Trouble | undefined {
  return troubles[0];
}

/** Of what is being deleted nothing is wanted. */
function sizeOf(object: KubeObject | undefined): number {
  if (object === undefined || isGoing(object)) return 0;
  return numberAt(object, 'spec', 'replicas') ?? 1;
}

function countOf(members: readonly Member[]): StateInput['joined'] {
  const controlPlane = members.filter(({ machine }) => isControlPlane(machine)).length;
  return { controlPlane, workers: members.length - controlPlane };
}

function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function hasNode(machine: KubeObject): boolean {
  return textAt(machine, 'status', 'nodeRef', 'name') !== undefined;
}

function controlPlaneFirst(a: Member, b: Member): number {
  const order = Number(isControlPlane(b.machine)) - Number(isControlPlane(a.machine));
  return order === 0 ? a.machine.metadata.name.localeCompare(b.machine.metadata.name) : order;
}

function isJoining({ bkeMachine }: Member): boolean {
  const bootstrapped = conditionOf(bkeMachine, 'Bootstrapped');
  return (
    bootstrapped?.status === 'True' ||
    bootstrapped?.reason === 'Bootstrapping' ||
    bootstrapped?.reason === 'BootstrapFailed'
  );
}

function isOutdated({ machine }: Member, { controlPlane, deployments }: Fleet): boolean {
  const owner = isControlPlane(machine) ? controlPlane : deploymentOf(machine, deployments);
  const wanted = textAt(owner, 'spec', 'version') ?? textAt(owner, 'spec', 'template', 'spec', 'version');
  return wanted !== undefined && textAt(machine, 'spec', 'version') !== wanted;
}

function deploymentOf(machine: KubeObject, deployments: readonly KubeObject[]): KubeObject | undefined {
  const name = machine.metadata.labels?.[coreLabels.deployment];
  return deployments.find(({ metadata }) => metadata.name === name);
}

function reasonOf({ bkeMachine }: Member): string | undefined {
  return conditionOf(bkeMachine, 'Ready')?.reason;
}

function failureOf(member: Member): Trouble[] {
  const ready = conditionOf(member.bkeMachine, 'Ready');
  if (ready === undefined || ready.status === 'True' || !failureReasons.has(ready.reason)) return [];
  return [{ ...placeOf(member), message: toldOf(member, ready.message) }];
}

function waitOf(member: Member): Trouble {
  const { machine, bkeMachine } = member;
  const { name } = machine.metadata;
  const ready = conditionOf(bkeMachine, 'Ready');
  if (isGoing(machine)) return { ...placeOf(member), message: toldOf(member, ready?.message ?? 'it is going') };
  if (ready === undefined) return { message: `${name}: nobody has begun with it yet` };
  if (ready.status !== 'True') return { ...placeOf(member), message: toldOf(member, ready.message) };
  return { ...placeOf(member), message: `${name}: its host has become a node, which Cluster API has not seen yet` };
}

/** What begins with the host's name needs no machine's. */
function toldOf({ machine, bkeMachine }: Member, message: string): string {
  const host = textAt(bkeMachine, 'spec', 'hostRef', 'name');
  const byHost = host === undefined ? '' : named(host, message);
  return byHost === message ? message : named(machine.metadata.name, message);
}

function placeOf({ bkeMachine, command }: Member): Pick<Trouble, 'host' | 'step'> {
  const host = textAt(bkeMachine, 'spec', 'hostRef', 'name');
  const steps = listAt(command, 'status', 'steps');
  const at = steps.find((step) => ['Failed', 'Running'].includes(String(fieldAt(step, 'state'))));
  return { host, step: textAt(at, 'id') };
}
