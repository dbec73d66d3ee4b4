import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { substituteVariables, type Variables } from '../../../../src/tasks/cluster-api/variables.ts';

const fill = (text: string, values: Variables = {}): string => substituteVariables('core', text, values);

describe('variables of a provider manifest', () => {
  // What clusterctl 1.14.2 (drone/envsubst 2) makes of the same texts.
  it.each([
    ['--address=${A:=:8443}', {}, '--address=:8443'],
    ['--address=${A:=:8443}', { A: ':1' }, '--address=:1'],
    ['${A:=x}', { A: '' }, 'x'],
    ['${A=x} ${A:-y} ${A:?z}', {}, 'x y z'],
    ['${A:+x}', { A: 'a' }, 'a'],
    ['${A}', { A: '' }, ''],
    ['${ A } ${A } ${ A}', { A: 'a' }, 'a a a'],
    ['${A:=${B}}', { B: 'b' }, 'b'],
    ['${A:=${B}}', { A: 'a' }, 'a'],
    ['${A:=x${B:=y}z}', {}, 'xyz'],
    ['$${A} costs $5 and $$', {}, '${A} costs $5 and $'],
    ['$A $(A) {A}', {}, '$A $(A) {A}'],
    ['${A:=a}${B:=b}', {}, 'ab'],
    ['${A:=cost $5}', {}, 'cost $5'],
  ])('makes of %s with %o: %s', (text, values, made) => {
    expect(fill(text, values)).toBe(made);
  });

  it('names every variable that has neither value nor default, once', () => {
    expect(() => fill('${B} ${A} ${B} ${C:=} ${D:=${E}} ${F:=f}', { X: 'x' })).toThrow(
      'core has variables with neither value nor default: A, B, C, E',
    );
  });

  it.each(['${A', '${A:=x', '${}', '${A:1:2}', '${A^^}', '${#A}', '${A/x/y}', '${A B}'])('refuses %s', (text) => {
    expect(() => fill(`one\ntwo ${text}`, { A: 'a' })).toThrow('core has on line 2 what is no variable: ${');
  });

  it('leaves a text without variables as it is', () => {
    assert(
      property(
        string().filter((text) => !text.includes('$')),
        (text) => {
          expect(fill(text)).toBe(text);
        },
      ),
    );
  });

  it('puts in values and defaults as they are, whatever is in them', () => {
    const text = string({ minLength: 1 }).filter((value) => !/[}$]/.test(value));
    assert(
      property(string({ minLength: 1 }), text, (value, fallback) => {
        expect(fill('<${A:=x}>', { A: value })).toBe(`<${value}>`);
        expect(fill(`<\${A:=${fallback}}>`)).toBe(`<${fallback}>`);
      }),
    );
  });
});
