// What preflight checks look at: a host as its facts tell, in the checks' own terms.
import type { HostFacts } from '../../host/facts/schema.ts';
import { parseCidr } from '../../lib/cidr.ts';
import type { HostNeeds } from './check.ts';
import { podLinks } from './host-address.ts';

export interface Listener {
  readonly port: number;
  readonly address: string;
  readonly pid: number | undefined;
  readonly program: string | undefined;
  /** It is one of bke's own services. */
  readonly ours: boolean;
}

export interface DirectoryFound {
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
  readonly type: 'directory' | 'link' | 'file' | 'other';
}

/** Something that runs or starts containers, or Kubernetes, on the host. */
interface RuntimeFound {
  /** e.g. `containerd.service (active)`. */
  readonly what: string;
  readonly ours: boolean;
}

interface NetworkFound {
  readonly cidr: string;
  readonly what: string;
  /** Of this host in it, where it is the network of a link. */
  readonly address?: string;
}

interface FreeSpace {
  /** Mount point. */
  readonly fileSystem: string;
  readonly bytes: number;
  readonly readOnly: boolean;
}

export interface Machine {
  readonly hostname: string;
  readonly machineId: string | undefined;
  readonly bootId: string | undefined;
  /** It shares the kernel, and with it the clock, of the machine it runs on. */
  readonly container: boolean;
  readonly root: boolean;
  /** amd64, arm64, else as uname has it. */
  readonly architecture: string;
  readonly glibc: { readonly kind: 'glibc' | 'other'; readonly version: string | undefined };
  /** Highest symbol version of libstdc++, e.g. 3.4.30; undefined where there is none. */
  readonly glibcxx: string | undefined;
  readonly systemd: { readonly running: boolean; readonly version: number | undefined };
  readonly cgroup: HostFacts['cgroup']['version'];
  /** Controllers of control groups that the kernel has. */
  readonly controllers: readonly string[];
  /** e.g. 5.10.0-28-amd64 */
  readonly kernel: string;
  readonly modules: HostFacts['modules'];
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Swap files and devices in use. */
  readonly swap: readonly string[];
  readonly defaultRoute: boolean;
  /** Blocks of addresses that mean something on this host, those of pod networks left out. */
  readonly networks: readonly NetworkFound[];
  readonly now: Date;
  /** Against the clock of who asked. */
  readonly clock: HostFacts['clock'];
  /** Programs that keep the clock, those that run. */
  readonly timeServices: readonly string[];
  /** undefined: the host does not tell. */
  readonly clockSynchronized: boolean | undefined;
  /** All its own addresses. */
  readonly addresses: readonly string[];
  /** Name servers as they would be given to pods: those behind systemd-resolved, else of /etc/resolv.conf. */
  readonly nameservers: readonly string[];
  readonly selinux: HostFacts['selinux'];
  readonly listeners: readonly Listener[];
  /** Where each path of the needs will be, and the free bytes there. */
  readonly free: ReadonlyMap<string, FreeSpace>;
  /** Programs of the needs that are not there. */
  readonly missingTools: readonly string[];
  /** Every existing directory on the way to the paths that must be reachable. */
  readonly directories: readonly DirectoryFound[];
  readonly runtimes: readonly RuntimeFound[];
  /** Firewalls that are active, e.g. firewalld. */
  readonly firewalls: readonly string[];
  /** A rule set of its own drops what no rule takes. */
  readonly dropsInput: boolean;
}

/** What bke itself put there; empty for a host that it never was on. */
export interface OwnThings {
  /** Services (without .service) whose unit bke wrote. */
  readonly services: ReadonlySet<string>;
  /** Processes whose program bke installed. */
  readonly pids: ReadonlySet<number>;
  readonly directories: readonly DirectoryFound[];
  /** Directories that bke lets Kubernetes and its companions fill, by the ledger. */
  readonly zones: ReadonlySet<string>;
}

const runtimeServices = ['containerd', 'docker', 'crio', 'kubelet', 'k3s', 'k3s-agent', 'rke2-server', 'rke2-agent'];
/** Names of processes that run or start containers. */
const runtimeProcesses = /^(?:containerd|dockerd|crio|kubelet|k3s|rke2|kube-)/;
const manifests = '/etc/kubernetes/manifests';
/** Where a cluster of before would get in the way of a new one. */
const clusterPlaces = [
  manifests,
  '/etc/kubernetes/admin.conf',
  '/etc/kubernetes/kubelet.conf',
  '/etc/kubernetes/pki',
  '/var/lib/etcd',
  '/etc/rancher',
];

const timeServices = ['systemd-timesyncd', 'chronyd', 'chrony', 'ntpd', 'ntp', 'ntpsec', 'openntpd'];
/** As systemd-detect-virt names them. */
const containers = new Set([
  'systemd-nspawn',
  'lxc',
  'lxc-libvirt',
  'docker',
  'podman',
  'openvz',
  'rkt',
  'wsl',
  'proot',
  'pouch',
]);

