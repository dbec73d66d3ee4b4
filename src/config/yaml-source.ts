// A YAML document that still knows where each value stands and how it was written.
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
} from 'yaml';

export type Path = readonly PropertyKey[];

/** Counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface SyntaxFault extends Position {
  readonly message: string;
}

/** Aliases may repeat a value, not blow a small file up (the "billion laughs" attack). */
const aliasLimit = 200;

export interface YamlSource {
  /** Plain values; keys are as they were written. */
  readonly value: unknown;
  /** Line and column of the value at `path`, or of the nearest parent there is; with `key`, of the key itself. */
  positionOf(path: Path, key?: string): Position;
  /** How a number or boolean at `path` was written: 1.30, not 1.3. undefined where something else is there. */
  writtenAt(path: Path): string | undefined;
}

/** What YAML itself refuses or warns of, or the document. */
export function readYamlSource(
  text: string,
): { readonly faults: readonly SyntaxFault[] } | { readonly source: YamlSource } {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    version: '1.2',
    prettyErrors: false,
    uniqueKeys: true,
  });
  if (!Array.isArray(documents)) return { faults: [whole('the file is empty')] };
  const [document, second] = documents as Document.Parsed[];
  if (document === undefined || document.contents === null) return { faults: [whole('the file is empty')] };
  const faults = [...document.errors, ...document.warnings].map((fault) => {
    const { line, col } = lines.linePos(fault.pos[0]);
    return { line, column: col, message: `this is no valid YAML: ${fault.message}` };
  });
  if (second !== undefined) {
    const { line, col } = lines.linePos(second.range[0]);
    faults.push({
      line,
      column: col,

      message: 'a second document begins here; the file must have only one',
    });
  }
  if (faults.length > 0) return { faults };
  const reader = new Reader(document, lines);
  return reader.tooManyAliases ? { faults: [whole(`more than ${aliasLimit} aliases`)] } : { source: reader };
}

function whole(message: string): SyntaxFault {
  return { line: 1, column: 1, message };
}

class Reader implements YamlSource {
  readonly value: unknown;
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  #aliases = 0;

  constructor(document: Document.Parsed, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
    this.value = this.#plain(document.contents);
  }

  get tooManyAliases(): boolean {
    return this.#aliases > aliasLimit;
  }

  positionOf(path: Path, key?: string): Position {
    const { found } = this.#walk(path);
    const keyNode = key === undefined ? undefined : pairOf(found, key)?.key;
    const node = keyNode ?? found;
    const { line, col } = this.#lines.linePos(node?.range?.[0] ?? 0);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  writtenAt(path: Path): string | undefined {
    const { found, complete } = this.#walk(path);
    if (!complete || !isScalar(found)) return undefined;
    return typeof found.value === 'number' || typeof found.value === 'boolean' || typeof found.value === 'bigint'
      ? found.source
      : undefined;
  }

  /** The node at `path`, or as far as the file goes. */
  #walk(path: Path): { found: Node | null | undefined; complete: boolean } {
    let found: Node | null | undefined = this.#document.contents;
    for (const key of path) {
      const parent = this.#resolved(found);
      const next = isSeq(parent) ? parent.items[Number(key)] : pairOf(parent, String(key))?.value;
      if (!isNode(next)) return { found, complete: false };
      found = next;
    }
    return { found: this.#resolved(found), complete: true };
  }

  #resolved(node: Node | null | undefined): Node | null | undefined {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }

  #plain(node: unknown): unknown {
    if (isAlias(node)) {
      this.#aliases += 1;
      return this.tooManyAliases ? undefined : this.#plain(node.resolve(this.#document));
    }
    if (isSeq(node)) return node.items.map((item) => this.#plain(item));
    if (isMap(node)) return Object.fromEntries(node.items.map(({ key, value }) => [keyText(key), this.#plain(value)]));
    return isScalar(node) ? node.value : null;
  }
}

function keyText(key: unknown): string {
  return isScalar(key) ? (key.source ?? String(key.value)) : String(key);
}

function pairOf(node: Node | null | undefined, key: string): { key: Node; value: unknown } | undefined {
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => keyText(item.key) === key);
  return pair === undefined || !isNode(pair.key) ? undefined : { key: pair.key, value: pair.value };
}
