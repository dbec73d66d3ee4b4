// Files that a cluster.yaml names: whether they are there, hold what they should, and are nobody else's to read.
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { whyUnreadable } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import { createLimit } from '../../lib/limit.ts';
import { isPrivateKey, readSecretFile } from '../../lib/read-secret-file.ts';
import { toError } from '../../lib/thrown.ts';
import type { Finding } from '../read-yaml.ts';

export interface FilePlace {
  /** Of the cluster.yaml, absolute: relative names begin beside it. */
  readonly path: string;
  /** Directory that `~/` stands for. */
  readonly home: string | undefined;
}

/** What is wrong with each kind; undefined: nothing. */
const kinds: Readonly<Record<string, (path: string) => Promise<string | undefined>>> = {
  passwordFile: secretProblem,
  passphraseFile: secretProblem,
  privateKeyFile: keyProblem,
  caFile: certificateProblem,
};

/** Open at once. */
const mostOpen = 16;

/** Absolute path of a file by its name in the cluster.yaml. */
export function resolveNamedFile(name: string, { path, home }: FilePlace): string {
  if (name.startsWith('~/') && home !== undefined) return join(home, name.slice(2));
  return resolve(dirname(path), name);
}

/** A file that many hosts name is told once, where it is named first. */
export async function namedFileFindings(raw: unknown, place: FilePlace): Promise<Finding[]> {
  const first = new Map<string, { readonly field: string; readonly file: string; readonly path: Finding['path'] }>();
  for (const { path, name } of namedFiles(raw, [])) {
    const field = String(path.at(-1));
    const file = resolveNamedFile(name, place);
    const key = `${field} ${file}`;
    if (!first.has(key)) first.set(key, { field, file, path });
  }
  const limit = createLimit(mostOpen);
  const found = [...first.values()].map(({ field, file, path }) =>
    limit(async () => {
      const message = await kinds[field]?.(file).catch((thrown: unknown) => readingProblem(file, thrown));
      return message === undefined ? [] : [{ path, message }];
    }),
  );
  return (await Promise.all(found)).flat();
}

/**
 * Contents of all of them by the names in the file; of passwords and passphrases without the line end that editors add.
 * @param raw a file in which no problem was found. @throws the system's error where one went away since, BkeError BKE_SECRET_EXPOSED.
 */
export async function readNamedFiles(raw: unknown, place: FilePlace): Promise<ReadonlyMap<string, string>> {
  const found = new Map(namedFiles(raw, []).map(({ path, name }) => [name, String(path.at(-1))]));
  const limit = createLimit(mostOpen);
  const read = [...found].map(([name, field]) =>
    limit(async () => {
      const file = resolveNamedFile(name, place);
      if (field === 'caFile') return [name, await readFile(file, 'utf8')] as const;
      const text = await readSecretFile(file);
      return [name, field === 'privateKeyFile' ? text : text.replace(/\r?\n$/, '')] as const;
    }),
  );
  return new Map(await Promise.all(read));
}

interface NamedFile {
  readonly path: Finding['path'];
  readonly name: string;
}

/** Settings and values of add-ons have fields of their own with the same names. */
const notOurs = new Set(['settings', 'addons']);

function namedFiles(value: unknown, path: Finding['path']): NamedFile[] {
  if (typeof value !== 'object' || value === null || notOurs.has(String(path[1]))) return [];
  const inner = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value);
  return inner.flatMap(([key, item]) => {
    const here = [...path, key];
    if (typeof item !== 'string') return namedFiles(item, here);
    return item !== '' && Object.hasOwn(kinds, key) ? [{ path: here, name: item }] : [];
  });
}

async function secretProblem(path: string): Promise<string | undefined> {
  const text = (await readSecretFile(path)).replace(/\r?\n$/, '');
  if (text.trim() === '') return `${path} is empty`;
  return text.includes('\n') ? `${path} has more than one line` : undefined;
}

async function keyProblem(path: string): Promise<string | undefined> {
  return isPrivateKey(await readSecretFile(path, isPrivateKey)) ? undefined : `${path} is no private key`;
}

async function certificateProblem(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8');
  return text.includes('-----BEGIN CERTIFICATE-----') ? undefined : `${path} has no certificate in PEM form`;
}

function readingProblem(path: string, thrown: unknown): string {
  if (thrown instanceof BkeError) return `${thrown.message}; ${thrown.hint ?? ''}`;
  return `cannot read ${path}: ${whyUnreadable(thrown) ?? toError(thrown).message}`;
}
