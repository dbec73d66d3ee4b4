// Programs of Debian with everything they load, as layer entries: some images need iptables and the like.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ArchiveEntry } from '../../../scripts/image/archive.ts';
import { Closure } from '../../../scripts/image/closure.ts';

/** What kube-proxy and flannel call, and what an init container needs to copy a file. */
const programs = [
  ...['sh', 'cp', 'mkdir', 'ls', 'cat'].map((name) => `/usr/bin/${name}`),
  ...['iptables', 'iptables-save', 'iptables-restore'].map((name) => `/usr/sbin/${name}`),
  ...['ip6tables', 'ip6tables-save', 'ip6tables-restore'].map((name) => `/usr/sbin/${name}`),
  ...['nft', 'conntrack', 'modprobe'].map((name) => `/usr/sbin/${name}`),
  '/usr/bin/ip',
];

const libraries = '/usr/lib/x86_64-linux-gnu';

/** Loaded by name at run time, so that no list of libraries names them. */
const pluginFolders = [`${libraries}/xtables`];

/** The programs and their libraries out of a Debian root. */
export async function toolEntries(root: string): Promise<ArchiveEntry[]> {
  const closure = new Closure({ root, folders: [libraries] });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) await closure.add(`/${name}`);
  for (const program of programs) await closure.addProgram(program);
  for (const folder of pluginFolders) {
    for (const name of await readdir(path.join(root, folder))) await closure.addProgram(path.join(folder, name));
  }
  return closure.entries;
}
