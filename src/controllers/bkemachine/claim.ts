// The claim of a host: one patch that only succeeds on the very version of the host that was looked at.
import { randomBytes } from 'node:crypto';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import { type HostName, hostKey, objectName } from '../bkehost/host.ts';
import { hostAnnotations } from './marks.ts';

export const fieldManager = 'bke-controller-machines';

export interface Claimant extends HostName {
  readonly cluster: string;
  /** Name of the Machine. */
  readonly machine: string;
}

/** @returns the host as it is then; undefined where somebody else wrote to it or it may not be claimed (any more) */
export async function claimHost(
  client: Pick<KubeClient, 'patch'>,
  host: KubeObject,
  { namespace, name, cluster, machine }: Claimant,
): Promise<KubeObject | undefined> {
  const { resourceVersion } = host.metadata;
  const annotations = {
    [hostAnnotations.machine]: machine,
    [hostAnnotations.lastCluster]: cluster,
    [hostAnnotations.preparedFor]: null,
    [hostAnnotations.cleaned]: null,
  };
  const spec = { consumerRef: { namespace, name }, claimID: randomBytes(5).toString('hex') };
  try {
    return await patchHost(client, host, { metadata: { resourceVersion, annotations }, spec });
  } catch (thrown) {
    // A rule of the host speaks against it: one in quarantine cannot be claimed.
    if (thrown instanceof BkeError && thrown.code === 'BKE_KUBE_REFUSED') return undefined;
    throw thrown;
  }
}

/** From now on nobody may take it for clean. @returns the host as it is then; undefined where somebody else wrote to it */
export async function markUnclean(
  client: Pick<KubeClient, 'patch'>,
  host: KubeObject,
): Promise<KubeObject | undefined> {
  const { resourceVersion } = host.metadata;
  return patchHost(client, host, { metadata: { resourceVersion }, spec: { cleanUpPending: true } });
}

/** The agent has confirmed it, for this claim. @returns false where somebody else wrote to the host: it may have another one by now */
export async function markClean(
  client: Pick<KubeClient, 'patch'>,
  host: KubeObject,
  claimID: string,
): Promise<boolean> {
  const { resourceVersion } = host.metadata;
  const annotations = { [hostAnnotations.cleaned]: claimID, [hostAnnotations.preparedFor]: null };
  const patch = { metadata: { resourceVersion, annotations }, spec: { cleanUpPending: null } };
  return (await patchHost(client, host, patch)) !== undefined;
}

/** Gives the host back. @param quarantine it was not cleaned: nobody gets it before a person has looked */
export async function releaseHost(
  client: Pick<KubeClient, 'patch'>,
  host: KubeObject,
  quarantine?: { readonly reason: string; readonly since: string },
): Promise<boolean> {
  const { resourceVersion } = host.metadata;
  const annotations = { [hostAnnotations.machine]: null, [hostAnnotations.cleaned]: null };
  const spec = {
    consumerRef: null,
    claimID: null,
    cleanUpPending: null,
    ...(quarantine === undefined ? {} : { quarantine }),
  };
  return (await patchHost(client, host, { metadata: { resourceVersion, annotations }, spec })) !== undefined;
}

/** undefined: another version of it is there, which is looked at again. */
async function patchHost(
  client: Pick<KubeClient, 'patch'>,
  host: KubeObject,
  patch: object,
): Promise<KubeObject | undefined> {
  try {
    return await client.patch(hostKey(objectName(host)), patch, { type: 'merge', fieldManager });
  } catch (thrown) {
    if (thrown instanceof BkeError && thrown.code === 'BKE_KUBE_CONFLICT') return undefined;
    throw thrown;
  }
}
