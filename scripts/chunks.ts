// The program as chunks: esbuild splits it at its dynamic imports, each chunk becomes a CommonJS function that bin/chunks.ts can load.
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { build, type Metafile, type Plugin, transform } from 'esbuild';

/** What goes into the binary as one asset: a script whose value is a table of chunks by name. */
export interface ChunkScript {
  readonly name: string;
  readonly source: string;
  /** Source map of `source`, as JSON. */
  readonly map: string;
}

export interface Chunks {
  /** The first is the one to begin with. */
  readonly scripts: readonly ChunkScript[];
  readonly metafile: Metafile;
}

interface Chunk {
  readonly name: string;
  readonly code: string;
  readonly map: string;
}

/** ES modules first, since esbuild splits nothing else; each chunk is made CommonJS by itself. */
export async function buildChunks(root: string, version: string): Promise<Chunks> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: ['bin/bke.ts'],
    outdir: 'chunks',
    write: false,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minifySyntax: true,
    keepNames: true,
    legalComments: 'none',
    sourcemap: 'inline',
    sourcesContent: false,
    external: ['cpu-features'],
    loader: { '.node': 'empty' },
    define: {
      BKE_VERSION: JSON.stringify(version),
      'import.meta.url': 'BKE_BINARY.url',
      __filename: 'BKE_BINARY.path',
      __dirname: 'BKE_BINARY.directory',
    },
    plugins: [entryWithoutAwait],
    metafile: true,
    logLevel: 'warning',
  });
  const commonJs = importedCommonJs(result.metafile);
  const chunks = await Promise.all(
    result.outputFiles.map(({ path, text }) => toCommonJs(basename(path), text, commonJs.has(basename(path)))),
  );
  const first = loadedAtOnce(result.metafile);
  const later = chunks.filter((chunk) => !first.has(chunk.name)).map((chunk) => toScript(chunk.name, [chunk]));
  const main = chunks.filter((chunk) => first.has(chunk.name));
  return { scripts: [toScript('bke.js', main), ...later], metafile: result.metafile };
}

/** The entry awaits main() at top level, which CommonJS can't: the binary starts it through a promise instead. */
const entryWithoutAwait: Plugin = {
  name: 'entry',
  setup(setup) {
    setup.onLoad({ filter: /bin\/bke\.ts$/ }, async (args) => {
      const source = await readFile(args.path, 'utf8');
      const contents = source.replace(
        /process\.exitCode = await main\((.*)\);/,
        'export const ended = main($1).then((code) => { process.exitCode = code; });',
      );
      if (contents === source) throw new Error('bin/bke.ts no longer ends with `process.exitCode = await main(…);`');
      return { contents, loader: 'ts' };
    });
  },
};

/** Chunks of CommonJS modules that `import()` asks for: of these esbuild makes ES modules with nothing but a default export. */
function importedCommonJs({ inputs, outputs }: Metafile): ReadonlySet<string> {
  const found = Object.entries(outputs).filter(([, { entryPoint }]) => inputs[entryPoint ?? '']?.format === 'cjs');
  for (const [path, { exports }] of found)
    if (exports.join() !== 'default') throw new Error(`${path} exports ${exports.join()}: what is it?`);
  return new Set(found.map(([path]) => basename(path)));
}

/** @param wrapped its default export is a CommonJS module: it gets that one's names, as Node gives them. */
async function toCommonJs(name: string, text: string, wrapped: boolean): Promise<Chunk> {
  const { code, map } = await transform(text, {
    sourcefile: name,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    supported: { 'dynamic-import': false },
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'error',
  });
  return { name, code: wrapped ? `${code}module.exports = module.exports.default;\n` : code, map };
}

/** The entry's chunk and all it imports statically: one script costs less than twenty. */
function loadedAtOnce({ outputs }: Metafile): ReadonlySet<string> {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { kind, external, path: to } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && external !== true) visit(to);
  };
  visit('chunks/bke.js');
  return new Set([...reached].map((path) => basename(path)));
}

/** Strict, as the ES modules were. */
function toScript(name: string, chunks: readonly Chunk[]): ChunkScript {
  let source = `(function () { "use strict"; return {\n`;
  const sections: object[] = [];
  for (const chunk of chunks.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    source += `${JSON.stringify(chunk.name)}: function (exports, require, module, BKE_BINARY) {\n`;
    sections.push({ offset: { line: source.split('\n').length - 1, column: 0 }, map: JSON.parse(chunk.map) });
    source += `${chunk.code}\n},\n`;
  }
  source += '}; })()\n';
  return { name, source, map: JSON.stringify({ version: 3, sections }) };
}
