// What a create may not change of a cluster that is up: nothing would apply it, or a roll-out of the control plane would.
import { isDeepStrictEqual } from 'node:util';
import { hostLabels } from '../../cluster/render/names.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, keyOf } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { visible } from '../../lib/text.ts';
import { isInitialised } from '../../controllers/bkeoperation/world.ts';
import { type Existing, isComplete } from './existing.ts';

/** What of a cluster that is up only scale and upgrade may change. */
const guarded: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Cluster: [
    ['spec', 'clusterNetwork', 'pods', 'cidrBlocks'],
    ['spec', 'clusterNetwork', 'services', 'cidrBlocks'],
    ['spec', 'clusterNetwork', 'serviceDomain'],
    ['spec', 'clusterNetwork', 'apiServerPort'],
  ],
  BKECluster: [
    ['spec', 'controlPlaneEndpoint', 'host'],
    ['spec', 'controlPlaneEndpoint', 'port'],
    ['spec', 'cni'],
  ],
  KubeadmControlPlane: [
    ['spec', 'replicas'],
    ['spec', 'version'],
  ],
  MachineDeployment: [
    ['spec', 'replicas'],
    ['spec', 'template', 'spec', 'version'],
  ],
};

/** What nodes are made with: of a cluster whose nodes are all there nothing would apply it. */
const ofNodes: Readonly<Record<string, readonly (readonly string[])[]>> = {
  BKECluster: [
    ['spec', 'settings', 'kubelet'],
    ['spec', 'settings', 'kubeProxy'],
    ['spec', 'settings', 'containerd'],
    ['spec', 'registry'],
    ['spec', 'ntp'],
  ],
  BKEHost: [
    ['spec', 'roles'],
    ['spec', 'labels'],
    ['spec', 'taints'],
    ['spec', 'nodeIP'],
  ],
  // A change would roll every control plane node.
  KubeadmControlPlane: [
    ['spec', 'kubeadmConfigSpec', 'initConfiguration', 'nodeRegistration', 'ignorePreflightErrors'],
  ],
};

/** @param objects as they would be applied. @throws BkeError BKE_CLUSTER_EXISTS */
export async function refuseOtherShape(
  client: Pick<KubeClient, 'get'>,
  existing: Existing,
  objects: readonly KubeObject[],
): Promise<void> {
  const { cluster } = existing;
  if (cluster === undefined || !isInitialised({ cluster, controlPlane: undefined })) return;
  const differences = isComplete(existing) ? hostDifferences(existing, objects) : [];
  for (const object of objects) {
    const paths = pathsOf(object, existing);
    const before = paths.length === 0 ? undefined : await client.get(keyOf(object));
    if (before !== undefined) differences.push(...shapeDifferences(before, object, paths));
  }
  if (differences.length === 0) return;
  throw new BkeError(
    'BKE_CLUSTER_EXISTS',
    `cluster ${cluster.metadata.name} is up, and the file describes another one`,
    { details: differences, hint: 'Creating changes no cluster that is up: write into the file what is there.' },
  );
}

function pathsOf({ kind }: KubeObject, existing: Existing): readonly (readonly string[])[] {
  return [...(guarded[kind] ?? []), ...(isComplete(existing) ? (ofNodes[kind] ?? []) : [])];
}

/** Where all of it is up; before that a host that does not get well may be put in another's place. */
function hostDifferences({ cluster, hosts, otherHosts }: Existing, objects: readonly KubeObject[]): string[] {
  const added = objects.filter(({ kind, metadata }) => kind === 'BKEHost' && !hosts.has(metadata.name));
  const missing = otherHosts.filter(
    ({ metadata }) =>
      metadata.namespace === cluster?.metadata.namespace &&
      metadata.labels?.[hostLabels.cluster] === cluster?.metadata.name,
  );
  return [
    ...added.map(({ metadata }) => `host ${metadata.name} is not part of it`),
    ...missing.map(({ metadata }) => `host ${metadata.name} is part of it, and the file does not name it`),
  ];
}

function shapeDifferences(before: KubeObject, wanted: KubeObject, paths: readonly (readonly string[])[]): string[] {
  return paths.flatMap((path) => {
    const [is, says] = [fieldAt(before, ...path), fieldAt(wanted, ...path)];
    if (isDeepStrictEqual(is, says)) return [];
    const what = `${wanted.kind} ${wanted.metadata.name}: ${path.slice(1).join('.')}`;
    return [`${what} is ${shown(is)}, the file says ${shown(says)}`];
  });
}

function shown(value: unknown): string {
  if (value === undefined) return 'not set';
  return typeof value === 'string' ? value : visible(JSON.stringify(value), 200);
}
