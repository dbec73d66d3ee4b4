// Reads a release manifest; all its mistakes are told at once, each with file, line and column.
import { problemLines } from '../config/problem.ts';
import { readYaml } from '../config/read-yaml.ts';
import { readYamlFile } from '../config/yaml-file.ts';
import { BkeError } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import { type ReleaseManifest, releaseManifest } from './manifest.ts';

/**
 * @param file the path as the user wrote it, for messages.
 * @throws BkeError BKE_MANIFEST_INVALID with one detail per mistake.
 */
export async function loadManifest(path: string, file = path): Promise<ReleaseManifest> {
  const text = await readYamlFile({ path, name: file, what: 'release manifest', code: 'BKE_MANIFEST_INVALID' });
  return parseManifest(text, file);
}

/** @param file as the user wrote it, for messages. */
export function parseManifest(text: string, file: string): ReleaseManifest {
  const result = readYaml(text, file, releaseManifest);
  if ('value' in result) return result.value;
  throw new BkeError('BKE_MANIFEST_INVALID', `${file} has ${plural(result.problems.length, 'mistake')}`, {
    details: problemLines(result.problems),
  });
}