/** @param asked the clock of who asked, when the facts were gathered. */
export function machineOf(
  facts: HostFacts,
  needs: HostNeeds,
  { own, asked }: { readonly own: OwnThings; readonly asked: Date },
): Machine {
  return {
    hostname: facts.hostname,
    machineId: facts.machineId,
    bootId: facts.bootId,
    container: containers.has(facts.virtualization ?? ''),
    root: facts.uid === 0,
    architecture: facts.arch,
    glibc: { kind: facts.libc.kind, version: facts.libc.version },
    glibcxx: facts.libstdcxx,
    systemd: { running: facts.systemd.running, version: facts.systemd.version },
    cgroup: facts.cgroup.version,
    controllers: facts.cgroup.controllers,
    kernel: facts.kernel,
    modules: facts.modules,
    cpus: facts.cpus,
    memoryBytes: facts.memoryBytes,
    swap: facts.swap.map(({ name }) => name),
    defaultRoute: facts.routes.some(({ destination }) => destination === 'default'),
    networks: networksOf(facts),
    now: new Date(asked.getTime() + facts.clock.offsetMs),
    clock: facts.clock,
    timeServices: activeOf(facts, timeServices),
    clockSynchronized: facts.clockSynchronized,
    addresses: facts.addresses.map(({ address }) => address),
    nameservers: nameserversOf(facts),
    selinux: facts.selinux,
    listeners: facts.listeners.flatMap(({ protocol, port, address, pid, program }) =>
      protocol === 'tcp' ? [{ port, address, pid, program, ours: pid !== undefined && own.pids.has(pid) }] : [],
    ),
    free: new Map(
      facts.disks.map(({ path, mount, freeBytes, readOnly }) => [
        path,
        { fileSystem: mount, bytes: freeBytes, readOnly },
      ]),
    ),
    missingTools: needs.tools.filter((name) => facts.tools[name] === undefined),
    directories: own.directories,
    runtimes: runtimesOf(facts, own, needs.kubernetes === undefined ? [manifests] : clusterPlaces),
    firewalls: activeOf(facts, ['firewalld', 'ufw']),
    dropsInput: facts.inputPolicy === 'drop',
  };
}

function activeOf({ services }: Pick<HostFacts, 'services'>, names: readonly string[]): string[] {
  return services.flatMap(({ name, active }) => (names.includes(name) && active === 'active' ? [name] : []));
}

/** As the kubelet is told (src/tasks/node/kubernetes.ts). */
function nameserversOf({ services, resolver }: HostFacts): readonly string[] {
  const resolved = activeOf({ services }, ['systemd-resolved']).length > 0;
  return resolved && resolver.upstreamFile !== undefined ? resolver.upstreamNameservers : resolver.nameservers;
}

/** Services, then processes that none of them explains, then what a control plane left. */
function runtimesOf(facts: HostFacts, own: OwnThings, places: readonly string[]): RuntimeFound[] {
  const services = facts.services.filter(({ name }) => runtimeServices.includes(name));
  const found = services.map(({ name, active }) => ({
    what: `${name}.service (${active})`,
    ours: own.services.has(name),
  }));
  const running = services.some(({ active }) => active === 'active');
  const loose = running
    ? []
    : facts.processes.filter(({ pid, name }) => runtimeProcesses.test(name) && !own.pids.has(pid));
  const processes = loose.map(({ name, pid }) => ({ what: `the process ${name} (pid ${pid})`, ours: false }));
  const left = facts.traces.filter(({ path, entries }) => places.includes(path) && entries > 0);
  return [
    ...found,
    ...processes,
    ...left.map(({ path }) => ({ what: `what a cluster left in ${path}`, ours: isInZone(path, own.zones) })),
  ];
}

function isInZone(path: string, zones: OwnThings['zones']): boolean {
  return [...zones].some((zone) => path === zone || path.startsWith(`${zone}/`));
}

/** Addresses with their networks, and routes to networks behind others. */
function networksOf({ addresses, routes }: Pick<HostFacts, 'addresses' | 'routes'>): Machine['networks'] {
  const own = addresses.filter(({ link, scope }) => scope === 'global' && !podLinks.test(link));
  const beyond = routes.filter(({ destination, link }) => destination !== 'default' && !podLinks.test(link ?? ''));
  const found: NetworkFound[] = [
    ...own.map(({ address, prefix, link }) => ({
      cidr: `${address}/${prefix}`,
      what: `the network of ${link}`,
      address,
    })),
    ...beyond.map(({ destination, link, via }) => ({
      cidr: destination.includes('/') ? destination : `${destination}/${destination.includes(':') ? 128 : 32}`,
      what: `a route${via === undefined ? '' : ` by ${via}`}${link === undefined ? '' : ` on ${link}`}`,
    })),
  ];
  // The network of a link is a route too.
  return [...new Map(found.toReversed().map((network) => [parseCidr(network.cidr)?.text, network])).values()].reverse();
}
