// The file repository on disk: <dir>/files/<path> and <dir>/charts/<file>.tgz, with the digest of each kept beside so that nothing is hashed twice.
import { constants, type FileHandle, open, readdir, realpath, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { syncDirectory, writeAtomically } from '../../lib/atomic-file.ts';
import { type Content, type Digest, verifying } from '../../lib/digest.ts';
import { namingFullDisk, requireFreeSpace } from '../../lib/disk.ts';
import { isErrno } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import { readRange } from '../../lib/file-range.ts';
import { quoted } from '../../lib/text.ts';
import { readChart } from './chart-archive.ts';
import { type ChartIndex, ChartIndexer } from './charts.ts';
import { DigestRecords, hashFile, versionOf } from './digests.ts';
import { isPlainPath, isRepositoryPath, makeFolders, plainDirectory, plainFile } from './paths.ts';

export interface StoredFile extends Content {
  /** Relative to files/ or charts/. */
  readonly path: string;
  readonly modified: Date;
}

export interface OpenFile {
  readonly handle: FileHandle;
  readonly file: StoredFile;
}

export type Area = 'files' | 'charts';

export interface NewFile extends Content {
  readonly path: string;
}

interface AddOptions {
  /** Replace a chart of the same name and version that has other content. */
  readonly force?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Told of each chunk that was written. */
  readonly onBytes?: (bytes: number) => void;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly type: 'file' | 'directory';
}

export interface FileRepository {
  /** Absolute path of the data directory. */
  readonly dir: string;
  /** undefined where no such file is. A file copied in by hand is hashed once. */
  find(area: Area, path: string): Promise<StoredFile | undefined>;
  /** As `find`, with the very file that the digest is of, whatever is renamed over it later. The caller closes it. */
  open(area: Area, path: string): Promise<OpenFile | undefined>;
  /** All files, sorted by path. */
  list(area: Area): Promise<readonly StoredFile[]>;
  /** What is directly in a folder ('' is the top); undefined where it is no folder. */
  entries(area: Area, folder: string): Promise<readonly DirectoryEntry[] | undefined>;
  /** Where a file is on disk, for whoever streams it. */
  absolute(area: Area, path: string): string;
  /**
   * Written beside its place, verified, synced, renamed. false where the same content was there already (it is read to be sure).
   * @throws BkeError what `source` fails with, BKE_DIGEST_MISMATCH, BKE_DISK_FULL, BKE_CHART_INVALID, BKE_CHART_CONFLICT (same chart version, other content, not forced).
   */
  add(area: Area, file: NewFile, source: () => Readable, options?: AddOptions): Promise<boolean>;
  /** false where it was not there. */
  remove(area: Area, path: string): Promise<boolean>;
  charts(): Promise<ChartIndex>;
}

/** Makes the directories where they are missing (0755; files are 0644: everything in it may be read by every host). */
export async function openFileRepository(dir: string): Promise<FileRepository> {
  await makeFolders('/', dir);
  const root = await realpath(dir);
  await makeFolders(root, 'files');
  await makeFolders(root, 'charts');
  const areas = { files: await realpath(join(root, 'files')), charts: await realpath(join(root, 'charts')) };
  return new DiskRepository(root, areas);
}

class DiskRepository implements FileRepository {
  readonly dir: string;
  readonly #areas: Readonly<Record<Area, string>>;
  readonly #digests: DigestRecords;
  readonly #indexer = new ChartIndexer();

  constructor(dir: string, areas: Readonly<Record<Area, string>>) {
    this.dir = dir;
    this.#areas = areas;
    this.#digests = new DigestRecords(dir);
  }

  absolute(area: Area, path: string): string {
    return join(this.#areas[area], path);
  }

  async find(area: Area, path: string): Promise<StoredFile | undefined> {
    const found = await this.open(area, path);
    await found?.handle.close();
    return found?.file;
  }

  async open(area: Area, path: string): Promise<OpenFile | undefined> {
    const absolute = await plainFile(this.#areas[area], path);
    const handle = absolute === undefined ? undefined : await openPlain(absolute);
    if (handle === undefined) return undefined;
    try {
      const { digest, size, modified } = await this.#digests.digestOf(`${area}/${path}`, handle);
      return { handle, file: { path, digest, size, modified: new Date(Number(BigInt(modified) / 1_000_000n)) } };
    } catch (thrown) {
      await handle.close();
      throw thrown;
    }
  }

  async entries(area: Area, folder: string): Promise<readonly DirectoryEntry[] | undefined> {
    const root = this.#areas[area];
    const absolute = folder === '' ? root : await plainDirectory(root, folder);
    if (absolute === undefined) return undefined;
    const found = await readdir(absolute, { withFileTypes: true });
    return found
      .filter((entry) => isPlainPath(entry.name) && (entry.isFile() || entry.isDirectory()))
      .map((entry) => ({ name: entry.name, type: entry.isFile() ? ('file' as const) : ('directory' as const) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async list(area: Area): Promise<readonly StoredFile[]> {
    const files: StoredFile[] = [];
    for await (const path of this.#walk(area, '')) {
      const file = await this.find(area, path);
      if (file !== undefined) files.push(file);
    }
    return files.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async *#walk(area: Area, folder: string): AsyncGenerator<string> {
    for (const { name, type } of (await this.entries(area, folder)) ?? []) {
      const path = posix.join(folder, name);
      if (type === 'file') yield path;
      else yield* this.#walk(area, path);
    }
  }

  async charts(): Promise<ChartIndex> {
    const files = (await this.list('charts')).filter(({ path }) => /^[^/]+\.tgz$/.test(path));
    return this.#indexer.index(files, (path) => this.absolute('charts', path));
  }

  async add(area: Area, file: NewFile, source: () => Readable, options: AddOptions = {}): Promise<boolean> {
    if (!isRepositoryPath(file.path) || (area === 'charts' && !/^[^/]+\.tgz$/.test(file.path))) {
      throw new BkeError('BKE_ARTIFACT_UNUSABLE', `${quoted(file.path)} is no path that the ${area} repository takes`);
    }
    if (await this.#has(area, file)) return false;
    const folder = await makeFolders(this.#areas[area], dirname(file.path));
    await requireFreeSpace(folder, file.size, file.path);
    const absolute = this.absolute(area, file.path);
    try {
      await writeAtomically(absolute, 0o644, async (draft) => {
        await pipeline(source(), verifying(file, mismatchOf(file)), writerOf(draft, options.onBytes), {
          signal: options.signal,
        });
        if (area === 'charts') await this.#checkChart(draft, file, options);
      });
    } catch (thrown) {
      throw namingFullDisk(thrown, absolute, file.size);
    }
    await this.#remember(area, file);
    return true;
  }

  /** Its bytes are read: a file that is skipped must be as good as one that was just written. */
  async #has(area: Area, { path, digest, size }: NewFile): Promise<boolean> {
    const absolute = await plainFile(this.#areas[area], path);
    if (absolute === undefined) return false;
    const file = await open(absolute, 'r');
    try {
      const version = await versionOf(file);
      if (version.size !== size || (await hashFile(file, size)) !== digest) return false;
      await this.#digests.remember(`${area}/${path}`, { ...version, digest });
      return true;
    } finally {
      await file.close();
    }
  }

  async #remember(area: Area, { path, digest }: NewFile): Promise<void> {
    const file = await open(this.absolute(area, path), 'r');
    try {
      await this.#digests.remember(`${area}/${path}`, { ...(await versionOf(file)), digest });
    } finally {
      await file.close();
    }
  }

  async #checkChart(draft: FileHandle, { path, digest, size }: NewFile, { force = false }: AddOptions): Promise<void> {
    const { metadata } = await readChart(readRange(draft, 0, size), path);
    const { charts } = await this.charts();
    const same = charts.find(
      (chart) => chart.metadata.name === metadata.name && chart.metadata.version === metadata.version,
    );
    if (same === undefined || same.file.digest === digest) return;
    if (!force) {
      throw new BkeError(
        'BKE_CHART_CONFLICT',
        `chart ${metadata.name} ${metadata.version} is in the repository with other content (${same.file.path}, ${same.file.digest})`,
        { hint: 'Give the chart a new version, or replace the old one with --force.' },
      );
    }
    if (same.file.path !== path) await this.remove('charts', same.file.path);
  }

  async remove(area: Area, path: string): Promise<boolean> {
    const absolute = await plainFile(this.#areas[area], path);
    if (absolute === undefined) return false;
    await rm(absolute);
    await rm(this.#digests.forget(`${area}/${path}`), { force: true });
    await syncDirectory(dirname(absolute));
    return true;
  }
}

/** undefined where it was removed since it was looked for. */
async function openPlain(absolute: string): Promise<FileHandle | undefined> {
  try {
    return await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ELOOP')) return undefined;
    throw thrown;
  }
}

/** Keeps the handle open: who opened it also syncs it. */
function writerOf(
  file: FileHandle,
  onBytes?: (bytes: number) => void,
): (chunks: AsyncIterable<Buffer>) => Promise<void> {
  return async (chunks) => {
    for await (const chunk of chunks) {
      await writeAll(file, chunk);
      onBytes?.(chunk.length);
    }
  };
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  let written = 0;
  while (written < chunk.length) written += (await file.write(chunk, written)).bytesWritten;
}

function mismatchOf({ path, digest }: NewFile): (actual: { readonly digest: Digest; readonly size: number }) => Error {
  return (actual) =>
    new BkeError(
      'BKE_DIGEST_MISMATCH',
      `${path} should be ${digest} but what came is ${actual.digest} (${actual.size} bytes)`,
    );
}
