// Which of the known paths on a host go, and what in them stays.
import { kubeletFolder, sharedFolders, volumePaths } from '../../host/state/known-paths.ts';
import { isWithin, type Mount } from '../../host/state/mounts.ts';
import type { FoundPath } from '../../host/state/state.ts';
import type { KeptItem, PlanInput, PlanItem } from './reset-plan.ts';
import { changePath, isRuntimePath, isRuntimeResource, ownNetwork, podProcesses } from './select.ts';

export interface PathChoice {
  readonly paths: readonly FoundPath[];
  readonly kubeconfigs: readonly string[];
  readonly coveredPaths: ReadonlySet<string>;
  readonly items: readonly PlanItem[];
  readonly kept: readonly KeptItem[];
}

const volumes = new Set(volumePaths.map(({ path }) => path));
const folders = new Set(sharedFolders.map(({ path }) => path));
const packaged = new Set(['/etc/default/kubelet', '/etc/sysconfig/kubelet']);

/** A followed link and a disk of its own stay; they have done their part once nothing is in them. */
function isEmptied(path: FoundPath, mounts: readonly Mount[]): boolean {
  if (path.entries.length > 0) return false;
  return path.target !== undefined || mounts.some((mount) => mount.mountPoint === path.path);
}

function holdsVolumesOnly(path: FoundPath): boolean {
  return path.entries.length > 0 && path.entries.every((name) => volumes.has(`${path.path}/${name}`));
}

/** Anything but a name that could be the user's own: a file only Kubernetes writes, or pods, links and rules of its programs. */
function hasKubernetes({ state, flags }: PlanInput, self: number): boolean {
  const network = ownNetwork(state.network);
  const shows = (path: FoundPath): boolean =>
    !isEmptied(path, state.mounts) && (flags.purgeVolumes || !holdsVolumesOnly(path));
  return (
    state.paths.some((path) => path.mark === 'proof' && shows(path)) ||
    state.cgroups.length > 0 ||
    network.links.length + network.namespaces.length + network.rules.length + network.nftTables.length > 0 ||
    podProcesses(state.processes, self).length > 0
  );
}

function isCovered(path: string, input: PlanInput): boolean {
  return input.ledger.all.some(({ record: { last } }) => {
    const top = changePath(last);
    if (last.kind === 'unit' && path.endsWith(`.wants/${last.name}`)) return true;
    return top !== undefined && (last.kind === 'zone' ? isWithin(path, top) : path === top);
  });
}

/** Whether the container runtime would go, and must not: others' containers run in it. */
export function keepsRuntime({ state, ledger }: PlanInput): boolean {
  const goes = ledger.selected.some(isRuntimeResource) || state.paths.some(({ path }) => isRuntimePath(path));
  return goes && state.foreignContainers.length > 0;
}

/** There before bke, and empty: a reset that died after this was undone must not take it. */
function isGivenBack({ path, entries }: FoundPath, { ledger }: PlanInput): boolean {
  return entries.length === 0 && ledger.givenBack.includes(path);
}

function isVolumes(path: FoundPath): boolean {
  return volumes.has(path.path) || holdsVolumesOnly(path);
}

/** The ledger's to undo, given back by it, or needed by others' containers. */
function isOthers(found: FoundPath, input: PlanInput): boolean {
  const { path } = found;
  return isCovered(path, input) || isGivenBack(found, input) || (isRuntimePath(path) && keepsRuntime(input));
}

/** Not to be taken, a package's, or looked at only after what is in it. */
function isLeftAside(found: FoundPath, input: PlanInput): boolean {
  const { path, kind } = found;
  return isOthers(found, input) || kind === 'folder' || (input.state.packagedKubelet && packaged.has(path));
}

function chosen(input: PlanInput, self: number): FoundPath[] {
  const proof = hasKubernetes(input, self);
  return input.state.paths.filter((path) => {
    if (isEmptied(path, input.state.mounts) || isLeftAside(path, input)) return false;
    if (isVolumes(path) && !input.flags.purgeVolumes) return false;
    return volumes.has(path.path) || path.mark !== 'needsProof' || path.remembered === true || proof;
  });
}

