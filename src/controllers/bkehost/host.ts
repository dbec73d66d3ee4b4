// A BKEHost as its controller reads it.
import { type BKEHostSpec, bkeHost } from '../../api/kinds/bke-host.ts';
import { hostVersion } from '../../cluster/render/names.ts';
import type { KubeObject, ObjectKey, ResourceKind } from '../../kube/client.ts';

export const hostKind: ResourceKind = { apiVersion: hostVersion, kind: 'BKEHost' };
export const commandKind: ResourceKind = { apiVersion: hostVersion, kind: 'HostCommand' };
export const leaseKind: ResourceKind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

/** Holds a host back from going until bke is off the machine. It is there as soon as something of bke may be. */
export const hostFinalizer = 'bke.io/enrolled';
/** Holds a host back until the Secret that bke wrote for it is gone, so that none is left where nobody looks. */
export const secretFinalizer = 'bke.io/secret';
/** On an agent's objects: the name of its host. */
export const agentLabel = 'bke.io/host';

export const annotations = {
  /** Lets a host go although nobody cleaned it: for machines that are gone for good. */
  forceDelete: 'bke.io/force-delete',
  /** Name of the operation by which somebody asked for the host last: what failed before is tried again at once. On a HostCommand: the one it was given for. */
  asked: 'bke.io/asked',
  paused: 'cluster.x-k8s.io/paused',
  moving: 'clusterctl.cluster.x-k8s.io/delete-for-move',
} as const;

export interface HostName {
  readonly namespace: string;
  readonly name: string;
}

export interface HostView extends HostName {
  readonly object: KubeObject;
  readonly spec: BKEHostSpec;
  readonly generation: number;
  readonly deleting: boolean;
}

export function keyText({ namespace, name }: HostName): string {
  return `${namespace}/${name}`;
}

export function nameOf(key: string): HostName {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

export function objectName({ metadata: { namespace = 'default', name } }: KubeObject): HostName {
  return { namespace, name };
}

export function hostKey({ namespace, name }: HostName): ObjectKey {
  return { ...hostKind, namespace, name };
}

/** The API server holds its objects to the same schema. */
export function viewOf(object: KubeObject): HostView {
  const { generation = 0, deletionTimestamp } = object.metadata;
  return {
    ...objectName(object),
    object,
    spec: bkeHost.shape.spec.parse(object['spec']),
    generation,
    deleting: deletionTimestamp !== undefined,
  };
}

/** Nothing is done to it: somebody said so, or it is on its way into another cluster. */
export function isPaused({ metadata }: KubeObject): boolean {
  const found = metadata.annotations ?? {};
  return found[annotations.paused] !== undefined || found[annotations.moving] !== undefined;
}

/** clusterctl deletes it here, because it has made it in another cluster. */
export function isMoving({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[annotations.moving] !== undefined;
}

/** What the host, or its command, is asked for by; undefined: by nothing that anybody waits for. */
export function askedBy({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[annotations.asked];
}
