// Loads the chunks the built binary is made of (docs/adr/0008-chunks.md): each is read, compiled and run when it is first required, and only once.
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Script } from 'node:vm';

/** What chunks know of the file they come from, in place of `__filename`, `__dirname` and `import.meta.url`. */
interface BinaryFile {
  readonly path: string;
  readonly directory: string;
  readonly url: string;
}

/** A CommonJS module as scripts/chunks.ts writes it. */
type Chunk = (exports: unknown, require: Require, module: { exports: unknown }, binary: BinaryFile) => void;

/** `./name.js` is a chunk, everything else a module of Node. @throws Error for other names, and what a chunk throws when it is run. */
export type Require = (name: string) => unknown;

/**
 * @param readScript gives the script of that name, whose value is a table of one or more chunks by their names.
 * @param first the script to begin with; every other chunk has a script of its own name.
 */
export function createRequire(readScript: (name: string) => Script, first: string): Require {
  const path = process.execPath;
  const binary: BinaryFile = { path, directory: dirname(path), url: pathToFileURL(path).href };
  const chunks = new Map<string, Chunk>();
  const modules = new Map<string, { exports: unknown }>();

  function addScript(name: string): void {
    const table: Record<string, Chunk> = readScript(name).runInThisContext();
    for (const [key, chunk] of Object.entries(table)) chunks.set(key, chunk);
  }

  function chunkOf(name: string): Chunk {
    if (!chunks.has(name)) addScript(name);
    const chunk = chunks.get(name);
    if (chunk === undefined) throw new Error(`the script ${name} has no chunk of its name`);
    return chunk;
  }

  function requireChunk(name: string): unknown {
    const known = modules.get(name);
    if (known !== undefined) return known.exports;
    const chunk = chunkOf(name);
    const module: { exports: unknown } = { exports: {} };
    // Before it is run: chunks may require each other in a circle.
    modules.set(name, module);
    try {
      chunk(module.exports, require, module, binary);
    } catch (error) {
      modules.delete(name);
      throw error;
    }
    return module.exports;
  }

  function require(name: string): unknown {
    if (name.startsWith('./')) return requireChunk(name.slice(2));
    const builtin: unknown = process.getBuiltinModule(name);
    if (builtin === undefined) throw new Error(`Cannot find module '${name}'`);
    return builtin;
  }

  addScript(first);
  return require;
}
