// What unquoted YAML scalars and keys mean: the same to bke as to kubectl, whose reader is Kubernetes' own.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseManifests } from '../../../src/kube/manifests.ts';
import { UnusableNumber, plainScalar } from '../../../src/kube/yaml-scalar.ts';
import { buildComponent } from '../../testbed/builds/build.ts';
import { run } from '../../testbed/run.ts';

/** Those that people write, and those whose meaning surprises. */
const known =
  '0644 08 -08 0o17 0x1F 0x1p-2 1_000 1__0 1_ _1 1.10 1. .5 1e3 1e400 .5e400 -0b11 +5 +0x1F 0b2 0o8 0x yes On y OFF N No yEs TRUE tRue ~ null ' +
  'NULL nULL 2020-01-01 1:30 12:30:45 1.2.3 .5_0 ._5 .5_ 0_7 0b1_1 - -- + . .. ... -. +.5 -.5e-3 1e+5 1e 00 0 -0 007 1_0.5_0 <<< =';

it('agrees with kubectl on what scalars and keys are', async () => {
  const random = fc.sample(
    fc.string({ unit: fc.constantFrom(...Array.from('0011789+-._eExXbBoOaFynN~')), minLength: 1, maxLength: 6 }),
    400,
  );
  const words = [...new Set([...known.split(' '), ...random])].filter((word) => isPlain(word) && isUsable(word));
  const values = words.map((word) => `- ${word}`).join('\n');
  const keys = '{yes: a, 1.50: b, 010: c, 0x1F: d, 1_000: e, 2020-01-01: f, .5: g}';
  const text = `apiVersion: test.bke.io/v1\nkind: Any\nmetadata: {name: x, annotations: ${keys}}\nvalues:\n${values}\n`;
  const [object] = parseManifests(text);
  const theirs: unknown = JSON.parse(await throughKubectl(text));
  expect(words.length).toBeGreaterThan(300);
  // Side by side, so that a difference shows the word; as JSON, which both become: it has no -0.
  expect(JSON.stringify(pairs(words, object), undefined, 1)).toBe(JSON.stringify(pairs(words, theirs), undefined, 1));
  expect(object?.metadata).toEqual(Reflect.get(Object(theirs), 'metadata'));
});

/** Not what would be another thing than a scalar in a list. */
function isPlain(word: string): boolean {
  return word !== '-' && word !== '---' && word !== '...' && !word.startsWith('=');
}

function isUsable(word: string): boolean {
  try {
    plainScalar(word);
    return true;
  } catch (thrown) {
    if (thrown instanceof UnusableNumber) return false;
    throw thrown;
  }
}

function pairs(words: readonly string[], object: unknown): unknown {
  const values: unknown = Reflect.get(Object(object), 'values');
  return Array.isArray(values) ? words.map((word, index) => [word, values[index] ?? null]) : undefined;
}

async function throughKubectl(text: string): Promise<string> {
  const build = await buildComponent('kubernetes');
  const kubectl = build.program('kubectl');
  const directory = await mkdtemp(path.join(tmpdir(), 'bke-scalars-'));
  try {
    const file = path.join(directory, 'x.yaml');
    await writeFile(file, text);
    const { stdout } = await run([kubectl, 'patch', '--local', '-f', file, '--type=merge', '-p', '{}', '-o', 'json']);
    return stdout;
  } finally {
    await rm(directory, { recursive: true });
  }
}
