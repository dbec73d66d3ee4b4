// What a cluster gets besides Kubernetes: its network first, then the add-ons that it asks for. Pure.
import type { KubeObject } from '../../kube/client.ts';
import { listAt, textAt } from '../../kube/fields.ts';

export interface PlannedAddon {
  readonly name: string;
  /** Of the manifest or chart; undefined: the newest there is. */
  readonly version: string | undefined;
  /** network: flannel; manifest: a manifest of a release; chart: by Helm. */
  readonly kind: 'network' | 'manifest' | 'chart';
}

export function plannedAddons(bkeCluster: KubeObject): PlannedAddon[] {
  const network: PlannedAddon[] =
    textAt(bkeCluster, 'spec', 'cni') === 'flannel' ? [{ name: 'flannel', version: undefined, kind: 'network' }] : [];
  const others = listAt(bkeCluster, 'spec', 'addons').flatMap((addon): PlannedAddon[] => {
    const name = textAt(addon, 'name');
    if (name === undefined || (name === 'flannel' && network.length > 0)) return [];
    const kind = textAt(addon, 'chart') === undefined ? 'manifest' : 'chart';
    return [{ name, version: textAt(addon, 'version'), kind }];
  });
  return [...network, ...others];
}

export type AddonPhase = 'Waiting' | 'Applying' | 'Applied' | 'Ready' | 'Failed';

export interface AddonStatus {
  readonly name: string;
  readonly version?: string;
  readonly phase: AddonPhase;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}
