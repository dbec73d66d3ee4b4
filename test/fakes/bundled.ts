// Test programs as one file each: run from the sources, Node spends most of a short program's time on reading hundreds of files.
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildSync } from 'esbuild';

const root = join(import.meta.dirname, '../..');
/** Several checkouts may share their node_modules. */
const caches = join(
  root,
  'node_modules/.cache/bke-programs',
  createHash('sha256').update(root).digest('hex').slice(0, 12),
);

/** @returns path of a program that does what the given one does (a .ts file). */
export function bundled(entry: string): string {
  const name = basename(entry, '.ts');
  const folder = join(caches, name);
  mkdirSync(join(folder, 'src/programs'), { recursive: true });
  // Its assets are where a file two folders below the project looks for them.
  for (const shared of ['assets', 'package.json']) linkOnce(join(root, shared), join(folder, shared));
  const outfile = join(folder, 'src/programs', `${name}.mjs`);
  const draft = `${outfile}.${process.pid}`;
  buildSync({
    entryPoints: [entry],
    outfile: draft,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    external: ['cpu-features'],
    loader: { '.node': 'empty' },
    logLevel: 'error',
  });
  // Other test files run the same program meanwhile.
  renameSync(draft, outfile);
  return outfile;
}

function linkOnce(target: string, path: string): void {
  try {
    symlinkSync(target, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
