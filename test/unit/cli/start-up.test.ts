import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Packages and source files that are loaded before any command is chosen: reached by static imports alone. */
async function eagerGraph(): Promise<{ packages: string[]; files: string[]; builtins: string[] }> {
  const result = await build({
    entryPoints: ['bin/bke.ts'],
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'esm',
    splitting: false,
    write: false,
    outdir: 'dist',
    metafile: true,
    logLevel: 'silent',
    external: ['cpu-features'],
    loader: { '.node': 'empty' },
  });
  const { inputs } = result.metafile;
  const eager = new Set<string>();
  const builtins = new Set<string>();
  const visit = (path: string): void => {
    if (eager.has(path)) return;
    eager.add(path);
    for (const { path: next, kind, external } of inputs[path]?.imports ?? []) {
      if (kind !== 'import-statement' && kind !== 'require-call') continue;
      if (external === true) builtins.add(next);
      else visit(next);
    }
  };
  visit('bin/bke.ts');
  const files = [...eager].toSorted();
  const packages = files.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return { packages: [...new Set(packages)], files, builtins: [...builtins].toSorted() };
}

it('loads nothing heavy before a command is chosen', async () => {
  const { packages, files } = await eagerGraph();
  expect(packages).toEqual(['chalk', 'commander']);
  expect(files).toContain('src/cli/table.ts');
  const source = files.filter((file) => file.startsWith('src/') && !/^src\/(?:cli|commands|lib)\//.test(file));
  // Leaves that declarations need; anything else has to come by `await import()`.
  expect(source).toEqual(['src/operations/state-dir.ts', 'src/release/platforms.ts']);
  expect(files.filter((file) => file.startsWith('src/cli/render/') || file.endsWith('/handler.ts'))).toEqual([]);
}, 30_000);
