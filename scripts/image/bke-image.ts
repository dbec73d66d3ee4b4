// What bke's own image is made of: the binary, the libraries it loads, a user. No shell, no package manager.
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ArchiveEntry } from './archive.ts';
import { Closure, type LibraryTree } from './closure.ts';
import type { Arch, ImageContent } from './layout.ts';

/** No user of a host has it by chance: the number that other images without root use, too. */
const user = 65_532;

const triplets = { amd64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' } as const;
const nodeNames = { amd64: 'x64', arm64: 'arm64' } as const;

/** Their licences want to travel with the libraries (LGPL 2.1 section 6, GPL 3 with the runtime exception). */
const libraryPackages = ['libc6', 'libgcc-s1', 'libstdc++6'];

/** Without nsswitch.conf glibc would ask DNS before /etc/hosts. */
const texts = {
  '/etc/passwd': `root:x:0:0:root:/nonexistent:/nonexistent\nbke:x:${user}:${user}:bke:/nonexistent:/nonexistent\n`,
  '/etc/group': `root:x:0:\nbke:x:${user}:\n`,
  '/etc/nsswitch.conf': 'hosts: files dns\n',
};

/** Full public name; its tag is bke's version. */
export function bkeImageRef(version: string): string {
  return `bke.io/bke:v${version}`;
}

/**
 * @param binary dist/bke-linux-<arch>
 * @throws Error where this machine has not the libraries of that architecture
 */
export async function bkeImage(binary: string, arch: Arch): Promise<ImageContent> {
  const closure = new Closure(libraryTree(arch));
  await closure.addLibrariesOf(binary);
  const base: ArchiveEntry[] = [
    ...closure.entries,
    ...Object.entries(texts).map(([place, text]) => ({ path: place, type: 'text' as const, text })),
    ...(await licences()),
    { path: '/tmp', type: 'directory', mode: 0o1777 },
  ];
  // Two layers: a new bke with the same libraries is one blob to carry.
  const program: ArchiveEntry = { path: '/usr/local/bin/bke', type: 'file', source: binary, mode: 0o755 };
  return { layers: [base, [program]], entrypoint: ['/usr/local/bin/bke'], user: `${user}:${user}` };
}

/** Whether the libraries of an architecture are on this machine. */
export async function hasLibraries(arch: Arch): Promise<boolean> {
  const { root, folders } = libraryTree(arch);
  const found = await Promise.all(
    folders.map((folder) => stat(path.join(root, folder, 'libstdc++.so.6')).catch(() => undefined)),
  );
  return found.some((one) => one !== undefined);
}

/** This machine's own libraries, or those of Debian's cross compilers; in both the loader looks through these folders by itself. */
function libraryTree(arch: Arch): LibraryTree {
  const triplet = triplets[arch];
  if (process.arch === nodeNames[arch]) return { root: '/', folders: [`/lib/${triplet}`, '/lib64', '/lib'] };
  return { root: `/usr/${triplet}`, folders: ['/lib'] };
}

async function licences(): Promise<ArchiveEntry[]> {
  const found = libraryPackages.map(async (name): Promise<ArchiveEntry[]> => {
    const place = `/usr/share/doc/${name}/copyright`;
    const source = await realpath(place).catch(() => undefined);
    return source === undefined ? [] : [{ path: place, type: 'file', source, mode: 0o644 }];
  });
  return (await Promise.all(found)).flat();
}
