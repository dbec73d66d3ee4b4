// Everything a reset looks at on a host, read in one go: it changes nothing and asks nothing of a file system that may be dead.
import type { Host } from '../host.ts';
import { readPodCgroups } from './cgroups.ts';
import { readCniResults } from './cni-results.ts';
import { readForeignContainers, readK3sContainers } from './containers.ts';
import { type PodNetworks, type RuleSet, readRules } from './iptables.ts';
import { readProxyServers, readSetNames, type VirtualServer } from './ipsets.ts';
import { type KnownPath, kubernetesPaths, podNetworkNames, sharedFolders, volumePaths } from './known-paths.ts';
import { type FoundKubeconfig, readKubeconfigs } from './kubeconfigs.ts';
import { type Link, readLinks } from './links.ts';
import { createReach, type Reach, readFstab, readMounts } from './mount-table.ts';
import type { Mount } from './mounts.ts';
import { readPodNamespaces } from './network-namespaces.ts';
import { type NftTable, readNftTables } from './nftables.ts';
import { type ProcessInfo, readProcesses } from './processes.ts';
import { type PolicyRule, type Route, readPolicyRules, readRoutes } from './routes.ts';
import { readSshSession, type SshSession } from './session.ts';
import { type KnownUnit, readKnownUnits } from './units.ts';

export interface FoundPath extends KnownPath {
  /** What the path leads to where it is a symbolic link that was followed (a data directory moved elsewhere). */
  readonly target?: string;
  /** Names in it, at most 20: for folders that go only when empty, and for what is kept. */
  readonly entries: readonly string[];
}

export interface NetworkState {
  readonly links: readonly Link[];
  readonly namespaces: readonly string[];
  readonly rules: readonly RuleSet[];
  readonly podNetworks: PodNetworks;
  readonly nftTables: readonly NftTable[];
  readonly sets: readonly string[];
  readonly virtualServers: readonly VirtualServer[];
  readonly routes: readonly Route[];
  readonly policyRules: readonly PolicyRule[];
}

export interface HostState {
  readonly units: readonly KnownUnit[];
  readonly processes: readonly ProcessInfo[];
  /** Of others in the containerd bke installed: it stays with them. */
  readonly foreignContainers: readonly string[];
  /** Of others in K3s's own containerd: the reset does not begin while they run. */
  readonly k3sContainers: readonly string[];
  readonly mounts: readonly Mount[];
  /** Of the directories below which mounts are looked for: where each really is. */
  readonly realPaths: ReadonlyMap<string, string>;
  /** Mount points of /etc/fstab. */
  readonly fstab: ReadonlySet<string>;
  readonly network: NetworkState;
  readonly cgroups: readonly string[];
  readonly paths: readonly FoundPath[];
  /** Paths on a network file system that doesn't answer: not looked at. */
  readonly unreachable: readonly string[];
  readonly kubeconfigs: readonly FoundKubeconfig[];
  readonly session: SshSession | undefined;
  /** The kubelet program came by the system's package manager: its own files stay. */
  readonly packagedKubelet: boolean;
}

const maxEntries = 20;

async function lookAt(host: Host, known: KnownPath): Promise<FoundPath | undefined> {
  const stat = await host.files.stat(known.path);
  if (stat === undefined || (known.kind === 'folder' && stat.type !== 'directory')) return undefined;
  const target = known.kind === 'tree' && stat.type === 'link' ? await host.files.realPath(known.path) : undefined;
  const folder = known.kind === 'file' ? undefined : (target ?? known.path);
  const entries = folder === undefined ? [] : await host.files.list(folder).catch(() => []);
  return { ...known, ...(target === undefined ? {} : { target }), entries: entries.slice(0, maxEntries) };
}

