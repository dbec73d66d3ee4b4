// Files of Kubernetes objects: many documents, lists, and YAML as Kubernetes reads it; every problem with its document and line.
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { BkeError } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import type { KubeObject } from './client.ts';
import { fieldAt, isKubeObject, listAt, textAt } from './fields.ts';
import { plainScalar, UnusableNumber } from './yaml-scalar.ts';

/** Problems that are told one by one. */
const mostShown = 20;
/** Aliases may repeat a value, not blow a small file up. */
const mostAliases = 1000;

/**
 * The objects in the order of the file; lists are taken apart, empty documents left out.
 * @param file name of the file, for the message
 * @throws BkeError BKE_KUBE_MANIFEST_INVALID with every problem: no content of the file is in it
 */
export function parseManifests(text: string, file = 'the manifest'): KubeObject[] {
  const lines = new LineCounter();
  // Scalars stay as they are written: what they mean is decided here.
  const documents = parseAllDocuments(text, {
    schema: 'failsafe',
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
  });
  const problems: string[] = [];
  const objects: KubeObject[] = [];
  for (const [index, document] of (Array.isArray(documents) ? documents : []).entries()) {
    const reader = new Reader(document, lines, index + 1);
    objects.push(...reader.objects());
    problems.push(...reader.problems);
  }
  if (problems.length === 0) return objects;
  const more = problems.length - mostShown;
  throw new BkeError('BKE_KUBE_MANIFEST_INVALID', `${plural(problems.length, 'problem')} with ${file}`, {
    details: [...problems.slice(0, mostShown), ...(more > 0 ? [`… and ${more} more`] : [])],
  });
}

interface Found {
  readonly value: unknown;
  /** Offset in the file. */
  readonly start: number;
}

class Reader {
  readonly problems: string[] = [];
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #number: number;
  /** Where each mapping begins. */
  readonly #starts = new WeakMap<object, number>();
  #aliases = 0;

  constructor(document: Document.Parsed, lines: LineCounter, number: number) {
    this.#document = document;
    this.#lines = lines;
    this.#number = number;
  }

  objects(): KubeObject[] {
    const { errors, contents } = this.#document;
    for (const { pos, code } of errors) this.#problem(pos[0], `this is no valid YAML (${code})`);
    if (this.problems.length > 0 || contents === null) return [];
    const value = this.#value(contents);
    // A document of comments alone.
    if (value === null || this.problems.length > 0) return [];
    return this.#flat(value, contents.range[0]).flatMap((found) => this.#checked(found));
  }

  /** A list is what kubectl takes for one: its name says so and it has items. */
  #flat(value: unknown, start: number): Found[] {
    const kind = textAt(value, 'kind') ?? '';
    if (!kind.endsWith('List') || !Array.isArray(fieldAt(value, 'items'))) return [{ value, start }];
    // Items of a typed list (ConfigMapList) need not say what they are.
    const own =
      kind === 'List' ? {} : { apiVersion: fieldAt(value, 'apiVersion'), kind: kind.slice(0, -'List'.length) };
    return listAt(value, 'items').flatMap((item) => {
      if (typeof item !== 'object' || item === null) return [{ value: item, start }];
      return this.#flat({ ...own, ...item }, this.#starts.get(item) ?? start);
    });
  }

  #checked({ value, start }: Found): KubeObject[] {
    for (const path of [['apiVersion'], ['kind'], ['metadata', 'name']]) {
      if (textAt(value, ...path) !== undefined) continue;
      this.#problem(start, `this is no Kubernetes object: ${path.join('.')} is missing or no text`);
      return [];
    }
    return isKubeObject(value) ? [value] : [];
  }

  #value(node: unknown): unknown {
    if (isAlias(node)) {
      this.#aliases += 1;
      if (this.#aliases > mostAliases) return this.#problem(node.range?.[0], 'it repeats values too often');
      return this.#value(node.resolve(this.#document));
    }
    if (isSeq(node)) return node.items.map((item) => this.#value(item));
    if (isMap(node)) return this.#mapping(node);
    return isScalar(node) ? this.#scalar(node) : null;
  }

  #scalar(node: Scalar): unknown {
    // Of what has a tag the library may have made something else already.
    if (node.value instanceof Uint8Array) return Buffer.from(node.value).toString('utf8');
    const written = typeof node.value === 'string' ? node.value : (node.source ?? '');
    if (node.type !== 'PLAIN' || node.tag === 'tag:yaml.org,2002:str') return written;
    try {
      return plainScalar(written);
    } catch (thrown) {
      if (!(thrown instanceof UnusableNumber)) throw thrown;
      return this.#problem(node.range?.[0], thrown.message);
    }
  }

  #mapping(node: YAMLMap): unknown {
    const own = new Set<string>();
    const result = new Map<string, unknown>();
    for (const { key, value } of node.items) {
      if (isMerge(key)) {
        this.#merge(value, result);
        continue;
      }
      const name = this.#keyText(key);
      if (own.has(name)) this.#problem(startOf(key), `the key ${JSON.stringify(name)} is there twice`);
      own.add(name);
      result.set(name, this.#value(value));
    }
    const mapping = Object.fromEntries(result);
    this.#starts.set(mapping, startOf(node) ?? 0);
    return mapping;
  }

  /** `<<`: the keys of other mappings, the first one's before the next one's. */
  #merge(value: unknown, result: Map<string, unknown>): void {
    const sources = isSeq(value) ? [...value.items].reverse() : [value];
    for (const source of sources) {
      const merged = this.#value(source);
      if (typeof merged !== 'object' || merged === null || Array.isArray(merged)) {
        this.#problem(startOf(source), '<< must name a mapping');
        return;
      }
      for (const [name, entry] of Object.entries(merged)) result.set(name, entry);
    }
  }

  #keyText(key: unknown): string {
    const value = this.#value(key);
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    this.#problem(startOf(key), 'a key must be text');
    return '';
  }

  #problem(offset: number | undefined, message: string): undefined {
    const { line } = this.#lines.linePos(offset ?? this.#document.range[0]);
    this.problems.push(`document ${this.#number}, line ${Math.max(1, line)}: ${message}`);
  }
}

function isMerge(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<';
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
