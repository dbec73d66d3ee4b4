// The network of a bed: a bridge with an address of this machine, and a table that lets nothing out and counts what tried.
import { readFile, writeFile } from 'node:fs/promises';
import { exists } from '../files.ts';
import { say } from '../log.ts';
import { run, TestbedError } from '../run.ts';
import type { Bed } from './bed.ts';

/** Whether a link of the bridge's name exists. */
export async function bridgeExists(bed: Bed): Promise<boolean> {
  return exists(`/sys/class/net/${bed.bridge}`);
}

/** Makes the bridge and the table where they are missing. */
export async function makeNetwork(bed: Bed): Promise<void> {
  if (!(await bridgeExists(bed))) {
    await run(['ip', 'link', 'add', bed.bridge, 'type', 'bridge']);
    await run(['ip', 'address', 'add', `${bed.gateway}/24`, 'dev', bed.bridge]);
  }
  await run(['ip', 'link', 'set', bed.bridge, 'up']);
  await run(['nft', '-f', '-'], { input: ruleset(bed) });
}

const inotifyFile = '/proc/sys/fs/inotify/max_user_instances';
const leastInotify = 1024;

/** All hosts share this limit of the machine: what systemd, containerd and kubelet of each need. Never made less, nor set back: others may need it by then. */
export async function raiseInotifyLimit(): Promise<void> {
  const before = Number(await readFile(inotifyFile, 'utf8'));
  if (before >= leastInotify) return;
  await writeFile(inotifyFile, `${leastInotify}\n`);
  say(`fs.inotify.max_user_instances of this machine: ${before} -> ${leastInotify}, until the next boot`);
}

/** Refuses to touch a bridge that the record doesn't know. */
export async function refuseForeignBridge(bed: Bed): Promise<void> {
  if (await bridgeExists(bed)) {
    const remove = `ip link delete ${bed.bridge}`;
    throw new TestbedError(
      `a link ${bed.bridge} exists that ${bed.folder}/record.json does not know; if nothing uses it: ${remove}`,
    );
  }
}

/**
 * Removes the link of a host whose machine has ended: its network lives on while the kernel ends its last connections, and its next machine could
 * not have a link of the same name. The name may be longer than a link's own; it is then its other name.
 */
export async function removeLink(bed: Bed, host: string): Promise<void> {
  const link = `vb-tb${bed.id}-${host}`;
  const { stderr } = await run(['ip', 'link', 'delete', link], { allowed: [0, 1] });
  if (stderr !== '' && !/Cannot find device|does not exist/.test(stderr)) throw new TestbedError(stderr.trim());
}

/** Removes bridge and table. */
export async function removeNetwork(bed: Bed): Promise<void> {
  if (await bridgeExists(bed)) await run(['ip', 'link', 'delete', bed.bridge]);
  await run(['nft', '-f', '-'], { input: `table inet ${bed.table} {}\ndelete table inet ${bed.table}\n` });
}

/**
 * Every packet from a host to an address outside the network is recorded in a set with its counter and refused at once,
 * so that a program that tries it fails instead of hanging. Link-local multicast and the network's broadcast stay inside
 * by nature and aren't counted.
 */
function ruleset(bed: Bed): string {
  return `table inet ${bed.table} {}
delete table inet ${bed.table}
table inet ${bed.table} {
  set flows4 { type ipv4_addr . ipv4_addr . inet_proto . inet_service; flags dynamic; size 65535; counter; }
  set others4 { type ipv4_addr . ipv4_addr . inet_proto; flags dynamic; size 65535; counter; }
  set others6 { type ipv6_addr . ipv6_addr . inet_proto; flags dynamic; size 65535; counter; }
  chain outside {
    type filter hook prerouting priority raw; policy accept;
    iifname != "${bed.bridge}" return
    ip daddr { ${bed.network}, 224.0.0.0/24 } return
    ip6 daddr { fe80::/10, ff02::/16 } return
    meta l4proto { tcp, udp } add @flows4 { ip saddr . ip daddr . meta l4proto . th dport counter }
    meta l4proto != { tcp, udp } add @others4 { ip saddr . ip daddr . meta l4proto counter }
    meta nfproto ipv6 add @others6 { ip6 saddr . ip6 daddr . meta l4proto counter }
    reject with icmpx type admin-prohibited
  }
}
`;
}
