// A YAML document that still knows where each value stands and how it was written.
import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type Path, type Position, type SyntaxFault, syntaxFaults, unresolvedAlias } from './yaml-faults.ts';

export type { Path, Position } from './yaml-faults.ts';

/** Aliases may repeat a value, not blow a small file up (the "billion laughs" attack). A thousand hosts may have some each. */
const aliasLimit = 10_000;
/** Values in all, those that aliases repeat included. */
const valueLimit = 250_000;
/** Levels of lists and mappings: what reads the values goes down them one call each. */
const depthLimit = 64;

export interface YamlSource {
  /** Plain values; keys are as they were written. */
  readonly value: unknown;
  /** Line and column of the value at `path`, or of the nearest parent there is; with `key`, of the key itself. */
  positionOf(path: Path, key?: string): Position;
  /** How a number or boolean at `path` was written: 1.30, not 1.3. undefined where something else is there. */
  writtenAt(path: Path): string | undefined;
  /** Whether text without quotes at `path` has a comment behind it on its line: `a #b` is the text `a`. */
  isCutByComment(path: Path): boolean;
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
    // Its own check compares each key with all others: too slow for a file of thousands.
    uniqueKeys: false,
  });
  if (!Array.isArray(documents)) return { faults: [whole('the file is empty')] };
  // A `---` with nothing behind it is no document of anybody's.
  const [document, second] = (documents as Document.Parsed[]).filter(
    ({ contents, errors, warnings }) => !isNothing(contents) || errors.length + warnings.length > 0,
  );
  if (document === undefined) return { faults: [whole('the file is empty')] };
  const faults = syntaxFaults(document, lines);
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
  return reader.faults.length > 0 ? { faults: reader.faults } : { source: reader };
}

function isNothing(contents: unknown): boolean {
  return contents === null || (isScalar(contents) && contents.value === null && contents.source === '');
}

function whole(message: string): SyntaxFault {
  return { line: 1, column: 1, message };
}

class Reader implements YamlSource {
  readonly value: unknown;
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly faults: SyntaxFault[] = [];
  readonly #anchors = new Map<string, Node>();
  readonly #anchored = new Set<Node>();
  readonly #targets = new Map<Alias, Node | undefined>();
  #aliases = 0;
  #values = 0;

  constructor(document: Document.Parsed, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
    this.value = this.#plain(document.contents, []);
  }

  positionOf(path: Path, key?: string): Position {
    const { found } = this.#walk(path);
    const keyNode = key === undefined ? undefined : this.#pairOf(found, key)?.key;
    const node = keyNode ?? found;
    const { line, col } = this.#lines.linePos(node?.range?.[0] ?? 0);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  writtenAt(path: Path): string | undefined {
    const found = this.#scalarAt(path);
    return typeof found?.value === 'number' || typeof found?.value === 'boolean' || typeof found?.value === 'bigint'
      ? found.source
      : undefined;
  }

  isCutByComment(path: Path): boolean {
    const found = this.#scalarAt(path);
    return found?.type === 'PLAIN' && typeof found.comment === 'string';
  }

