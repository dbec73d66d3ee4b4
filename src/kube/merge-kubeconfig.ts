// One kubeconfig taken up in another: entries of the same name are replaced, all others, the comments and the current context stay.
import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isSeq, parseDocument, type YAMLSeq } from 'yaml';
import { BkeError } from '../lib/errors.ts';

const lists = ['clusters', 'users', 'contexts'] as const;

/**
 * @param text of the file that is there; empty: none is.
 * @param added a kubeconfig as Cluster API makes it.
 * @param file for messages. @throws BkeError BKE_KUBECONFIG_INVALID; nothing of the content is in a message
 */
export function mergeKubeconfig(text: string, added: string, file: string): string {
  const from = parsed(added, 'the kubeconfig of the cluster');
  const into = parsed(text, file);
  if (into.contents === null) return added;
  for (const name of lists) {
    const target = listOf(into, name, file);
    for (const entry of listOf(from, name, 'the kubeconfig of the cluster').items) putEntry(target, entry, into);
  }
  for (const name of ['apiVersion', 'kind', 'current-context'])
    if (isNothing(into.get(name))) into.set(name, from.get(name));
  const same = isDeepStrictEqual(into.toJSON(), parseDocument(text).toJSON());
  return same ? text : into.toString({ lineWidth: 0 });
}

/** Whether it has a cluster of this name; false for what is no kubeconfig. */
export function hasCluster(text: string, name: string): boolean {
  const clusters = parseDocument(text).get('clusters');
  return isSeq(clusters) && clusters.items.some((entry) => nameOf(entry) === name);
}

/** Name of its first cluster. */
export function clusterNameOf(text: string): string | undefined {
  const clusters = parseDocument(text).get('clusters');
  return isSeq(clusters) ? nameOf(clusters.items[0]) : undefined;
}

function parsed(text: string, file: string): Document {
  // What other programs read as YAML 1.1 must be text for them, too.
  const document = parseDocument(text, { compat: 'yaml-1.1' });
  if (document.errors.length === 0 && (document.contents === null || isMap(document.contents))) return document;
  throw notOne(file);
}

function notOne(file: string): BkeError {
  return new BkeError('BKE_KUBECONFIG_INVALID', `${file} is no kubeconfig`, {
    hint: 'It was left as it is. Name another file with --to FILE.',
  });
}

function listOf(document: Document, name: string, file: string): YAMLSeq {
  const found: unknown = document.get(name, true);
  if (isSeq(found)) return found;
  if (!isNothing(document.get(name))) throw notOne(file);
  document.set(name, document.createNode([]));
  const made: unknown = document.get(name, true);
  if (!isSeq(made)) throw new Error(`no list ${name}`);
  return made;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function putEntry(list: YAMLSeq, entry: unknown, document: Document): void {
  if (!isMap(entry)) return;
  const copy = document.createNode(entry.toJSON());
  const index = list.items.findIndex((item) => nameOf(item) === nameOf(entry));
  if (index === -1) list.add(copy);
  else list.items[index] = copy;
}

function nameOf(entry: unknown): string | undefined {
  const name: unknown = isMap(entry) ? entry.get('name') : undefined;
  return typeof name === 'string' ? name : undefined;
}
