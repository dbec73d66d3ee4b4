// Writes a compressed tar with sorted entries and no times, so that the same content has the same digest: image layers, archives.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';

/** One entry; `path` begins with / also where the archive is no image. All entries belong to root. */
export type ArchiveEntry =
  | { path: string; type: 'file'; source: string; mode?: number }
  | { path: string; type: 'text'; text: string; mode?: number }
  | { path: string; type: 'symlink'; target: string }
  | { path: string; type: 'directory'; mode?: number };

/** What was written. */
export interface WrittenArchive {
  /** Hex digits of the SHA-256 of the file. */
  digest: string;
  size: number;
  /** Hex digits of the SHA-256 of the tar before compression. */
  plainDigest: string;
}

const epoch = new Date(0);

/** Writes the entries as `.tar.gz` to a file. */
export async function writeArchive(entries: readonly ArchiveEntry[], file: string): Promise<WrittenArchive> {
  const archive = pack();
  const plain = createHash('sha256');
  const compressed = createHash('sha256');
  const target = createWriteStream(file, { mode: 0o644 });
  const written = pipeline(archive, hashed(plain), createGzip({ level: 6 }), hashed(compressed), target);
  await Promise.all([written, addEntries(archive, entries)]);
  return { digest: compressed.digest('hex'), size: target.bytesWritten, plainDigest: plain.digest('hex') };
}

function hashed(hash: Hash): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
}

async function addEntries(archive: Pack, entries: readonly ArchiveEntry[]): Promise<void> {
  for (const entry of withParents(entries)) await addEntry(archive, entry);
  archive.finalize();
}

/** Sorted by path, each once, with the directories above them; a parent that is a link is no directory of its own. */
function withParents(entries: readonly ArchiveEntry[]): ArchiveEntry[] {
  const all = new Map<string, ArchiveEntry>();
  for (const entry of entries) {
    for (let parent = path.dirname(entry.path); parent !== '/'; parent = path.dirname(parent)) {
      if (!all.has(parent)) all.set(parent, { path: parent, type: 'directory' });
    }
  }
  for (const entry of entries) all.set(entry.path, entry);
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function addEntry(archive: Pack, entry: ArchiveEntry): Promise<void> {
  const common = { name: entry.path.slice(1), mtime: epoch, uid: 0, gid: 0 };
  if (entry.type === 'symlink') {
    archive.entry({ ...common, type: 'symlink', linkname: entry.target, mode: 0o777 });
  } else if (entry.type === 'directory') {
    archive.entry({ ...common, name: `${common.name}/`, type: 'directory', mode: entry.mode ?? 0o755 });
  } else if (entry.type === 'text') {
    archive.entry({ ...common, type: 'file', mode: entry.mode ?? 0o644 }, entry.text);
  } else {
    const { size } = await stat(entry.source);
    const sink = archive.entry({ ...common, type: 'file', mode: entry.mode ?? 0o755, size });
    await pipeline(createReadStream(entry.source), sink);
  }
}
