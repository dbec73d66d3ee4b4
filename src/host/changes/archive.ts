// The change kind `archive`: an archive unpacked into a folder of its own; recorded is every file with its digest, and exactly those are removed.
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { listedShort } from '../../lib/text.ts';
import { BkeError } from '../../lib/errors.ts';
import type { FileStat, Host } from '../host.ts';
import { type ArchiveEntry, archiveEntries } from './archive-entries.ts';
import type { ArchiveChange, ChangeKind, ChangeRecord, Keeper, Observation, UndoOutcome } from './change.ts';
import { type FileState, fileState, removeDrafts, sameContent } from './file-state.ts';

const directory = { mode: 0o755, uid: 0, gid: 0 };

/** By path below the destination. */
type Manifest = Readonly<Record<string, ManifestEntry>>;
type ManifestEntry =
  | { readonly type: 'directory' }
  | { readonly type: 'file'; readonly digest: string; readonly mode: number }
  | { readonly type: 'link'; readonly target: string };

interface ArchiveState {
  readonly manifest: Manifest;
}

async function digestOfBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return `sha256:${hash.digest('hex')}`;
}

async function describeEntry(
  entry: ArchiveEntry,
  manifest: Readonly<Record<string, ManifestEntry>>,
): Promise<ManifestEntry> {
  if (entry.type === 'file') return { type: 'file', mode: entry.mode, digest: await digestOfBody(entry.body) };
  if (entry.type === 'copy') return manifest[entry.of] ?? { type: 'directory' };
  return entry.type === 'link' ? { type: 'link', target: entry.target } : { type: 'directory' };
}

function parents(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [...parents(parent), parent];
}

async function readManifest(host: Host, change: ArchiveChange): Promise<Manifest> {
  const manifest: Record<string, ManifestEntry> = {};
  for await (const entry of archiveEntries(host, change)) {
    for (const parent of parents(entry.path)) manifest[parent] ??= { type: 'directory' };
    manifest[entry.path] = await describeEntry(entry, manifest);
  }
  return manifest;
}

/** Known from an earlier observation, or read from the archive; empty where there is no archive (a plan before it was brought). */
async function manifestOf(
  host: Host,
  change: ArchiveChange,
  previous: ChangeRecord<ArchiveChange, ArchiveState> | undefined,
): Promise<Manifest> {
  const version = previous?.versions.findLast((candidate) => candidate.change.digest === change.digest);
  const known = version?.before?.manifest;
  if (known !== undefined && Object.keys(known).length > 0) return known;
  return (await host.files.stat(change.source)) === undefined ? {} : readManifest(host, change);
}

/** Its content, or where it leads; whatever its mode. */
function isContentOf(entry: ManifestEntry, state: FileState): boolean {
  if (entry.type === 'file') return state.type === 'file' && state.digest === entry.digest;
  return entry.type === 'link' && sameContent(state, entry);
}

function fits(entry: ManifestEntry, state: FileState): boolean {
  return isContentOf(entry, state) && (entry.type !== 'file' || (state.type === 'file' && state.mode === entry.mode));
}

function isOpenDirectory(stat: FileStat | undefined): boolean {
  return stat?.type === 'directory' && stat.mode === directory.mode && stat.uid === 0 && stat.gid === 0;
}

async function isInPlace(host: Host, path: string, entry: ManifestEntry): Promise<boolean> {
  if (entry.type === 'directory') return isOpenDirectory(await host.files.stat(path));
  return fits(entry, await fileState(host, path));
}

async function isUnpacked(host: Host, destination: string, manifest: Manifest): Promise<boolean> {
  for (const [path, entry] of Object.entries(manifest)) {
    if (!(await isInPlace(host, join(destination, path), entry))) return false;
  }
  return Object.keys(manifest).length > 0;
}

async function observe(
  host: Host,
  change: ArchiveChange,
  _keeper: Keeper,
  previous?: ChangeRecord<ArchiveChange, ArchiveState>,
): Promise<Observation<ArchiveState>> {
  const { destination } = change;
  const manifest = await manifestOf(host, change, previous);
  const before: ArchiveState = { manifest };
  if (await isUnpacked(host, destination, manifest)) return { satisfied: true, before, action: 'none' };
  const foreign = previous === undefined ? await host.files.list(destination) : [];
  if (foreign.length > 0) {
    throw new BkeError(
      'BKE_PATH_IN_THE_WAY',
      `${destination} holds what bke did not put there: ${listedShort(foreign, 5)}`,
      {
        host: host.name,
        hint: 'Move it away, then run the same command again.',
      },
    );
  }
  return { satisfied: false, before, action: previous === undefined ? 'create' : 'change' };
}

