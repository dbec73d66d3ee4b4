// Makes the plan of a reset out of what was found: pure, so that what is shown and what is done can be tested without a host.
import { type KnownUnit, nodeUnits } from '../../host/state/units.ts';
import { isUp, unitFolder } from '../../host/systemd.ts';
import { mountTops as kubernetesTops, volumePaths } from '../../host/state/known-paths.ts';
import { isWithin, type Mount } from '../../host/state/mounts.ts';
import type { LedgerResource } from '../../host/ledger/ledger.ts';
import type { HostState } from '../../host/state/state.ts';
import { listedShort, plural } from '../../lib/text.ts';
import { ownUnits } from './own-paths.ts';
import { choosePaths, keepsRuntime } from './plan-paths.ts';
import { planRefusals } from './plan-refusals.ts';
import {
  type KeptItem,
  type Left,
  type PlanInput,
  type PlanItem,
  type ResetFlags,
  type ResetPlan,
  type Selection,
} from './reset-plan.ts';
import { inUndoOrder, ownMounts, ownNetwork, podProcesses, runtimeResources } from './select.ts';

const volumes = volumePaths.map(({ path }) => path);

/** Kubernetes' units run or are put in place by hand; those of a package are only stopped. */
function nodeUnitNames(units: readonly KnownUnit[]): string[] {
  const wanted = units.filter(({ name }) => (nodeUnits as readonly string[]).includes(name));
  return wanted.filter((unit) => isUp(unit) || unit.enabled === 'enabled').map(({ name }) => name);
}

function recordedUnits(resources: readonly LedgerResource[]): string[] {
  return resources.flatMap(({ record: { last } }) => (last.kind === 'unit' ? [last.name] : []));
}

function unrecordedUnits(input: PlanInput, recorded: readonly string[]): string[] {
  const { flags, state } = input;
  const wanted = ownUnits.filter((name) => (name === 'bke-agent.service' ? flags.all : flags.mount));
  const known = new Set([...recorded, ...recordedUnits(input.ledger.all)]);
  const runtime = state.paths.some(({ path }) => path === `${unitFolder}/containerd.service`) && !keepsRuntime(input);
  return state.units
    .filter((unit) => wanted.some((name) => name === unit.name) || (runtime && unit.name === 'containerd.service'))
    .filter((unit) => state.paths.some(({ path }) => path === `${unitFolder}/${unit.name}`))
    .filter((unit) => !known.has(unit.name) && isUp(unit))
    .map(({ name }) => name);
}

function unitItems(names: readonly string[], recorded: readonly string[], units: readonly KnownUnit[]): PlanItem[] {
  return names.map((name) => {
    const active = units.find((unit) => unit.name === name)?.active ?? 'inactive';
    const why = recorded.includes(name) ? 'bke installed it' : 'it runs Kubernetes';
    return { group: 'units', action: 'stop', what: `${name} (${active})`, why };
  });
}

function podItems(state: HostState, self: number): PlanItem[] {
  const found = podProcesses(state.processes, self);
  const byReason = new Map<string, string[]>();
  for (const { process, why } of found) {
    byReason.set(why, [...(byReason.get(why) ?? []), `${process.command} (${process.pid})`]);
  }
  const processes = [...byReason].map(
    ([why, names]): PlanItem => ({
      group: 'pods',
      action: 'end',
      what: `${plural(names.length, 'process', 'processes')}: ${listedShort(names, 12)}`,
      why,
    }),
  );
  const cgroups = state.cgroups.map(
    (path): PlanItem => ({ group: 'pods', action: 'remove', what: path, why: 'control group of pods' }),
  );
  return [...processes, ...cgroups];
}

/** Containers' roots, their memory and their network: made anew each time a pod starts. A part of an overlay or tmpfs is a bind mount of somebody's. */
function isPassing({ fileSystem, root }: Mount): boolean {
  return fileSystem === 'nsfs' || (root === '/' && (fileSystem === 'overlay' || fileSystem === 'tmpfs'));
}

function mountItem(mount: Mount): PlanItem {
  const { mountPoint, fileSystem, source } = mount;
  return {
    group: 'mounts',
    action: 'unmount',
    what: `${mountPoint} (${fileSystem} from ${source})`,
    ...(isPassing(mount) ? { passing: true } : {}),
  };
}

function networkItems(state: HostState): PlanItem[] {
  const own = ownNetwork(state.network);
  const item = (what: string, why: string): PlanItem => ({ group: 'network', action: 'remove', what, why });
  return [
    ...own.namespaces.map((name) => item(`network namespace ${name}`, "a pod's")),
    ...own.servers.map(({ endpoint }) => item(`virtual server ${endpoint}`, "on kube-proxy's link")),
    ...own.policyRules.map(({ rule, maker }) => item(`routing rule ${rule.priority} (IPv${rule.family})`, maker)),
    ...own.routes.map(({ route, maker }) => item(`route ${route.destination} table ${route.table}`, maker)),
    ...own.links.map(({ link, maker }) => item(`link ${link.name} (${link.kind})`, maker)),
    ...own.rules.map(({ backend, table, chains, rules }) =>
      item(
        `${backend} table ${table}: ${[
          ...(chains.length > 0 ? [`chains ${listedShort(chains, 8)}`] : []),
          ...(rules.length > 0 ? [`${plural(rules.length, 'rule')} in other chains`] : []),
        ].join(', ')}`,
        'by the names Kubernetes and its network programs use',
      ),
    ),
    ...own.nftTables.map(({ family, name }) => item(`nft table ${family} ${name}`, "a table of Kubernetes' own")),
    ...own.sets.map((name) => item(`ipset ${name}`, 'by the names Kubernetes and its network programs use')),
  ];
}

