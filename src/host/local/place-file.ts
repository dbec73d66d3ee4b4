// Puts files and links in place: written beside it, with exact attributes whatever the umask, synced, renamed, and the directory synced.
import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { draftPath } from '../drafts.ts';
import { errnoOf, fileError } from '../errno.ts';
import type { FileAttributes, WriteAttributes } from '../host.ts';
import { statOf } from './file-access.ts';
import type { FileSystem } from './file-system.ts';
import { runProgram } from './run.ts';

export type Content = string | Uint8Array | Readable;

/** Where the file system has it, and where the host (and so the user) knows it. */
export interface Place {
  readonly real: string;
  readonly named: string;
}

/** File systems of the kernel's own (control groups, /proc, /sys) have no disk: they answer EINVAL, and there is nothing to wait for. */
export async function syncDirectory(fs: FileSystem, path: string): Promise<void> {
  const directory = await fs.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EINVAL') throw thrown;
  } finally {
    await directory.close();
  }
}

async function* pieces(content: Content): AsyncGenerator<Uint8Array> {
  if (typeof content === 'string') yield Buffer.from(content);
  else if (content instanceof Readable) {
    const chunks: AsyncIterable<string | Uint8Array> = content;
    for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } else yield content;
}

/** Node sets times as floating seconds, which lose the last digits of nanoseconds; where that shows, touch(1) sets them exactly. */
async function setModified(fs: FileSystem, path: string, mtimeNs: string): Promise<void> {
  const seconds = Number(BigInt(mtimeNs) / 1_000_000_000n);
  const nanoseconds = (BigInt(mtimeNs) % 1_000_000_000n).toString().padStart(9, '0');
  await fs.utimes(path, new Date(), Number(mtimeNs) / 1e9);
  if ((await fs.lstat(path, { bigint: true })).mtimeNs.toString() === mtimeNs) return;
  await runProgram(['touch', '--no-create', '--no-dereference', '-m', `--date=@${seconds}.${nanoseconds}`, path]);
}

async function fill(fs: FileSystem, draft: string, content: Content, attributes: WriteAttributes): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await fs.open(draft, flags, 0o600);
  try {
    for await (const piece of pieces(content)) await file.writeFile(piece);
    await file.chown(attributes.uid, attributes.gid);
    await file.chmod(attributes.mode);
    if (attributes.mtimeNs !== undefined) await setModified(fs, draft, attributes.mtimeNs);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The cause is told, not what came of cleaning up after it. */
async function discard(fs: FileSystem, draft: string): Promise<void> {
  const there = await statOf(fs, draft).catch(() => undefined);
  await (there?.stat.type === 'directory' ? fs.rmdir(draft) : fs.unlink(draft)).catch(() => undefined);
}

/** Makes something under a temporary name, then renames it to its place; what failed leaves nothing behind. */
async function place(fs: FileSystem, at: Place, make: (draft: string) => Promise<void>): Promise<void> {
  const draft = draftPath(at.real);
  try {
    await make(draft);
    await fs.rename(draft, at.real);
  } catch (thrown) {
    await discard(fs, draft);
    throw thrown;
  }
  await syncDirectory(fs, dirname(at.real));
}

/** @throws BkeError BKE_SYSTEM (EEXIST) where something is there: a rename would replace an empty directory of someone else. */
export async function placeDirectory(fs: FileSystem, at: Place, attributes: FileAttributes): Promise<void> {
  try {
    if ((await statOf(fs, at.real)) !== undefined) await fs.mkdir(at.real);
    await place(fs, at, async (draft) => {
      await fs.mkdir(draft, 0o700);
      await fs.lchown(draft, attributes.uid, attributes.gid);
      await fs.chmod(draft, attributes.mode);
    });
  } catch (thrown) {
    throw fileError(thrown, { what: 'making', path: at.named });
  }
}

function lengthOf(content: Content): { bytes: number } | undefined {
  return content instanceof Readable ? undefined : { bytes: Buffer.byteLength(content) };
}

export async function placeFile(
  fs: FileSystem,
  at: Place,
  content: Content,
  attributes: WriteAttributes,
): Promise<void> {
  try {
    await place(fs, at, (draft) => fill(fs, draft, content, attributes));
  } catch (thrown) {
    if (content instanceof Readable) content.destroy();
    throw fileError(thrown, { what: 'writing', path: at.named, ...lengthOf(content) });
  }
}

export async function placeLink(fs: FileSystem, at: Place, target: string): Promise<void> {
  try {
    await place(fs, at, (draft) => fs.symlink(target, draft));
  } catch (thrown) {
    throw fileError(thrown, { what: 'linking', path: at.named });
  }
}
