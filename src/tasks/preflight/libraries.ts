// The versions of the C and C++ libraries of a host, read from the libraries themselves.
import type { Host } from '../../host/host.ts';

const folders = [
  '/lib64',
  '/usr/lib64',
  '/lib/x86_64-linux-gnu',
  '/usr/lib/x86_64-linux-gnu',
  '/lib/aarch64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/lib',
  '/usr/lib',
];

export interface LibraryVersions {
  readonly glibc: string | undefined;
  readonly glibcxx: string | undefined;
}

export async function readLibraryVersions(host: Host): Promise<LibraryVersions> {
  const libc = await versionsIn(host, 'libc.so.6', /GNU C Library[^\n\0]*? version (\d+\.\d+)/g);
  const libstdcxx = await versionsIn(host, 'libstdc++.so.6', /GLIBCXX_(\d+\.\d+\.\d+)/g);
  return { glibc: libc.at(-1), glibcxx: libstdcxx.at(-1) };
}

/** What a pattern finds in a library, ascending; nothing where there is no such library. */
async function versionsIn(host: Host, name: string, pattern: RegExp): Promise<string[]> {
  for (const folder of folders) {
    const path = await host.files.realPath(`${folder}/${name}`);
    if (path === undefined) continue;
    const found = new Set<string>();
    let rest = '';
    for await (const chunk of host.files.stream(path)) {
      const text = rest + (Buffer.isBuffer(chunk) ? chunk.toString('latin1') : '');
      for (const match of text.matchAll(pattern)) found.add(match[1] ?? '');
      // A match may lie across two chunks.
      rest = text.slice(-200);
    }
    return [...found].sort(byNumbers);
  }
  return [];
}

function byNumbers(a: string, b: string): number {
  const [first, second] = [a, b].map((version) => version.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (first?.[index] ?? 0) - (second?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
