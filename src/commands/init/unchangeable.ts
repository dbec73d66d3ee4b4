// Settings that a bootstrap cluster keeps for its life: changing them means another cluster, which init never makes in place of one that stands.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import type { Host } from '../../host/host.ts';
import { readLedger } from '../../host/ledger/ledger.ts';
import { BkeError } from '../../lib/errors.ts';

/**
 * @param last settings of the last init
 * @throws BkeError BKE_BOOTSTRAP_CHANGED that lists every such setting, where the host has a cluster or a runtime that was made with the last ones.
 */
export async function refuseOtherCluster(
  host: Host,
  last: BootstrapSettings,
  wanted: BootstrapSettings,
): Promise<void> {
  const changes = changesOf(last, wanted);
  if (changes.length === 0) return;
  const ledger = await readLedger(host);
  if (ledger.resources(['bootstrap-cluster']).length === 0) return;
  throw new BkeError(
    'BKE_BOOTSTRAP_CHANGED',
    'this host was set up with other settings, which cannot be changed now:',
    {
      host: host.name,
      details: changes,
      hint: 'Leave them as they were, or take the cluster away first: bke reset leaves the local services. Then run the same command again.',
    },
  );
}

function changesOf(last: BootstrapSettings, wanted: BootstrapSettings): string[] {
  const lines = [line('the bootstrap cluster', last.bootstrap, wanted.bootstrap)];
  // A kubeadm cluster runs on the very containerd that is there without a cluster.
  if (last.bootstrap === 'none') return wanted.bootstrap === 'k3s' ? lines.flat() : [];
  return [
    ...lines,
    line('the block of the pods', last.network.podCIDR, wanted.network.podCIDR),
    line('the block of the services', last.network.serviceCIDR, wanted.network.serviceCIDR),
    line('the address of this host', last.hostIP, wanted.hostIP),
    line('the Kubernetes port', String(last.ports.kubernetes), String(wanted.ports.kubernetes)),
  ].flat();
}

function line(what: string, before: string, now: string): string[] {
  return before === now ? [] : [`${what} was ${before}, and would be ${now}`];
}
