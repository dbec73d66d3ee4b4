// Reads files of assets/, all of them text: from inside the binary where bke is one, else from the project's folder.
import { readFile } from 'node:fs/promises';

/**
 * @param name path relative to the project, e.g. `assets/units/bke-registry.service`.
 * @throws Error where it does not exist: a bug, since assets are built in.
 */
export async function readAsset(name: string): Promise<string> {
  const sea = await import('node:sea');
  if (sea.isSea()) return Buffer.from(sea.getRawAsset(name)).toString();
  return readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
}

/** true inside the built binary, false when run from source. */
export async function isBuiltBinary(): Promise<boolean> {
  return (await import('node:sea')).isSea();
}
