// mkdir -p that always ends: Node's own loops for ever where the kernel answers ENOENT below an existing directory (/proc).
import { chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isErrno } from './errno.ts';

/** Makes the directory and those above it that are missing, all with `mode`, whatever the umask. @throws the system's error, also where something else is there. */
export async function ensureDirectory(path: string, mode: number): Promise<void> {
  const missing: string[] = [];
  let at = path;
  while ((await makeOne(at, mode)) === 'parent missing') {
    missing.push(at);
    if (missing.length > 1 && dirname(at) === at) break;
    at = dirname(at);
  }
  for (const directory of missing.reverse()) await makeWith(directory, mode);
}

async function makeOne(path: string, mode: number): Promise<'there' | 'parent missing'> {
  try {
    await makeWith(path, mode);
    return 'there';
  } catch (thrown) {
    if (isErrno(thrown, 'EEXIST')) return 'there';
    if (isErrno(thrown, 'ENOENT')) return 'parent missing';
    throw thrown;
  }
}

async function makeWith(path: string, mode: number): Promise<void> {
  await mkdir(path, { mode });
  await chmod(path, mode);
}
