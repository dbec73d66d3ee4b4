// Built components by name, out of the cache or compiled into it.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { cached } from '../cache.ts';
import { TestbedError } from '../run.ts';
import { type Arch, type Component, type Versions, defaultVersions } from './component.ts';
import { compile, compileOwn, goVersion } from './go.ts';
import { componentTable } from './table.ts';

/** A finished build. */
export interface Build {
  component: Component;
  /** Folder with `bin/` and, where kept, `config/`. */
  dir: string;
  /** Path of one of its programs. */
  program(name: string): string;
}

/** What is built for which machine. */
export interface BuildOptions {
  versions?: Versions;
  arch?: Arch;
}

/** Builds (or finds) one component of the table. */
export async function buildComponent(name: string, options: BuildOptions = {}): Promise<Build> {
  const component = componentTable(options.versions ?? defaultVersions).find((entry) => entry.name === name);
  if (component === undefined) throw new TestbedError(`no component is named ${name}`);
  return build(component, options.arch ?? 'amd64');
}

/** Builds every component, one after the other: two at once only slow each other down on a small machine. */
export async function buildAll(options: BuildOptions = {}): Promise<Build[]> {
  const builds: Build[] = [];
  for (const component of componentTable(options.versions ?? defaultVersions)) {
    builds.push(await build(component, options.arch ?? 'amd64'));
  }
  return builds;
}

async function build(component: Component, arch: Arch): Promise<Build> {
  const recipe = { component, arch, go: await goVersion(), recipeVersion: 1 };
  const name = `${component.name}-${component.version}-${arch}`;
  const dir = await cached({ kind: 'builds', name, recipe }, (draft) => compile(component, arch, draft));
  return { component, dir, program: (program) => programPath(component, dir, program) };
}

function programPath(component: Component, dir: string, program: string): string {
  if (component.programs[program] === undefined) {
    throw new TestbedError(`${component.name} has no program ${program}`);
  }
  return path.join(dir, 'bin', program);
}

/** Names of our own static programs in `programs/`. */
export type OwnProgram = 'pause' | 'probe';

/** Path of one of our own programs, compiled when its source changed. */
export async function buildOwn(name: OwnProgram, arch: Arch = 'amd64'): Promise<string> {
  const source = path.join(import.meta.dirname, '..', 'programs', name);
  const digest = createHash('sha256');
  for (const file of (await readdir(source)).sort()) digest.update(await readFile(path.join(source, file)));
  const recipe = { source: digest.digest('hex'), arch, go: await goVersion() };
  const entry = { kind: 'builds', name: `${name}-${arch}`, recipe };
  const dir = await cached(entry, (draft) => compileOwn(source, name, arch, draft));
  return path.join(dir, name);
}
