// `node --predictable --random-seed=1 scripts/code-cache.ts <folder>`: writes V8's code cache beside each chunk script of the folder (build-binary.ts).
// Made after the code has run, a cache holds the functions that a start needs; with these flags it is the same every time.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { createRequire } from '../bin/chunks.ts';

const folder = process.argv[2] ?? '';
const scripts = new Map<string, Script>();

function readScript(name: string): Script {
  const script = scripts.get(name) ?? new Script(readFileSync(join(folder, name), 'utf8'), { filename: `bke:${name}` });
  scripts.set(name, script);
  return script;
}

/** One command line, as the binary would run it: same code, other modules each time. */
async function runCommand(words: readonly string[]): Promise<void> {
  process.argv = [process.execPath, process.execPath, ...words];
  const entry: unknown = createRequire(readScript, 'bke.js')('./bke.js');
  if (typeof entry !== 'object' || entry === null || !('ended' in entry)) throw new Error('bke.js has no `ended`');
  await entry.ended;
  if (process.exitCode !== 0) throw new Error(`bke ${words.join(' ')} ended with ${process.exitCode}`);
}

for (const words of [['version'], ['--help'], ['init', '--help']]) await runCommand(words);
const require = createRequire(readScript, 'bke.js');
const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
for (const name of names.filter((one) => one !== 'bke.js')) require(`./${name}`);
for (const name of names.toSorted()) writeFileSync(join(folder, `${name}.cache`), readScript(name).createCachedData());
