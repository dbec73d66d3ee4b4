// Which cluster goes on counting on this host after a reset, as far as the host itself can tell.
import type { Host } from '../../host/host.ts';
import { unitFolder } from '../../host/systemd.ts';
import { readSettings } from '../agent/configuration.ts';
import { kubeletPaths } from '../node/kubelet-config.ts';
import type { ResetFlags } from './reset-plan.ts';

export interface HostClaim {
  /** The BKEHost of this host, `namespace/name`. */
  readonly host: string;
  readonly namespace: string;
  readonly name: string;
  /** An API server of the cluster that it is enrolled in. */
  readonly server: string;
  /** Of the node that a machine made of it; undefined: none did. */
  readonly providerID: string | undefined;
}

/** undefined: no agent was installed here, or nothing of what it was told can be read. */
export async function readClaim(host: Host): Promise<HostClaim | undefined> {
  const settings = await readSettings(host).catch(() => undefined);
  const server = settings?.servers[0];
  if (settings === undefined || server === undefined) return undefined;
  const { namespace, host: name } = settings;
  return { host: `${namespace}/${name}`, namespace, name, server, providerID: await readProviderID(host) };
}

/** bke's own kubelet unit has it. */
async function readProviderID(host: Host): Promise<string | undefined> {
  const unit = await host.files.read(`${unitFolder}/${kubeletPaths.unit}`).catch(() => undefined);
  return /--provider-id=(bke:\/\/[^\s"']+)/.exec(unit?.toString('utf8') ?? '')?.[1];
}

/** What a host is that somebody takes for a bootstrap node, and where it is told of. */
export function claimLine({ namespace, name, server, providerID }: HostClaim): string {
  const what = providerID === undefined ? 'a host' : 'a node';
  return `${what} of a cluster: host ${name} in namespace ${namespace} of the management cluster at ${server}`;
}

/** Its kubeconfig is on the bootstrap node and not on this host. */
const there = 'kubectl --kubeconfig FILE';

/** What a person should know before the answer: a reset tells no cluster. */
export function claimNotes(claim: HostClaim | undefined, { all }: ResetFlags): string[] {
  if (claim === undefined) return [];
  const { host, namespace, name, server, providerID } = claim;
  const machine =
    providerID === undefined
      ? []
      : [
          `A machine has this host (${providerID}), and the cluster at ${server} goes on counting on it. Delete the machine there instead, and Kubernetes goes off this host as well; or delete it after this reset: ${there} -n ${namespace} get machines -o wide`,
        ];
  const enrolled = all
    ? [
        `The cluster at ${server} knows this host as ${host} and does not take it again by itself: its condition AgentReady then says HostReset and how. Out of there: ${there} -n ${namespace} delete bkehost ${name}`,
      ]
    : [];
  return [...machine, ...enrolled];
}
