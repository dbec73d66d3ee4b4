// All JavaScript of the binary: `main.cjs`, which Node starts, and the chunks with their code caches and source maps, which are its assets.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { build, type Metafile } from 'esbuild';
import { execa } from 'execa';
import { buildChunks } from './chunks.ts';

/** Flags of Node with which V8 makes the same code cache every time; it is good without them. */
export const sameEveryTime: readonly string[] = ['--predictable', '--random-seed=1'];

/** Writes it all into the folder `work`: the same bytes every time. @returns what it is made of. */
export async function buildProgram(root: string, work: string): Promise<Metafile> {
  const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { scripts, metafile } = await buildChunks(root, version);
  const folder = join(work, 'chunks');
  await mkdir(folder);
  for (const { name, source, map } of scripts) {
    await writeFile(join(folder, name), source);
    await writeFile(join(folder, `${name}.map`), map);
  }
  await writeCodeCaches(root, folder);
  await build({
    entryPoints: [join(root, 'bin/sea.ts')],
    outfile: join(work, 'main.cjs'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    keepNames: true,
    logLevel: 'warning',
  });
  return metafile;
}

/** Asset key -> file. V8's code cache is only valid for the architecture that made it. */
export async function programAssets(work: string, withCache: boolean): Promise<Record<string, string>> {
  const names = (await readdir(join(work, 'chunks'))).filter((name) => withCache || !name.endsWith('.cache'));
  return Object.fromEntries(names.toSorted().map((name) => [`chunks/${name}`, join(work, 'chunks', name)]));
}

/** In a process of their own; this one, started like any other, sees whether V8 takes them. */
async function writeCodeCaches(root: string, folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  const command = [...sameEveryTime, join(root, 'scripts/code-cache.ts'), folder];
  await execa(process.execPath, command, { stdin: 'ignore', stdout: 'ignore', env: {}, extendEnv: false });
  for (const name of names) {
    const cachedData = await readFile(join(folder, `${name}.cache`));
    const script = new Script(await readFile(join(folder, name), 'utf8'), { cachedData });
    if (script.cachedDataRejected !== false) throw new Error(`${name}: V8 refuses its code cache`);
  }
}
