// A configuration as YAML for people: every value with a note of where it comes from.
import { Document, isCollection, isMap, isScalar, isSeq, type Node } from 'yaml';
import type { Path } from './yaml-source.ts';

/**
 * Each value gets its note as a comment on its line; lists and mappings without mappings inside are one line each.
 * Text that YAML 1.1 would take for something else (no, on, 0644) is in quotes.
 */
export function annotatedYaml(value: object, noteOf: (path: Path) => string): string {
  const document = new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false } as const);
  annotate(document.contents, [], noteOf);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function annotate(node: unknown, path: Path, noteOf: (path: Path) => string): void {
  if (isMap(node) && node.items.length > 0) {
    for (const { key, value } of node.items) annotate(value, [...path, isScalar(key) ? String(key.value) : ''], noteOf);
  } else if (isSeq(node) && node.items.some(isCollection)) {
    for (const [index, item] of node.items.entries()) annotate(item, [...path, index], noteOf);
  } else if (isCollection(node)) {
    node.flow = true;
    note(node, noteOf(path));
  } else if (isScalar(node)) note(node, noteOf(path));
}

function note(node: Node, text: string): void {
  if (text !== '') node.comment = ` ${text}`;
}
