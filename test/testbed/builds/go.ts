// Compiles the programs of one component in a wrapper module of its own, so that no checkout of the component is needed.
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run, TestbedError } from '../run.ts';
import type { Arch, Component } from './component.ts';

const downloadLimit = 900;
const compileLimit = 3000;

/** The Go release in use, part of every key: `go1.26.8`. */
export async function goVersion(): Promise<string> {
  return (await run(['go', 'env', 'GOVERSION'])).stdout.trim();
}

/** Where a module's files are on this machine (downloaded when missing). */
async function moduleFolder(module: string, version: string): Promise<string> {
  const { stdout } = await run(['go', 'mod', 'download', '-json', `${module}@${version}`], {
    env: { GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' },
    timeout: downloadLimit,
  });
  const folder = /"Dir": "(.+)"/.exec(stdout)?.[1];
  if (folder === undefined) throw new TestbedError(`go mod download names no folder for ${module}@${version}`);
  return folder;
}

/** Fills `dir` with `bin/`, the kept folders and the wrapper's `go.mod` and `go.sum`. */
export async function compile(component: Component, arch: Arch, dir: string): Promise<void> {
  const source = await moduleFolder(component.module, component.version);
  const wrapper = path.join(dir, 'wrapper');
  await mkdir(wrapper, { recursive: true });
  await writeFile(path.join(wrapper, 'go.mod'), await wrapperModule(component, source));
  const bin = path.join(dir, 'bin');
  await mkdir(bin);
  await goBuild({ cwd: wrapper, out: `${bin}/`, component, arch });
  for (const [name, importPath] of Object.entries(component.programs)) {
    const built = defaultName(importPath);
    if (built !== name) await rename(path.join(bin, built), path.join(bin, name));
  }
  for (const kept of component.keep ?? []) {
    await cp(path.join(source, kept.from), path.join(dir, kept.to), { recursive: true, mode: 0 });
  }
  await run(['chmod', '-R', 'u+w', dir]);
  await rename(path.join(wrapper, 'go.mod'), path.join(dir, 'go.mod'));
  await rename(path.join(wrapper, 'go.sum'), path.join(dir, 'go.sum'));
  await rm(wrapper, { recursive: true });
}

interface GoBuild {
  cwd: string;
  out: string;
  component: Pick<Component, 'programs' | 'cgo' | 'static' | 'tags' | 'variables'>;
  arch: Arch;
}

/** One `go build` of all programs; niced, because a build beside tests must not starve them. */
async function goBuild({ cwd, out, component, arch }: GoBuild): Promise<void> {
  const variables = Object.entries(component.variables).map(([name, value]) => `-X ${name}=${value}`);
  const linkStatic = component.cgo && component.static ? ['-linkmode external', '-extldflags -static'] : [];
  const ldflags = ['-s', '-w', ...linkStatic, ...variables].join(' ');
  await run(
    [
      'nice',
      '-n',
      '10',
      'go',
      'build',
      '-trimpath',
      '-o',
      out,
      '-ldflags',
      ldflags,
      ...(component.tags.length === 0 ? [] : ['-tags', component.tags.join(' ')]),
      ...Object.values(component.programs),
    ],
    { cwd, env: goEnvironment(component.cgo, arch), timeout: compileLimit },
  );
}

function goEnvironment(cgo: boolean, arch: Arch): Record<string, string> {
  return {
    CGO_ENABLED: cgo ? '1' : '0',
    GOOS: 'linux',
    GOARCH: arch,
    GOFLAGS: '-mod=mod -buildvcs=false',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
  };
}

/** Compiles a static program of our own from a folder of Go files without dependencies. */
export async function compileOwn(source: string, name: string, arch: Arch, dir: string): Promise<void> {
  const copy = path.join(dir, 'source');
  await cp(source, copy, { recursive: true });
  await writeFile(path.join(copy, 'go.mod'), `module bke.test/${name}\n\ngo 1.24\n`);
  const component = { programs: { [name]: '.' }, cgo: false, tags: [], variables: {} };
  await goBuild({ cwd: copy, out: path.join(dir, name), component, arch });
  await rm(copy, { recursive: true });
}

/** The name `go build -o dir/` gives a program: the last part of its path that is no major version. */
function defaultName(importPath: string): string {
  const parts = importPath.split('/').filter((part, index, all) => !(index === all.length - 1 && /^v\d+$/.test(part)));
  return parts.at(-1) ?? importPath;
}

async function wrapperModule(component: Component, source: string): Promise<string> {
  const requires = [`${component.module}@${component.version}`, ...(component.requires ?? [])];
  const replaces =
    component.replaces === 'staging' ? await stagingModules(source, component.version) : (component.replaces ?? []);
  const goLine = /^go .*$/m.exec(await readFile(path.join(source, 'go.mod'), 'utf8'))?.[0] ?? 'go 1.24';
  return [
    `module bke.test/${component.name}`,
    goLine,
    ...requires.map((pair) => `require ${pair.replace('@', ' ')}`),
    ...replaces.map((pair) => `replace ${pair.split('@')[0]} => ${pair.replace('@', ' ')}`),
    '',
  ].join('\n');
}

/** Kubernetes requires its staging modules at v0.0.0 and replaces them by folders that a module archive lacks; their releases are v0.X.Y. */
async function stagingModules(source: string, version: string): Promise<string[]> {
  const text = await readFile(path.join(source, 'go.mod'), 'utf8');
  const names = [...text.matchAll(/^\s*(\S+) => \.\/staging\//gm)].map((match) => match[1] ?? '');
  return names.map((name) => `${name}@${version.replace(/^v1\./, 'v0.')}`);
}
