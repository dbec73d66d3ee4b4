// Network links that Kubernetes' network programs make, known by name and kind together: a name alone may be the user's.
import { z } from 'zod';
import type { Host } from '../host.ts';
import { parseAnswer, programOutput } from './program.ts';

export interface Link {
  readonly index: number;
  readonly name: string;
  /** `bridge`, `vxlan`, `veth`, …; empty for hardware. */
  readonly kind: string;
  /** Name of the bridge or bond it is a port of. */
  readonly master?: string;
}

interface KnownLink {
  readonly name: RegExp;
  readonly kinds: readonly string[];
  readonly maker: string;
}

// A dummy carries nobody's traffic: under a name as particular as these it is what a network program left.
const knownLinks: readonly KnownLink[] = [
  { name: /^cni0$/, kinds: ['bridge'], maker: 'the CNI bridge' },
  { name: /^cbr0$/, kinds: ['bridge'], maker: 'the CNI bridge' },
  { name: /^kube-bridge$/, kinds: ['bridge'], maker: 'kube-router' },
  { name: /^flannel\.[0-9]+$/, kinds: ['vxlan', 'dummy'], maker: 'flannel' },
  { name: /^flannel-v6\.[0-9]+$/, kinds: ['vxlan', 'dummy'], maker: 'flannel' },
  { name: /^flannel-wg(-v6)?$/, kinds: ['wireguard'], maker: 'flannel' },
  { name: /^flannel0$/, kinds: ['tun'], maker: 'flannel' },
  { name: /^vxlan(-v6)?\.calico$/, kinds: ['vxlan'], maker: 'Calico' },
  { name: /^cali[0-9a-f]{11}$/, kinds: ['veth'], maker: 'Calico' },
  { name: /^(wireguard|wg-v6)\.cali$/, kinds: ['wireguard'], maker: 'Calico' },
  { name: /^cilium_(net|host)$/, kinds: ['veth'], maker: 'Cilium' },
  { name: /^cilium_vxlan$/, kinds: ['vxlan'], maker: 'Cilium' },
  { name: /^cilium_geneve$/, kinds: ['geneve'], maker: 'Cilium' },
  { name: /^cilium_wg0$/, kinds: ['wireguard'], maker: 'Cilium' },
  { name: /^cilium_ipip[46]$/, kinds: ['ipip', 'ip6tnl'], maker: 'Cilium' },
  { name: /^lxc(_health|[0-9a-f]{12})$/, kinds: ['veth'], maker: 'Cilium' },
  { name: /^kube-ipvs0$/, kinds: ['dummy'], maker: 'kube-proxy' },
  { name: /^kube-dummy-if$/, kinds: ['dummy'], maker: 'kube-router' },
  { name: /^nodelocaldns$/, kinds: ['dummy'], maker: 'the node-local DNS cache' },
];

/** The bridges whose veth ports belong to pods. */
const podBridges = new Set(['cni0', 'cbr0', 'kube-bridge']);

const linkRows = z.array(
  z.object({
    ifindex: z.number().optional(),
    ifname: z.string().optional(),
    master: z.string().optional(),
    linkinfo: z.object({ info_kind: z.string().optional() }).optional(),
  }),
);

/** Parses `ip -j -d link show`. */
export function parseLinks(json: string | undefined): Link[] {
  const rows = parseAnswer(json, linkRows, []);
  return rows.flatMap((row) =>
    row.ifname === undefined || row.ifindex === undefined
      ? []
      : [
          {
            index: row.ifindex,
            name: row.ifname,
            kind: row.linkinfo?.info_kind ?? '',
            ...(row.master === undefined ? {} : { master: row.master }),
          },
        ],
  );
}

export async function readLinks(host: Host): Promise<Link[]> {
  return parseLinks(await programOutput(host, ['ip', '-j', '-d', 'link', 'show']));
}

/** Who made a link; undefined where it is not known to be Kubernetes'. */
export function linkMaker(link: Link, all: readonly Link[]): string | undefined {
  const known = knownLinks.find((entry) => entry.name.test(link.name) && entry.kinds.includes(link.kind));
  if (known !== undefined) return known.maker;
  const bridge = all.find((other) => other.name === link.master);
  if (link.kind === 'veth' && bridge !== undefined && podBridges.has(bridge.name) && bridge.kind === 'bridge') {
    return `a pod on ${bridge.name}`;
  }
  return undefined;
}

/** Ports of a bridge that are not pods': hardware, bonds, tunnels somebody put there. */
export function foreignPorts(link: Link, all: readonly Link[]): Link[] {
  if (link.kind !== 'bridge') return [];
  return all.filter((port) => port.master === link.name && port.kind !== 'veth' && linkMaker(port, all) === undefined);
}
