// The fields of a BKECluster that are the controller's: applied together, because what one apply leaves out goes.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { dropFinalizer, identityOf } from '../object-status.ts';
import { clusterAnnotations, clusterFinalizer, fieldManager } from './marks.ts';

export interface Marks {
  readonly finalizer?: boolean;
  readonly provisioned?: boolean;
  readonly installed?: boolean;
}

export function marksOf(object: KubeObject): Marks {
  return {
    finalizer: hasFinalizer(object),
    provisioned: isMarked(object, clusterAnnotations.provisioned),
    installed: isMarked(object, clusterAnnotations.installed),
  };
}

export function hasFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(clusterFinalizer) === true;
}

export function isMarked({ metadata }: KubeObject, annotation: string): boolean {
  return metadata.annotations?.[annotation] === 'true';
}

/** @param wanted beside what the object has already @returns the object as it is then */
export async function applyMarks(
  client: Pick<KubeClient, 'apply' | 'patch'>,
  object: KubeObject,
  wanted: Marks,
): Promise<KubeObject> {
  const marks = { ...marksOf(object), ...wanted };
  const frame = identityOf(object);
  const annotations = {
    ...(marks.provisioned === true ? { [clusterAnnotations.provisioned]: 'true' } : {}),
    ...(marks.installed === true ? { [clusterAnnotations.installed]: 'true' } : {}),
  };
  const finalizers = marks.finalizer === true ? { finalizers: [clusterFinalizer] } : {};
  const own = { ...frame, metadata: { ...frame.metadata, annotations, ...finalizers } };
  const after = await client.apply(own, { fieldManager, force: true });
  if (marks.finalizer !== true) await dropFinalizer(client, after, { finalizer: clusterFinalizer, fieldManager });
  return after;
}
