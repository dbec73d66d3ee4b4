// What is wrong with bootstrap data, in words that tell the place and never a value: the data holds keys.
import type { z } from 'zod';
import type { Path, YamlSource } from '../../../config/yaml-source.ts';
import { BkeError } from '../../../lib/errors.ts';
import { nearest } from '../../../lib/suggest.ts';
import { plural } from '../../../lib/text.ts';
import { cloudConfig, refusedKeys } from './schema.ts';

export interface Problem {
  readonly line: number;
  readonly message: string;
}

const mostShown = 20;

export function inOrder(problems: readonly Problem[]): string[] {
  return [...problems].sort((a, b) => a.line - b.line).map(({ line, message }) => `line ${line}: ${message}`);
}

export function refused(lines: readonly string[]): BkeError {
  const more = lines.length - mostShown;
  return new BkeError('BKE_BOOTSTRAP_DATA_INVALID', `${plural(lines.length, 'problem')} with the bootstrap data`, {
    details: [...lines.slice(0, mostShown), ...(more > 0 ? [`… and ${more} more`] : [])],
    hint: 'Change what the KubeadmConfigTemplate or KubeadmControlPlane asks for, and let Cluster API make a new Machine.',
  });
}

export function problemsOf(issue: z.core.$ZodIssue, source: YamlSource): Problem[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ line: source.positionOf(issue.path).line, message: withField(issue.path, messageOf(issue)) }];
  }
  return issue.keys.map((key) => ({
    line: source.positionOf(issue.path, key).line,
    message: withField([...issue.path, key], unknownKey(key, issue.path)),
  }));
}

function unknownKey(key: string, parent: Path): string {
  const reason = parent.length === 0 && Object.hasOwn(refusedKeys, key) ? refusedKeys[key] : undefined;
  if (reason !== undefined) return reason;
  const near = parent.length === 0 ? nearest(key, Object.keys(cloudConfig.shape)) : undefined;
  return `bke does not know this field${near === undefined ? '' : `; did you mean ${near}?`}`;
}

const kinds: Readonly<Record<string, string>> = { string: 'a text', array: 'a list', object: 'a mapping' };

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is missing';
  if (issue.code === 'invalid_type') return `must be ${kinds[issue.expected] ?? 'something else'}`;
  if (issue.code === 'too_big') return `has more than ${String(issue.maximum)}`;
  return issue.message;
}

/** A key that looks like no name of a field may be a piece of somebody's secret that slipped out of its place. */
export function withField(path: Path, message: string): string {
  const names = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return /^[a-z][a-z_-]{0,30}$/.test(String(key)) ? `.${String(key)}` : '.(a name)';
  });
  const field = names.join('').replace(/^\./, '');
  return field === '' ? `the data ${message}` : `${field}: ${message}`;
}
