// Whether a directory holds nothing but what is to stay on the host.
import { join } from 'node:path';
import type { Host } from '../host.ts';

function isAbove(path: string, other: string): boolean {
  return other.startsWith(`${path}/`);
}

/** @param keep paths that stay with all that is in them. An empty directory holds nothing that stays. */
export async function holdsOnlyKept(host: Host, folder: string, keep: readonly string[]): Promise<boolean> {
  const names = await host.files.list(folder);
  for (const name of names) {
    const path = join(folder, name);
    if (keep.includes(path)) continue;
    if (!keep.some((kept) => isAbove(path, kept)) || !(await holdsOnlyKept(host, path, keep))) return false;
  }
  return names.length > 0;
}
