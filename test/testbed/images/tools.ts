// Programs of Debian with everything they load, as layer entries: some images need iptables and the like.
import { lstat, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import type { ArchiveEntry } from '../archive.ts';
import { run } from '../run.ts';

/** What kube-proxy and flannel call, and what an init container needs to copy a file. */
const programs = [
  ...['sh', 'cp', 'mkdir', 'ls', 'cat'].map((name) => `/usr/bin/${name}`),
  ...['iptables', 'iptables-save', 'iptables-restore'].map((name) => `/usr/sbin/${name}`),
  ...['ip6tables', 'ip6tables-save', 'ip6tables-restore'].map((name) => `/usr/sbin/${name}`),
  ...['nft', 'conntrack', 'modprobe'].map((name) => `/usr/sbin/${name}`),
  '/usr/bin/ip',
];

/** Loaded by name at run time, so that no list of libraries names them. */
const pluginFolders = ['/usr/lib/x86_64-linux-gnu/xtables'];

const loader = '/lib64/ld-linux-x86-64.so.2';

/** The programs and their libraries out of a Debian root. */
export async function toolEntries(root: string): Promise<ArchiveEntry[]> {
  const collector = new Collector(root);
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) await collector.add(`/${name}`);
  await collector.add(canonical(loader));
  for (const program of programs) await collector.addWithLibraries(program);
  for (const folder of pluginFolders) {
    for (const name of await readdir(path.join(root, folder)))
      await collector.addWithLibraries(path.join(folder, name));
  }
  return [...collector.entries.values()];
}

/** Debian's /bin, /sbin, /lib and /lib64 are links into /usr. */
function canonical(file: string): string {
  return file.replace(/^\/(bin|sbin|lib|lib64)\//, '/usr/$1/');
}

class Collector {
  readonly entries = new Map<string, ArchiveEntry>();
  private readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Adds a file, following links; gives the path of the file at their end. */
  async add(file: string): Promise<string> {
    const source = path.join(this.root, file);
    const info = await lstat(source);
    if (info.isDirectory()) return file;
    if (!info.isSymbolicLink()) {
      this.entries.set(file, { path: file, type: 'file', source, mode: info.mode & 0o777 });
      return file;
    }
    const target = await readlink(source);
    this.entries.set(file, { path: file, type: 'symlink', target });
    return this.add(canonical(path.resolve(path.dirname(file), target)));
  }

  async addWithLibraries(program: string): Promise<void> {
    const file = await this.add(program);
    const { stdout } = await run(['chroot', this.root, loader, '--list', file]);
    for (const [, library] of stdout.matchAll(/=> (\/\S+)/g))
      if (library !== undefined) await this.add(canonical(library));
  }
}
