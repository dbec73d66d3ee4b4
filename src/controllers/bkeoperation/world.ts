// A cluster and all that it is made of, as it was last seen.
import { coreLabels, hostLabels } from '../../cluster/render/names.ts';
import type { KubeObject, ResourceKind } from '../../kube/client.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { commandKind, hostKind } from '../bkehost/host.ts';
import {
  bkeClusterKind,
  bkeMachineKind,
  clusterKind,
  controlPlaneKind,
  deploymentKind,
  isControlPlane,
  machineKind,
  operationKind,
} from '../cluster-objects.ts';

export const kinds = {
  operation: operationKind,
  cluster: clusterKind,
  machine: machineKind,
  deployment: deploymentKind,
  controlPlane: controlPlaneKind,
  bkeCluster: bkeClusterKind,
  bkeMachine: bkeMachineKind,
  host: hostKind,
  command: commandKind,
} as const satisfies Readonly<Record<string, ResourceKind>>;

export type KindName = keyof typeof kinds;

export interface ClusterName {
  readonly namespace: string;
  readonly name: string;
}

export interface World extends ClusterName {
  readonly cluster: KubeObject | undefined;
  readonly bkeCluster: KubeObject | undefined;
  readonly controlPlane: KubeObject | undefined;
  readonly deployments: readonly KubeObject[];
  readonly nodes: readonly NodeView[];
}

/** One host, and the machine that has it. */
export interface NodeView {
  readonly name: string;
  readonly host: KubeObject;
  readonly pool: 'control-plane' | 'workers';
  readonly command: KubeObject | undefined;
  readonly bkeMachine: KubeObject | undefined;
  readonly machine: KubeObject | undefined;
}

/** All that is watched, or was listed, of one kind in the cluster's namespace. */
export type Listed = (kind: KindName) => readonly KubeObject[];

export function worldOf({ namespace, name }: ClusterName, listed: Listed): World {
  const here = (kind: KindName): readonly KubeObject[] =>
    listed(kind).filter(({ metadata }) => metadata.namespace === namespace);
  const own = (kind: KindName): readonly KubeObject[] => here(kind).filter((object) => isOf(object, name));
  const cluster = here('cluster').find((object) => object.metadata.name === name);
  const bkeClusterName = textAt(cluster, 'spec', 'infrastructureRef', 'name') ?? name;
  const controlPlaneName = textAt(cluster, 'spec', 'controlPlaneRef', 'name');
  return {
    namespace,
    name,
    cluster,
    bkeCluster: here('bkeCluster').find((object) => object.metadata.name === bkeClusterName),
    controlPlane: here('controlPlane').find((object) => object.metadata.name === controlPlaneName),
    deployments: own('deployment'),
    nodes: nodesOf(name, {
      hosts: here('host'),
      commands: here('command'),
      bkeMachines: own('bkeMachine'),
      machines: own('machine'),
    }),
  };
}

interface Parts {
  readonly hosts: readonly KubeObject[];
  readonly commands: readonly KubeObject[];
  readonly bkeMachines: readonly KubeObject[];
  readonly machines: readonly KubeObject[];
}

export function isInitialised({ cluster, controlPlane }: Pick<World, 'cluster' | 'controlPlane'>): boolean {
  return (
    fieldAt(cluster, 'status', 'initialization', 'controlPlaneInitialized') === true ||
    fieldAt(controlPlane, 'status', 'initialization', 'controlPlaneInitialized') === true
  );
}

/** Hosts that are meant for the cluster, and those that it has taken. */
function nodesOf(cluster: string, { hosts, commands, bkeMachines, machines }: Parts): NodeView[] {
  const byName = (objects: readonly KubeObject[]) => new Map(objects.map((object) => [object.metadata.name, object]));
  const [bkeMachineOf, commandOf] = [byName(bkeMachines), byName(commands)];
  const machineOf = new Map(machines.map((object) => [textAt(object, 'spec', 'infrastructureRef', 'name'), object]));
  const views = hosts.flatMap((host): NodeView[] => {
    const consumer = textAt(host, 'spec', 'consumerRef', 'name');
    const bkeMachine = consumer === undefined ? undefined : bkeMachineOf.get(consumer);
    if (bkeMachine === undefined && host.metadata.labels?.[hostLabels.cluster] !== cluster) return [];
    const machine = consumer === undefined ? undefined : machineOf.get(consumer);
    const { name } = host.metadata;
    return [{ name, host, pool: poolOf(host, bkeMachine), command: commandOf.get(name), bkeMachine, machine }];
  });
  return views.toSorted((a, b) => compare(a.pool, b.pool) || compare(a.name, b.name));
}

function poolOf(host: KubeObject, bkeMachine: KubeObject | undefined): NodeView['pool'] {
  if (bkeMachine !== undefined) return isControlPlane(bkeMachine) ? 'control-plane' : 'workers';
  return host.metadata.labels?.[hostLabels.pool] === 'control-plane' ? 'control-plane' : 'workers';
}

function isOf({ metadata }: KubeObject, cluster: string): boolean {
  return metadata.labels?.[coreLabels.cluster] === cluster;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