/** @throws BkeError BKE_SYSTEM where the host refuses to be looked at. */
async function readPaths(
  host: Host,
  reach: Reach,
  known: readonly KnownPath[],
): Promise<{ paths: FoundPath[]; unreachable: string[] }> {
  const paths: FoundPath[] = [];
  const unreachable: string[] = [];
  // Of two that know the same path the last one counts: it is what bke itself knows of it.
  for (const entry of new Map(known.map((one) => [one.path, one])).values()) {
    if (!(await reach(entry.path))) {
      unreachable.push(entry.path);
      continue;
    }
    const found = await lookAt(host, entry);
    if (found !== undefined) paths.push(found);
  }
  return { paths, unreachable };
}

/** Names in CNI configuration files that network programs of Kubernetes installed. */
async function readPodNetworks(host: Host): Promise<Set<string>> {
  const names = new Set(podNetworkNames);
  for (const { path } of kubernetesPaths) {
    if (!path.startsWith('/etc/cni/net.d/')) continue;
    const text = (await host.files.read(path).catch(() => undefined))?.toString('utf8') ?? '';
    const name = /"name"\s*:\s*"([^"]+)"/.exec(text)?.[1];
    if (name !== undefined) names.add(name);
  }
  return names;
}

export async function readNetwork(host: Host): Promise<NetworkState> {
  const [links, namespaces, rules, podNetworks, nftTables, sets, virtualServers, routes, policyRules] =
    await Promise.all([
      readLinks(host),
      readPodNamespaces(host),
      readRules(host),
      readPodNetworks(host),
      readNftTables(host),
      readSetNames(host),
      readProxyServers(host),
      readRoutes(host),
      readPolicyRules(host),
    ]);
  return { links, namespaces, rules, podNetworks, nftTables, sets, virtualServers, routes, policyRules };
}

/** Whether dpkg or rpm installed the kubelet. */
async function readPackagedKubelet(host: Host): Promise<boolean> {
  if ((await host.files.stat('/var/lib/dpkg/info/kubelet.list')) !== undefined) return true;
  if ((await host.files.stat('/usr/bin/rpm')) === undefined) return false;
  const answer = await host.run(['rpm', '-q', 'kubelet'], { timeoutMs: 10_000 });
  return answer.exitCode === 0;
}

export interface ScanOptions {
  /** Further unit names to look at (those the ledger has). */
  readonly units: readonly string[];
  /** Further paths of bke's own. */
  readonly paths: readonly KnownPath[];
  /** Directories below which mounts are looked for. */
  readonly tops: readonly string[];
  /** The process whose SSH session must survive. */
  readonly pid: number;
}

/** Where directories really are: mounts are known by real paths only. */
async function readRealPaths(host: Host, reach: Reach, tops: readonly string[]): Promise<Map<string, string>> {
  const real = await Promise.all(
    tops.map(async (top) => {
      const path = (await reach(top)) ? await host.files.realPath(top) : undefined;
      return [top, path ?? top] as const;
    }),
  );
  return new Map(real);
}

export async function readHostState(host: Host, options: ScanOptions): Promise<HostState> {
  const mounts = await readMounts(host);
  const reach = createReach(host, mounts);
  const processes = await readProcesses(host);
  const [units, network, fstab, cgroups, packagedKubelet] = await Promise.all([
    readKnownUnits(host, options.units),
    readNetwork(host),
    readFstab(host),
    readPodCgroups(host),
    readPackagedKubelet(host),
  ]);
  const found = await readCniResults(host, network.podNetworks);
  return {
    units,
    processes,
    foreignContainers: await readForeignContainers(host, processes),
    k3sContainers: await readK3sContainers(host, processes),
    mounts,
    realPaths: await readRealPaths(host, reach, options.tops),
    fstab,
    network,
    cgroups,
    ...(await readPaths(host, reach, [
      ...found,
      ...kubernetesPaths,
      ...sharedFolders,
      ...volumePaths,
      ...options.paths,
    ])),
    kubeconfigs: await readKubeconfigs(host, reach),
    session: await readSshSession(host, processes, options.pid),
    packagedKubelet,
  };
}
