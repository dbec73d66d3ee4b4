import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeToml, type TomlTable, toToml } from '../../../src/lib/toml.ts';

/** Python's tomllib reads what was written: an independent parser. */
function parse(text: string): unknown {
  const program = 'import sys,json,tomllib; print(json.dumps([tomllib.loads(t) for t in json.load(sys.stdin)]))';
  return JSON.parse(execFileSync('python3', ['-c', program], { input: JSON.stringify([text]) }).toString())[0];
}

describe('TOML', () => {
  it('writes scalars before sub-tables and quotes only keys that need it', () => {
    const table = {
      version: 3,
      plugins: { 'io.containerd.cri.v1.runtime': { on: true, cni: { bin_dirs: ['/opt/cni/bin'] } } },
    };
    expect(toToml(table)).toBe(
      [
        'version = 3',
        '',
        "[plugins.'io.containerd.cri.v1.runtime']",
        'on = true',
        '',
        "[plugins.'io.containerd.cri.v1.runtime'.cni]",
        "bin_dirs = ['/opt/cni/bin']",
        '',
      ].join('\n'),
    );
  });

  it('keeps a scalar that follows a table in the object at its own level', () => {
    expect(parse(toToml({ a: { b: 1 }, c: 2 }))).toEqual({ a: { b: 1 }, c: 2 });
  });

  it('writes text that any TOML parser reads back as it was', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.boolean(),
      fc.array(fc.string(), { maxLength: 3 }),
    );
    const { tree } = fc.letrec<{ tree: TomlTable }>((tie) => ({
      tree: fc.dictionary(fc.string(), fc.oneof({ maxDepth: 3 }, leaf, tie('tree')), {
        noNullPrototype: true,
        maxKeys: 4,
      }),
    }));
    const samples = fc.sample(tree, { numRuns: 200, seed: 7 });
    const program = 'import sys,json,tomllib; print(json.dumps([tomllib.loads(t) for t in json.load(sys.stdin)]))';
    const input = JSON.stringify(samples.map(toToml));
    expect(JSON.parse(execFileSync('python3', ['-c', program], { input, maxBuffer: 1e8 }).toString())).toEqual(samples);
  });

  it('merges tables and replaces everything else', () => {
    expect(mergeToml({ a: { x: 1, y: [1] }, b: 'k' }, { a: { y: [2], z: true } })).toEqual({
      a: { x: 1, y: [2], z: true },
      b: 'k',
    });
  });
});
