// The order `bootstrap`: makes the prepared host a node by what its inbox has. And the order `reset`. Pure.
import type { BKEHostSpec } from '../../api/kinds/bke-host.ts';
import type { KubeObject } from '../../kube/client.ts';
import { settingsOf } from './prepare.ts';
import type { Order } from './command-id.ts';

export interface BootstrapInput {
  readonly host: { readonly name: string; readonly spec: BKEHostSpec };
  readonly claimID: string;
  readonly providerID: string;
  /** Of the bytes in the inbox. */
  readonly digest: string;
  readonly bkeCluster: KubeObject | undefined;
  readonly controlPlane: boolean;
}

export const inboxKey = 'value';

export function bootstrapOrder({ host, claimID, providerID, digest, bkeCluster, controlPlane }: BootstrapInput): Order {
  const metadata = { hostname: host.name, address: host.spec.nodeIP ?? host.spec.address, instanceID: providerID };
  const kubeProxy = settingsOf(bkeCluster, 'kubeProxy');
  const parameters = {
    metadata,
    key: inboxKey,
    digest,
    ...taintsOf(host.spec, controlPlane),
    // Only the host that makes the cluster has a file for it: all others take what the cluster has.
    ...(controlPlane && Object.keys(kubeProxy).length > 0 ? { kubeProxy } : {}),
  };
  return { purpose: 'bootstrap', claim: claimID, steps: [{ id: 'bootstrap', task: 'bootstrap-data', parameters }] };
}

/** Which roles a control plane's host has decides whether it takes pods, too. */
function taintsOf({ taints = [], roles }: BKEHostSpec, controlPlane: boolean): object {
  const takesPods = controlPlane && roles.includes('worker');
  return taints.length === 0 && !takesPods ? {} : { taints: { own: taints, takesPods } };
}

/** @param claim whose clean-up it is */
export function resetOrder(claim: string): Order {
  return { purpose: 'reset', claim, steps: [{ id: 'reset', task: 'reset', parameters: { scope: 'node' } }] };
}
