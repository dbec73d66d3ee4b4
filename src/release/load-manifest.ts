// Reads a release manifest; all its mistakes are told at once, each with file, line and column.
import { readFile } from 'node:fs/promises';
import { readYaml } from '../config/read-yaml.ts';
import { whyUnreadable } from '../lib/errno.ts';
import { BkeError } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import { type ReleaseManifest, releaseManifest } from './manifest.ts';

/**
 * @param file the path as the user wrote it, for messages.
 * @throws BkeError BKE_MANIFEST_INVALID with one detail per mistake.
 */
export async function loadManifest(path: string, file = path): Promise<ReleaseManifest> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const known = whyUnreadable(cause);
    throw new BkeError('BKE_MANIFEST_INVALID', `cannot read the release manifest ${file}: ${known ?? String(cause)}`, {
      cause: known === undefined ? cause : undefined,
    });
  });
  return parseManifest(text, file);
}

/** @param file as the user wrote it, for messages. */
export function parseManifest(text: string, file: string): ReleaseManifest {
  const result = readYaml(text, file, releaseManifest);
  if ('value' in result) return result.value;
  throw new BkeError('BKE_MANIFEST_INVALID', `${file} has ${plural(result.problems.length, 'mistake')}`, {
    details: result.problems.map(({ at, field, message }) => `${at}: ${field}: ${message}`),
  });
}
