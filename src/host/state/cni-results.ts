// What the runtime remembers of pods' network attachments: one file each, beside those of other programs that use network plugins.
import type { Host } from '../host.ts';
import type { PodNetworks } from './iptables.ts';
import type { KnownPath } from './known-paths.ts';

const folder = '/var/lib/cni/results';

/** Files are named NETWORK-CONTAINER-INTERFACE (containernetworking/cni libcni/api.go). */
export async function readCniResults(host: Host, networks: PodNetworks): Promise<KnownPath[]> {
  if ((await host.files.stat(folder))?.type !== 'directory') return [];
  const isOwn = (name: string): boolean => networks.has(/^(.+)-[0-9a-f]{64}-[^-]+$/.exec(name)?.[1] ?? '');
  const own = (await host.files.list(folder)).filter(isOwn);
  return own.map((name) => ({
    path: `${folder}/${name}`,
    kind: 'file',
    what: "a pod's network attachment",
    mark: 'needsProof',
    passing: true,
  }));
}
