// Which of the things on a host are a reset's: pure choices that the plan, the work and the second look all make the same way.
import type { Change } from '../../host/changes/change.ts';
import type { LedgerResource, LedgerView } from '../../host/ledger/ledger.ts';
import { ownRules, type OwnRules } from '../../host/state/iptables.ts';
import { isKubernetesSet } from '../../host/state/ipsets.ts';
import { foreignPorts, type Link, linkMaker } from '../../host/state/links.ts';
import { isWithin, type Mount } from '../../host/state/mounts.ts';
import { isPodNamespace, namespaceFolder } from '../../host/state/network-namespaces.ts';
import { isKubernetesTable, type NftTable } from '../../host/state/nftables.ts';
import { hostRoots, lineage, podProcessReason, type ProcessInfo } from '../../host/state/processes.ts';
import { type PolicyRule, policyRuleMaker, type Route, routeMaker } from '../../host/state/routes.ts';
import type { NetworkState } from '../../host/state/state.ts';
import { unitFolder } from '../../host/systemd.ts';

export interface PodProcess {
  readonly process: ProcessInfo;
  readonly why: string;
}

/** Processes of pods, without process `self` and those it descends from. */
export function podProcesses(processes: readonly ProcessInfo[], self: number): PodProcess[] {
  const roots = hostRoots(processes, self);
  const own = lineage(processes, self);
  return processes.flatMap((process) => {
    const why = own.has(process.pid) ? undefined : podProcessReason(process, roots);
    return why === undefined ? [] : [{ process, why }];
  });
}

/** Whether bke itself runs inside a pod of this host. */
export function runsInPod(processes: readonly ProcessInfo[], self: number): boolean {
  const roots = hostRoots(processes, self);
  return processes.some((process) => process.pid === self && podProcessReason(process, roots) !== undefined);
}

function isPodNamespaceMount(mount: Mount): boolean {
  const name = mount.mountPoint.slice(namespaceFolder.length + 1);
  return mount.mountPoint.startsWith(`${namespaceFolder}/`) && !name.includes('/') && isPodNamespace(name);
}

export interface MountChoice {
  readonly mountTops: readonly string[];
  readonly keptMounts: ReadonlySet<string>;
}

/** Mounts to take away, in the order to do it: the last made first. Tops that are mounts themselves are the user's and stay. */
export function ownMounts(mounts: readonly Mount[], choice: MountChoice): Mount[] {
  const { mountTops, keptMounts } = choice;
  const below = (mount: Mount): boolean =>
    mountTops.some((top) => mount.mountPoint !== top && isWithin(mount.mountPoint, top));
  return mounts
    .filter((mount) => (below(mount) && !mountTops.includes(mount.mountPoint)) || isPodNamespaceMount(mount))
    .filter((mount) => !keptMounts.has(mount.mountPoint))
    .reverse();
}

interface OwnLink {
  readonly link: Link;
  readonly maker: string;
}

/** Ports before their bridges. A bridge with somebody else's port is not taken. */
function ownLinks(links: readonly Link[]): OwnLink[] {
  const found = links.flatMap((link) => {
    const maker = linkMaker(link, links);
    return maker === undefined || foreignPorts(link, links).length > 0 ? [] : [{ link, maker }];
  });
  return found.sort((a, b) => Number(a.link.kind === 'bridge') - Number(b.link.kind === 'bridge'));
}

export interface OwnNetwork {
  readonly links: readonly OwnLink[];
  readonly namespaces: readonly string[];
  readonly rules: readonly OwnRules[];
  readonly nftTables: readonly NftTable[];
  readonly sets: readonly string[];
  readonly servers: NetworkState['virtualServers'];
  readonly routes: readonly { readonly route: Route; readonly maker: string }[];
  readonly policyRules: readonly { readonly rule: PolicyRule; readonly maker: string }[];
}

function hasTrace(network: NetworkState, rules: readonly OwnRules[], link: RegExp, chain: RegExp): boolean {
  return (
    network.links.some((entry) => link.test(entry.name) && linkMaker(entry, network.links) !== undefined) ||
    rules.some((entry) => entry.chains.some((name) => chain.test(name)))
  );
}