async function ensureDirectory(host: Host, path: string): Promise<void> {
  const stat = await host.files.stat(path);
  if (stat === undefined) {
    await removeDrafts(host, path);
    await host.files.makeDirectory(path, directory);
  } else if (!isOpenDirectory(stat)) await host.files.setAttributes(path, directory);
}

async function unpack(host: Host, destination: string, entry: ArchiveEntry): Promise<void> {
  const place = join(destination, entry.path);
  for (const parent of parents(entry.path)) await ensureDirectory(host, join(destination, parent));
  if (entry.type === 'directory') return ensureDirectory(host, place);
  await removeDrafts(host, place);
  if (entry.type === 'link') return host.files.link(place, entry.target);
  if (entry.type === 'file')
    return host.files.write(place, Readable.from(entry.body), { ...directory, mode: entry.mode });
  const original = join(destination, entry.of);
  const mode = (await host.files.stat(original))?.mode ?? 0o644;
  return host.files.write(place, host.files.stream(original), { ...directory, mode });
}

async function apply(host: Host, change: ArchiveChange): Promise<void> {
  // Nothing of an archive that is not the one meant reaches its place.
  const digest = await host.files.digest(change.source);
  if (digest !== change.digest) {
    throw new BkeError('BKE_DIGEST_MISMATCH', `${change.source} is ${digest}, expected ${change.digest}`);
  }
  for await (const entry of archiveEntries(host, change)) await unpack(host, change.destination, entry);
}

function manifestsOf(record: ChangeRecord<ArchiveChange, ArchiveState>): Manifest[] {
  return record.versions.map((version) => version.before.manifest);
}

/** Removes what is ours at one path; returns where an edited one went. */
async function removeOne(
  host: Host,
  path: string,
  ours: readonly ManifestEntry[],
  keeper: Keeper,
): Promise<string | undefined> {
  await removeDrafts(host, path);
  const state = await fileState(host, path);
  if (state.type !== 'file' && state.type !== 'link') return undefined;
  if (!ours.some((entry) => isContentOf(entry, state))) return keeper.moveAside(path);
  await host.files.remove(path);
  return undefined;
}

async function undo(
  host: Host,
  record: ChangeRecord<ArchiveChange, ArchiveState>,
  keeper: Keeper,
): Promise<UndoOutcome> {
  const { destination } = record.last;
  if ((await host.files.stat(destination)) === undefined) return { result: 'already' };
  const manifests = manifestsOf(record);
  const paths = [...new Set(manifests.flatMap((manifest) => Object.keys(manifest)))].sort().reverse();
  const kept: string[] = [];
  const directories: string[] = [];
  for (const path of paths) {
    const ours = manifests.map((manifest) => manifest[path]).filter((entry) => entry !== undefined);
    if (ours.some((entry) => entry.type === 'directory')) directories.push(join(destination, path));
    const keptAt = await removeOne(host, join(destination, path), ours, keeper);
    if (keptAt !== undefined) kept.push(keptAt);
  }
  const foreign = await removeEmpty(host, directories);
  if (foreign.length > 0)
    return { result: 'left', why: `holds what bke did not put there: ${listedShort(foreign, 5)}` };
  const [keptAt] = kept;
  return keptAt === undefined
    ? { result: 'undone' }
    : { result: 'kept', why: `edited since: ${kept.length} of its files`, keptAt };
}

/** Deepest first; returns what keeps a directory from going. */
async function removeEmpty(host: Host, directories: readonly string[]): Promise<string[]> {
  const foreign: string[] = [];
  for (const path of directories) {
    if ((await host.files.stat(path))?.type !== 'directory') continue;
    const content = (await host.files.list(path)).map((name) => join(path, name));
    if (content.length === 0) await host.files.remove(path);
    else foreign.push(...content.filter((child) => !directories.includes(child)));
  }
  return foreign;
}

export const archiveKind: ChangeKind<ArchiveChange, ArchiveState> = {
  kind: 'archive',
  key: (change) => `archive:${change.destination}`,
  describe: (change) => `archive unpacked to ${change.destination}`,
  record: (change) => change,
  // The destination itself is a directory of the ledger.
  path: (change) => join(change.destination, 'content'),
  observe,
  apply,
  undo,
};
