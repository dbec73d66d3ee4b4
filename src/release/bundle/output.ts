// Where a bundle may be written: never over something that it is made from.
import { realpath, stat } from 'node:fs/promises';
import type { BigIntStats } from 'node:fs';
import { relative, resolve } from 'node:path';
import { writeTarget } from '../../lib/atomic-file.ts';
import { isErrno } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import type { Artifact, ReleaseManifest, Source } from '../manifest.ts';

/** A file the build reads. */
export interface BuildInput {
  /** Absolute. */
  readonly path: string;
  /** For messages: 'the signing key'. */
  readonly what: string;
}

export interface WantedOutput {
  /** Absolute, as it was asked for. */
  readonly path: string;
  readonly inputs: readonly BuildInput[];
  readonly manifest: ReleaseManifest;
  /** Folder that relative paths in the manifest start from. */
  readonly folder: string;
}

/**
 * Looked at before any work. Files are told apart by inode: a hard link, or the same file by another path, is the same file.
 * @returns the file that will be written, behind symbolic links. @throws BkeError BKE_USAGE
 */
export async function chooseOutput({ path, inputs, manifest, folder }: WantedOutput): Promise<string> {
  const target = await writeTarget(path);
  const there = await statOrNothing(target);
  // What is not there cannot be what another name stands for.
  if (there === undefined) return target;
  const sources = manifest.spec.artifacts.flatMap(sourcesOf);
  const files = sources.flatMap(({ file }) => (file === undefined ? [] : [resolve(folder, file)]));
  const read = [...inputs, ...files.map((file) => ({ path: file, what: `a source of the release` }))];
  for (const input of read) {
    const found = await statOrNothing(input.path);
    if (found !== undefined && found.dev === there.dev && found.ino === there.ino) throw overwrites(path, input.what);
  }
  const layouts = sources.flatMap(({ layout }) => (layout === undefined ? [] : [resolve(folder, layout)]));
  for (const layout of layouts) {
    if (await isPartOf(layout, target)) throw overwrites(path, `a part of the image layout ${layout}`);
  }
  return target;
}

function sourcesOf(artifact: Artifact): Source[] {
  return artifact.kind === 'chart' ? [artifact.source] : Object.values(artifact.sources);
}

async function isPartOf(layout: string, target: string): Promise<boolean> {
  if ((await statOrNothing(layout)) === undefined) return false;
  const inside = relative(await realpath(layout), await realpath(target));
  return inside === 'index.json' || inside === 'oci-layout' || inside.startsWith('blobs/');
}

async function statOrNothing(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (thrown) {
    // What cannot be reached is told by whoever reads it.
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG')) return undefined;
    throw thrown;
  }
}

function overwrites(path: string, what: string): BkeError {
  return new BkeError('BKE_USAGE', `cannot write the bundle to ${path}: it is ${what}`, {
    hint: 'Name another file with --output.',
  });
}
