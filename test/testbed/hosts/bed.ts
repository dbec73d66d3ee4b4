// Where a bed of hosts lives: its folder, bridge, network and cgroup names, so that several beds can stand side by side.
import { createHash } from 'node:crypto';
import path from 'node:path';

/** Names and places of one bed; all of them follow from its folder. */
export interface Bed {
  /** Number that is in all names; 0 is the default bed. */
  id: number;
  folder: string;
  bridge: string;
  /** First three bytes of the IPv4 network, a /24; this machine has `.1`. */
  prefix: string;
  gateway: string;
  network: string;
  /** nftables table (family inet) that keeps packets inside. */
  table: string;
  /** Name of the cgroup that holds one group per host. */
  group: string;
}

const defaultFolder = '/var/tmp/bke-testbed';

/** The bed of `BKE_TESTBED_DIR`, else the default one. */
export function currentBed(): Bed {
  const folder = path.resolve(process.env.BKE_TESTBED_DIR ?? defaultFolder);
  const id = folder === defaultFolder ? 0 : 1 + ((createHash('sha256').update(folder).digest()[0] ?? 0) % 254);
  const prefix = `10.213.${id}`;
  return {
    id,
    folder,
    bridge: `bketb${id}`,
    prefix,
    gateway: `${prefix}.1`,
    network: `${prefix}.0/24`,
    table: `bke_testbed_${id}`,
    group: `bke-testbed-${id}`,
  };
}

/** Folder of one host: its layers, keys and console. */
export function hostFolder(bed: Bed, name: string): string {
  return path.join(bed.folder, 'hosts', name);
}
