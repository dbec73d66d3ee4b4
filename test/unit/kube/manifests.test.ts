// Manifests as Kubernetes reads them, and what is told where one is wrong.
import { describe, expect, it } from 'vitest';
import { BkeError } from '../../../src/lib/errors.ts';
import { fieldAt } from '../../../src/kube/fields.ts';
import { parseManifests } from '../../../src/kube/manifests.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n';

/** Value of `data.a` where the file has `a: <written>`. */
function valueOf(written: string): unknown {
  const [object] = parseManifests(`${head}data:\n  a: ${written}\n`);
  return fieldAt(object, 'data', 'a');
}

function problemsOf(text: string): readonly string[] {
  try {
    parseManifests(text);
  } catch (thrown) {
    if (thrown instanceof BkeError && thrown.code === 'BKE_KUBE_MANIFEST_INVALID') return thrown.details;
    throw thrown;
  }
  return [];
}

describe('scalars', () => {
  it.each<[string, unknown]>([
    ['0644', 420],
    ['0o17', 15],
    ['0x1F', 31],
    ['-0b11', -3],
    ['+5', 5],
    ['-0', 0],
    ['08', 8],
    ['1_000', 1000],
    ['1.10', 1.1],
    ['.5', 0.5],
    ['1e3', 1000],
    ['yes', true],
    ['On', true],
    ['y', true],
    ['OFF', false],
    ['No', false],
    ['yEs', 'yEs'],
    ['~', null],
    ['', null],
    ['null', null],
    ['2020-01-01', '2020-01-01'],
    ['1:30', '1:30'],
    ['v1.36.3', 'v1.36.3'],
    ['1.36.3', '1.36.3'],
    ['10.0.0.0/8', '10.0.0.0/8'],
  ])('reads %j as Kubernetes does', (written, value) => {
    expect(valueOf(written)).toEqual(value);
  });

  it.each(['"yes"', "'yes'", '!!str yes', '|-\n    yes'])('takes %j for text', (written) => {
    expect(valueOf(written)).toBe('yes');
  });

  it('reads the octal mode of a volume', () => {
    expect(valueOf('{defaultMode: 0644}')).toEqual({ defaultMode: 420 });
  });

  it('turns keys into text', () => {
    expect(valueOf('{1: a, yes: b, 1.5: c}')).toEqual({ '1': 'a', true: 'b', '1.5': 'c' });
  });

  it('decodes binary values', () => {
    expect(valueOf('!!binary aGVsbG8=')).toBe('hello');
  });
});

describe('documents', () => {
  it('reads all of a file and leaves empty ones out', () => {
    const text = `# nothing\n---\n${head}---\n---\n# nothing\n---\n${head.replace('name: x', 'name: z')}...\n`;
    expect(parseManifests(text).map(({ metadata }) => metadata.name)).toEqual(['x', 'z']);
  });

  it('finds nothing in an empty file', () => {
    expect(parseManifests('')).toEqual([]);
  });

  it('reads JSON', () => {
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { a: 'yes' } };
    expect(parseManifests(JSON.stringify(object))).toEqual([object]);
  });

  it('takes lists apart, and lists of lists', () => {
    const text = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: a}}
- apiVersion: v1
  kind: ConfigMapList
  items:
  - metadata: {name: b}
`;
    expect(parseManifests(text).map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([
      'Namespace/a',
      'ConfigMap/b',
    ]);
  });

  it('follows aliases and merge keys', () => {
    const text = `${head}one: &one {a: 1, b: 1}\ntwo: {<<: *one, b: 2}\nthree: *one\n`;
    const [object] = parseManifests(text);
    expect(object).toMatchObject({ two: { a: 1, b: 2 }, three: { a: 1, b: 1 } });
  });
});

describe('problems', () => {
  it('names document and line of every one', () => {
    const text = `${head}---\nkind: X\n---\n${head}a: 1\na: 2\n---\n${head}b: 99999999999999999999\nc: .inf\n`;
    expect(problemsOf(text)).toEqual([
      'document 2, line 5: this is no Kubernetes object: apiVersion is missing or no text',
      'document 3, line 11: the key "a" is there twice',
      'document 4, line 16: 99999999999999999999 is too large to be kept exactly',
      'document 4, line 17: .inf has no form in JSON',
    ]);
  });

  it('names the line of the item of a list', () => {
    const text =
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {kind: Pod}\n';
    expect(problemsOf(text)).toEqual([
      'document 1, line 5: this is no Kubernetes object: apiVersion is missing or no text',
    ]);
  });

  it('says that a name which YAML takes for a boolean is no text', () => {
    expect(problemsOf('apiVersion: v1\nkind: Pod\nmetadata: {name: y}\n')).toEqual([
      'document 1, line 1: this is no Kubernetes object: metadata.name is missing or no text',
    ]);
  });

  it('repeats nothing of a file that is no YAML', () => {
    const problems = problemsOf('apiVersion: v1\nkind: Secret\nstringData: {a: "hush\n');
    expect(problems).not.toEqual([]);
    expect(problems.join()).not.toContain('hush');
  });

  it('refuses a document that is no mapping', () => {
    expect(problemsOf('just text\n')).toHaveLength(1);
  });

  it('does not let aliases blow a file up', () => {
    const levels = Array.from({ length: 12 }, (_, level) =>
      level === 0
        ? 'l0: &l0 [x, x, x, x, x, x]'
        : `l${level}: &l${level} [${Array(6)
            .fill(`*l${level - 1}`)
            .join(', ')}]`,
    );
    const problems = problemsOf(`${head}${levels.join('\n')}\n`);
    expect(problems[0]).toContain('repeats values too often');
  });
});
