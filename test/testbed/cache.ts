// A cache of folders by content outside the checkout: the key is the recipe's digest, a finished folder is renamed into place.
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { exists, removeTree } from './files.ts';
import { withLock } from './lock.ts';
import { say, secondsSince } from './log.ts';

/** What is made: everything that decides the content must be in `recipe`. */
export interface CacheEntry {
  /** Folder of the cache: `builds`, `images`, … */
  kind: string;
  /** Readable part of the folder's name. */
  name: string;
  /** Any JSON value; its digest is the key. */
  recipe: unknown;
}

const lockLimit = 3600;

/** What `removeUnused` removes was not asked for so long: milliseconds. */
const keptUnused = 6 * 60 * 60 * 1000;

/** Root of the cache: `BKE_CACHE`, else `~/.cache/bke`. */
export function cacheRoot(): string {
  return process.env['BKE_CACHE'] ?? path.join(homedir(), '.cache', 'bke');
}

/** Digest of a recipe: keys are sorted, so that the order of writing doesn't matter. */
function recipeDigest(recipe: unknown): string {
  return createHash('sha256').update(JSON.stringify(recipe, sortKeys)).digest('hex');
}

function sortKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Path that the entry has or would have. */
function cachePath(entry: CacheEntry): string {
  return path.join(cacheRoot(), entry.kind, `${entry.name}-${recipeDigest(entry.recipe).slice(0, 16)}`);
}

/** The finished folder of the entry; `make` fills an empty folder when there is none. Two runs never make it twice. */
export async function cached(entry: CacheEntry, make: (dir: string) => Promise<void>): Promise<string> {
  const target = cachePath(entry);
  if (await exists(target)) return touched(target);
  const lockFile = path.join(cacheRoot(), 'locks', path.basename(target));
  return withLock(lockFile, lockLimit, async () => {
    if (await exists(target)) return target;
    const start = performance.now();
    say(`making ${entry.kind}/${entry.name}`);
    const draft = `${target}.draft`;
    await removeTree(draft);
    await mkdir(draft, { recursive: true, mode: 0o755 });
    await make(draft);
    const record = { recipe: entry.recipe, seconds: Math.round((performance.now() - start) / 100) / 10 };
    await writeFile(path.join(draft, 'recipe.json'), `${JSON.stringify(record, null, 2)}\n`);
    await rename(draft, target);
    say(`made ${entry.kind}/${entry.name} in ${secondsSince(start)}`);
    return target;
  });
}

/** The folder's time tells when it was last asked for. */
async function touched(folder: string): Promise<string> {
  const now = new Date();
  await utimes(folder, now, now);
  return folder;
}

/** For what is large and cheap to make again: removes its earlier editions, unless someone, such as another checkout, still uses them. */
export async function removeUnused({ kind, name }: CacheEntry, except: string): Promise<void> {
  const folder = path.join(cacheRoot(), kind);
  for (const found of await readdir(folder)) {
    const place = path.join(folder, found);
    if (!isEdition(found, name) || place === except) continue;
    const { mtimeMs } = await stat(place);
    if (Date.now() - mtimeMs > keptUnused) await removeTree(place);
  }
}

function isEdition(folder: string, name: string): boolean {
  return folder.startsWith(`${name}-`) && /^[0-9a-f]{16}(\.draft)?$/.test(folder.slice(name.length + 1));
}