function emptied(folder: FoundPath, going: readonly string[]): { gone: boolean; stays: string[] } {
  const names = new Set(going);
  const stays = folder.entries.filter((name) => !names.has(`${folder.path}/${name}`));
  return { gone: stays.length === 0, stays };
}

/** A ledger that forgot a folder may still tell of what is in it. */
function undonePaths({ ledger }: PlanInput): string[] {
  const going = ledger.selected.filter(({ sharedWith }) => sharedWith.length === 0);
  return going.flatMap(({ record: { last } }) => changePath(last) ?? []);
}

function foldersOf({ state }: PlanInput, proof: boolean): FoundPath[] {
  const own = state.paths.filter(({ path, kind }) => kind === 'folder' && !folders.has(path));
  const shared = sharedFolders.flatMap(({ path }) => state.paths.find((found) => found.path === path) ?? []);
  return [...own, ...shared.filter(({ remembered }) => proof || remembered === true)];
}

/** Folders others may use: gone when nothing of others is in them, else told. Deepest first, so that a parent knows of its children. */
function chosenFolders(input: PlanInput, going: FoundPath[], proof: boolean): KeptItem[] {
  const kept: KeptItem[] = [];
  const known = new Set([...folders, ...input.state.paths.map(({ path }) => path)]);
  const undone = undonePaths(input);
  for (const folder of foldersOf(input, proof)) {
    const { path } = folder;
    if (isOthers(folder, input)) continue;
    const undoing = folders.has(path) ? [] : undone;
    const { gone, stays } = emptied(folder, [...going.map((entry) => entry.path), ...undoing]);
    const mounted = input.state.mounts.some((mount) => mount.mountPoint === path);
    if (gone && !mounted) going.push(folder);
    else if (!gone && !stays.every((name) => known.has(`${path}/${name}`))) {
      kept.push({
        what: `${path}: ${stays.join(', ')}`,
        why: "no record says that it is bke's, and its name is not known as Kubernetes'",
      });
    }
  }
  return kept;
}

function keptVolumes(input: PlanInput): KeptItem[] {
  if (input.flags.purgeVolumes) return [];
  return input.state.paths
    .filter((path) => volumes.has(path.path) && path.entries.length > 0)
    .map((path) => ({
      what: `${path.path}: ${path.entries.join(', ')}`,
      why: 'data of volumes; --purge-volumes removes it',
    }));
}

function pathItems(paths: readonly FoundPath[]): PlanItem[] {
  return paths.map((path) => {
    const contents = volumes.has(path.path) && path.entries.length > 0 ? `: ${path.entries.join(', ')}` : '';
    const shown = path.target === undefined ? path.path : `what is in ${path.path} (${path.target})`;
    return {
      group: path.path.startsWith(kubeletFolder) || path.kind === 'tree' ? 'data' : 'record',
      action: 'remove',
      what: `${shown}${contents}`,
      why: path.what,
      ...(path.passing === undefined ? {} : { passing: path.passing }),
    };
  });
}

export function choosePaths(input: PlanInput, self: number): PathChoice {
  const { state } = input;
  const paths = chosen(input, self);
  const keptFolders = chosenFolders(input, paths, hasKubernetes(input, self));
  const kubeconfigs = state.kubeconfigs.filter(({ points, path }) => points === 'only' && !isCovered(path, input));
  return {
    paths,
    kubeconfigs: kubeconfigs.map(({ path }) => path),
    coveredPaths: new Set(state.paths.filter(({ path }) => isCovered(path, input)).map(({ path }) => path)),
    items: [
      ...kubeconfigs.map(
        ({ path }): PlanItem => ({
          group: 'record',
          action: 'remove',
          what: path,
          why: 'a kubeconfig of this cluster only',
        }),
      ),
      ...pathItems(paths),
    ],
    kept: [
      ...keptVolumes(input),
      ...keptFolders,
      ...state.kubeconfigs
        .filter(({ points }) => points === 'some')
        .map(({ path }) => ({
          what: path,
          why: 'it has other clusters too; remove this one with kubectl config delete-context',
        })),
    ],
  };
}