export function ownNetwork(network: NetworkState): OwnNetwork {
  const links = ownLinks(network.links);
  const rules = ownRules(network.rules, network.podNetworks);
  const found = {
    calico: hasTrace(network, rules, /cali/, /^cali-/),
    cilium: hasTrace(network, rules, /^(cilium_|lxc)/, /CILIUM_/),
  };
  return {
    links,
    rules,
    namespaces: network.namespaces,
    nftTables: network.nftTables.filter(isKubernetesTable),
    sets: network.sets.filter(isKubernetesSet),
    servers: network.virtualServers,
    routes: network.routes.flatMap((route) => {
      const maker = routeMaker(route, found);
      return maker === undefined ? [] : [{ route, maker }];
    }),
    policyRules: network.policyRules.flatMap((rule) => {
      const maker = policyRuleMaker(rule, found);
      return maker === undefined ? [] : [{ rule, maker }];
    }),
  };
}

/** Where a change is on the host; undefined for what has no path. */
export function changePath(change: Change): string | undefined {
  if (change.kind === 'unit') return `${unitFolder}/${change.name}`;
  if (change.kind === 'archive') return change.destination;
  return 'path' in change ? change.path : undefined;
}

const runtimeTops = ['/var/lib/containerd', '/run/containerd', '/etc/containerd', '/run/nri'];
const runtimeNames = /^(containerd|runc|ctr)(-|\.|$)/;

/** Whether a path belongs to the container runtime: taken away under others' containers it would end them. */
export function isRuntimePath(path: string): boolean {
  return runtimeTops.some((top) => isWithin(path, top)) || path.split('/').some((part) => runtimeNames.test(part));
}

export function isRuntimeResource({ record: { last } }: Pick<LedgerResource, 'record'>): boolean {
  const path = changePath(last);
  // containerd ends when the directory of network configurations goes.
  return path !== undefined && (isRuntimePath(path) || isWithin(path, '/etc/cni'));
}

/** Paths of zones and directories whose changes are undone. */
export function givenBackBy({ ended }: Pick<LedgerView, 'ended'>): string[] {
  return ended.flatMap(({ last }) => (last.kind === 'zone' || last.kind === 'directory' ? [last.path] : []));
}

/** The container runtime's resources and the directories they lie in. */
export function runtimeResources(resources: readonly LedgerResource[]): Set<LedgerResource> {
  return withDirectoriesAbove(resources, resources.filter(isRuntimeResource));
}

/** bke's own program and the directories it lies in: whoever has to run the reset once more needs it. */
export function programResources(resources: readonly LedgerResource[]): Set<LedgerResource> {
  const isProgram = ({ record: { last } }: LedgerResource): boolean =>
    (last.kind === 'file' || last.kind === 'link') && (last.path.split('/').at(-1) ?? '') === 'bke';
  return withDirectoriesAbove(resources, resources.filter(isProgram));
}

function withDirectoriesAbove(
  resources: readonly LedgerResource[],
  chosen: readonly LedgerResource[],
): Set<LedgerResource> {
  const paths = chosen.flatMap(({ record }) => changePath(record.last) ?? []);
  const above = resources.filter(
    ({ record: { last } }) => last.kind === 'directory' && paths.some((path) => isWithin(path, last.path)),
  );
  return new Set([...chosen, ...above]);
}

/** Last made first; only a directory in a zone goes right after the zone: until then it has what others put in. */
export function inUndoOrder(resources: readonly LedgerResource[]): LedgerResource[] {
  const isHeldBy = (directory: LedgerResource, { record: { last } }: LedgerResource): boolean =>
    last.kind === 'zone' && isWithin(changePath(directory.record.last) ?? '', last.path);
  let held: LedgerResource[] = [];
  const ordered: LedgerResource[] = [];
  for (const [index, resource] of resources.entries()) {
    const isDirectory = resource.record.last.kind === 'directory';
    if (isDirectory && resources.slice(index + 1).some((later) => isHeldBy(resource, later))) {
      held.push(resource);
      continue;
    }
    ordered.push(resource, ...held.filter((directory) => isHeldBy(directory, resource)));
    held = held.filter((directory) => !isHeldBy(directory, resource));
  }
  return ordered;
}
