// Import direction: a folder of src/ imports only folders below it (type imports and lazy ones too), never tests or scripts.
// oxc-parser reads the files: the usual tools for this need TypeScript's old compiler API.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Top to bottom (ARCHITECTURE.md). */
const order = [
  'cli',
  'commands',
  'web',
  'agent',
  'controllers',
  'tasks',
  'operations',
  'cluster',
  'release',
  'kube',
  'api',
  'host',
  'config',
  'lib',
];

interface Import {
  readonly to: string;
  readonly line: number;
}

const root = join(import.meta.dirname, '..');
const problems: string[] = [];
let files = 0;
for (const path of await sources()) {
  files += 1;
  for (const found of await importsOf(path)) {
    const problem = judge(path, found);
    if (problem !== undefined) problems.push(`${path}:${found.line}: ${problem}`);
  }
}
for (const problem of problems) console.error(problem);
console.error(`${files} files, ${problems.length} imports in the wrong direction`);
process.exitCode = problems.length === 0 && files > 0 ? 0 : 1;

async function sources(): Promise<string[]> {
  const names = await Promise.all(['bin', 'src'].map((top) => readdir(join(root, top), { recursive: true })));
  return [...(names[0] ?? []).map((name) => `bin/${name}`), ...(names[1] ?? []).map((name) => `src/${name}`)].filter(
    (name) => name.endsWith('.ts'),
  );
}

/** Relative imports of a file, as paths relative to the project. */
async function importsOf(path: string): Promise<Import[]> {
  const text = await readFile(join(root, path), 'utf8');
  const { module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const found = [
    ...module.staticImports.map((one) => one.moduleRequest),
    ...module.staticExports.flatMap((one) => one.entries.map((entry) => entry.moduleRequest)),
    ...module.dynamicImports.map((one) => one.moduleRequest),
  ].filter((request) => request !== null);
  return found
    .map(({ start, end }) => ({ specifier: text.slice(start + 1, end - 1), start }))
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, start }) => ({
      to: normalize(join(dirname(path), specifier)),
      line: text.slice(0, start).split('\n').length,
    }));
}

function judge(path: string, found: Import): string | undefined {
  if (!found.to.startsWith('src/')) return path.startsWith('bin/') ? undefined : `imports ${found.to}, outside src/`;
  const from = path.split('/')[1] ?? '';
  const to = found.to.split('/')[1] ?? '';
  if (!path.startsWith('src/') || from === to) return undefined;
  if (!order.includes(from) || !order.includes(to)) return `${from} or ${to} is not in the list of folders`;
  if (order.indexOf(to) < order.indexOf(from)) return `src/${from} imports ${found.to}, which lies above it`;
  return undefined;
}
