// Programs of one Linux tree (this machine's, a Debian root, cross libraries) with every library they load, as entries of a layer.
import { lstat, readlink } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import type { ArchiveEntry } from './archive.ts';

/** Where libraries come from. */
export interface LibraryTree {
  /** Folder that stands for `/`: links in it are followed inside of it. */
  readonly root: string;
  /** Folders of the tree that are looked through, in order: those the loader itself looks through. */
  readonly folders: readonly string[];
}

interface Dynamic {
  readonly interpreter: string | undefined;
  readonly needed: readonly string[];
}

const mostLinks = 40;

/** Gathers files under the paths they have in the tree, and the links that lead to them. */
export class Closure {
  readonly #found = new Map<string, ArchiveEntry>();
  readonly #tree: LibraryTree;

  constructor(tree: LibraryTree) {
    this.#tree = tree;
  }

  get entries(): ArchiveEntry[] {
    return [...this.#found.values()];
  }

  /** Adds a file of the tree, or a link to a folder; gives the file at the end of its links. @throws Error where there is none. */
  async add(file: string): Promise<string> {
    let rest = file.split('/').filter((part) => part !== '');
    let reached = '/';
    for (let links = 0; rest.length > 0; ) {
      const [part = '', ...further] = rest;
      const place = path.join(reached, part);
      const source = path.join(this.#tree.root, place);
      const info = await lstat(source);
      if (info.isSymbolicLink()) {
        if ((links += 1) > mostLinks) throw new Error(`${file}: too many links`);
        const target = await readlink(source);
        this.#found.set(place, { path: place, type: 'symlink', target });
        rest = [...path.resolve(reached, target).split('/').slice(1), ...further].filter((name) => name !== '');
        reached = '/';
        continue;
      }
      if (info.isFile()) this.#found.set(place, { path: place, type: 'file', source, mode: info.mode & 0o777 });
      reached = place;
      rest = further;
    }
    return reached;
  }

  /** A program or library of the tree itself. */
  async addProgram(file: string): Promise<void> {
    await this.addLibrariesOf(path.join(this.#tree.root, await this.add(file)));
  }

  /** All that a file, wherever it lies on this machine, is loaded with. */
  async addLibrariesOf(source: string): Promise<void> {
    const { interpreter, needed } = await readDynamic(source);
    if (interpreter !== undefined) await this.add(interpreter);
    for (const name of needed) {
      const library = await this.#find(name, source);
      if (!this.#found.has(library)) await this.addProgram(library);
    }
  }

  async #find(name: string, neededBy: string): Promise<string> {
    for (const folder of this.#tree.folders) {
      const file = path.join(folder, name);
      if (await lstat(path.join(this.#tree.root, file)).catch(() => undefined)) return file;
    }
    throw new Error(
      `${neededBy} needs ${name}, which is not in ${this.#tree.folders.join(' or ')} of ${this.#tree.root}`,
    );
  }
}

/** readelf reads programs of every architecture; the loader itself would have to run them. */
async function readDynamic(file: string): Promise<Dynamic> {
  const { stdout } = await execa('readelf', ['-W', '-l', '-d', file], { env: { LC_ALL: 'C' } });
  return {
    interpreter: /Requesting program interpreter: (\S+)\]/.exec(stdout)?.[1],
    needed: [...stdout.matchAll(/\(NEEDED\).*\[(.+)\]/g)].flatMap(([, name]) => name ?? []),
  };
}