/** Others' containers live in the containerd bke installed: it stays with all it needs. */
function splitRuntime(input: PlanInput): { resources: LedgerResource[]; heldBack: Left[] } {
  const selected = inUndoOrder(input.ledger.selected);
  if (!keepsRuntime(input)) return { resources: selected, heldBack: [] };
  const containers = input.state.foreignContainers;
  const held = runtimeResources(selected);
  const namespace = containers[0]?.split('/')[0] ?? '';
  return {
    resources: selected.filter((resource) => !held.has(resource)),
    heldBack: [
      {
        what: 'containerd, its settings and its data',
        why: `containers that are not Kubernetes' run in it and would end: ${listedShort(containers, 10)}`,
        see: `ctr -n ${namespace} containers list`,
      },
    ],
  };
}

/** Nobody can say what is there: the reset can't call it clean. */
function unansweredItems({ unreachable }: HostState): Left[] {
  if (unreachable.length === 0) return [];
  const why = 'a network file system they lie on does not answer, so nobody can say what is in them';
  return [{ what: listedShort(unreachable, 5), why, see: 'findmnt' }];
}

function keptPrograms(state: HostState): KeptItem[] {
  return state.packagedKubelet
    ? [{ what: 'the kubelet package', why: "the system's package manager installed it; it is only stopped" }]
    : [];
}

/** Directories below which nothing may stay mounted: Kubernetes', and what others fill in zones that are undone. */
export function mountTopsOf(flags: ResetFlags, resources: readonly LedgerResource[]): string[] {
  const zones = undoneOf(resources).flatMap(({ record: { last } }) => (last.kind === 'zone' ? [last.path] : []));
  return [...new Set([...kubernetesTops, ...zones, ...(flags.purgeVolumes ? volumes : [])])];
}

function mountChoice(
  { flags, state, ledger }: PlanInput,
  resources: readonly LedgerResource[],
): Pick<Selection, 'mountTops' | 'keptMounts'> {
  const kept = new Set([...state.fstab, ...ledger.earlierMounts]);
  if (!flags.purgeVolumes) {
    for (const { mountPoint } of state.mounts)
      if (volumes.some((volume) => isWithin(mountPoint, volume))) kept.add(mountPoint);
  }
  const targets = state.paths.flatMap(({ target }) => target ?? []);
  const tops = mountTopsOf(flags, resources).map((top) => state.realPaths.get(top) ?? top);
  return { mountTops: [...tops, ...targets], keptMounts: kept };
}

/** Those that really go: what another scope needs too only loses a claim. */
function undoneOf(resources: readonly LedgerResource[]): LedgerResource[] {
  return resources.filter(({ sharedWith }) => sharedWith.length === 0);
}

/** What another scope still needs stays; giving up the claim is work all the same. */
function released(resources: readonly LedgerResource[]): PlanItem[] {
  const shared = resources.filter(({ sharedWith }) => sharedWith.length > 0);
  if (shared.length === 0) return [];
  const scopes = [...new Set(shared.flatMap(({ sharedWith }) => sharedWith))].sort();
  const what = `the claim on ${plural(shared.length, 'thing')} that ${listedShort(scopes, 4)} still needs`;
  return [{ group: 'ledger', action: 'release', what }];
}

function unrecordedItems({ unrecorded }: PlanInput): PlanItem[] {
  const item = (what: string): PlanItem => ({ group: 'record', action: 'remove', what, why: "bke's by its mark" });
  return [
    ...unrecorded.hosts.map((line) => item(`line ${line} in /etc/hosts`)),
    ...(unrecorded.user === undefined ? [] : [item(`user ${unrecorded.user}`)]),
  ];
}

/** @param self pid of this process: it and those it descends from are never ended. */
export function planReset(input: PlanInput, self: number): ResetPlan {
  const { state } = input;
  const { resources, heldBack } = splitRuntime(input);
  const mounts = mountChoice(input, resources);
  const undone = undoneOf(resources);
  const recorded = recordedUnits(undone);
  const running = new Set(state.units.filter(isUp).map(({ name }) => name));
  const nodes = nodeUnitNames(state.units);
  const stops = [
    ...nodes,
    ...recorded.filter((name) => running.has(name) && !nodes.includes(name)),
    ...unrecordedUnits(input, recorded),
  ];
  const paths = choosePaths(input, self);
  const items: PlanItem[] = [
    ...unitItems(stops, recordedUnits(input.ledger.all), state.units),
    ...podItems(state, self),
    ...ownMounts(state.mounts, mounts).map(mountItem),
    ...networkItems(state),
    ...paths.items,
    ...unrecordedItems(input),
    ...undone.map(({ undo }): PlanItem => ({ group: 'ledger', ...undo })),
    ...released(resources),
  ];
  return {
    items,
    kept: [...paths.kept, ...keptPrograms(state)],
    heldBack: [...heldBack, ...input.unrecorded.unproven, ...unansweredItems(state)],
    refusals: planRefusals(state, self),
    otherMachine: input.ledger.otherMachine,
    damaged: [],
    standing: [],
    notes: [],
    selection: {
      ...mounts,
      units: stops,
      unrecorded: input.unrecorded,
      paths: paths.paths,
      kubeconfigs: paths.kubeconfigs,
      resources,
      coveredPaths: paths.coveredPaths,
    },
  };
}