  #scalarAt(path: Path): Scalar | undefined {
    const { found, complete } = this.#walk(path);
    return complete && isScalar(found) ? found : undefined;
  }

  /** The node at `path`, or as far as the file goes. */
  #walk(path: Path): { found: Node | null | undefined; complete: boolean } {
    let found: Node | null | undefined = this.#document.contents;
    for (const key of path) {
      const parent = this.#resolved(found);
      const next = isSeq(parent) ? parent.items[Number(key)] : this.#pairOf(parent, String(key))?.value;
      if (!isNode(next)) return { found, complete: false };
      found = next;
    }
    return { found: this.#resolved(found), complete: true };
  }

  #resolved(node: Node | null | undefined): Node | null | undefined {
    return isAlias(node) ? this.#targets.get(node) : node;
  }

  /** Found once, when the reader comes by in the order of the file: the library's own search begins at the top each time. */
  #targetOf(alias: Alias): Node | undefined {
    if (!this.#targets.has(alias)) this.#targets.set(alias, this.#anchors.get(alias.source));
    return this.#targets.get(alias);
  }

  #plain(node: unknown, path: Path): unknown {
    this.#values += 1;
    if (this.#bounded(path)) return undefined;
    if (isAlias(node)) {
      this.#aliases += 1;
      const target = this.#targetOf(node);
      if (target === undefined) this.#fault(node, `this is no valid YAML: ${unresolvedAlias}`, path);
      return this.#plain(target, path);
    }
    if (isScalar(node) || isCollection(node)) this.#remember(node);
    if (isSeq(node)) return node.items.map((item, index) => this.#plain(item, [...path, index]));
    if (isMap(node)) return this.#mapping(node, path);
    if (!isScalar(node)) return null;
    if (hasControls(node.value)) this.#fault(node, 'has a control character', path);
    return node.value;
  }

  /** An anchor counts from where it stands, not again where an alias repeats it. */
  #remember(node: Scalar | YAMLMap | YAMLSeq): void {
    if (node.anchor === undefined || this.#anchored.has(node)) return;
    this.#anchored.add(node);
    this.#anchors.set(node.anchor, node);
  }

  #mapping(node: YAMLMap, path: Path): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    const merged: (readonly [string, unknown])[] = [];
    for (const pair of node.items) {
      if (isMerge(pair)) {
        merged.push(...this.#merged(pair, [...path, '<<']));
        continue;
      }
      const name = keyText(pair.key);
      if (entries.has(name)) this.#fault(pair.key, 'this is no valid YAML: Map keys must be unique');
      if (hasControls(name)) this.#fault(pair.key, 'a name has a control character');
      if (name === '__proto__') this.#fault(pair.key, 'there is no field with this name');
      entries.set(name, this.#plain(pair.value, [...path, name]));
    }
    for (const [name, value] of merged) if (!entries.has(name)) entries.set(name, value);
    return Object.fromEntries(entries);
  }

  /** `<<: *defaults` and `<<: [*a, *b]`: what stands beside it wins, then the first. */
  #merged({ key, value }: Pair, path: Path): [string, unknown][] {
    return mergeSources(value).flatMap((source) => {
      const mapping = this.#plain(source, path);
      if (typeof mapping === 'object' && mapping !== null && !Array.isArray(mapping)) return Object.entries(mapping);
      this.#fault(key, 'this is no valid YAML: << takes a mapping or a list of mappings');
      return [];
    });
  }

  /** The pair itself, or the one that is merged in. */
  #pairOf(node: Node | null | undefined, key: string): { key: Node; value: unknown } | undefined {
    if (!isMap(node)) return undefined;
    const pair = node.items.find((item) => !isMerge(item) && keyText(item.key) === key);
    if (pair !== undefined) return isNode(pair.key) ? { key: pair.key, value: pair.value } : undefined;
    for (const source of node.items.filter(isMerge).flatMap(({ value }) => mergeSources(value))) {
      const found = this.#pairOf(isNode(source) ? this.#resolved(source) : undefined, key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** true where the file is more than anything a person writes: told once, and not read on. */
  #bounded(path: Path): boolean {
    const over =
      this.#aliases > aliasLimit
        ? `more than ${aliasLimit} aliases`
        : this.#values > valueLimit
          ? `more than ${valueLimit} values`
          : path.length > depthLimit
            ? `more than ${depthLimit} levels`
            : undefined;
    if (over !== undefined && !this.faults.some(({ message }) => message === over)) this.faults.push(whole(over));
    return over !== undefined;
  }

  #fault(node: unknown, message: string, path?: Path): void {
    const { line, col } = this.#lines.linePos(isNode(node) ? (node.range?.[0] ?? 0) : 0);
    this.faults.push({ line, column: col, message, ...(path === undefined ? {} : { path }) });
  }
}

/** Tabs and line ends are text. */
function hasControls(value: unknown): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return typeof value === 'string' && /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/.test(value);
}

function keyText(key: unknown): string {
  return isScalar(key) ? (key.source ?? String(key.value)) : String(key);
}

function isMerge({ key }: Pick<Pair, 'key'>): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

function mergeSources(value: unknown): unknown[] {
  return isSeq(value) ? value.items : [value];
}
