import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shellCommand, shellQuote, shellQuoteOneLine } from '../../../src/lib/quote.ts';

const shells = [['dash'], ['bash'], ['sh'], ['busybox', 'sh'], ['zsh', '--emulate', 'sh']].filter(
  ([name]) => existsSync(`/bin/${name}`) || existsSync(`/usr/bin/${name}`),
);

/** Any bytes but NUL; latin1 text stands for them one to one. */
const bytes = fc
  .uint8Array({ maxLength: 60 })
  .map((array) => Buffer.from(array.filter((byte) => byte !== 0)).toString('latin1'));

describe.each(shells)('%s', (name, ...options) => {
  const run = (script: string): string =>
    execFileSync(name ?? '', options, {
      input: Buffer.from(script, 'latin1'),
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    }).toString('latin1');

  test('every byte string survives quoting', () => {
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 1, maxLength: 5 }), (words) => {
        expect(
          run(`printf '%s\\001' ${words.map(shellQuote).join(' ')}`)
            .split('\u0001')
            .slice(0, -1),
        ).toEqual(words.flatMap((word) => word.split('\u0001')));
      }),
      { numRuns: 40 },
    );
  });

  test('the one-line form survives read and eval', () => {
    fc.assert(
      fc.property(bytes, (word) => {
        const quoted = shellQuoteOneLine(word);
        expect(quoted).not.toContain('\n');
        expect(run(`n='\n'; IFS= read -r s; eval "$s"\nprintf %s ${quoted}\n`)).toBe(word);
      }),
      { numRuns: 40 },
    );
  });
});

test('a NUL is refused, and commands read as a person would type them', () => {
  expect(() => shellQuote('a\0b')).toThrow('NUL');
  expect(shellCommand(['ssh', '-p', '22', 'a b', "it's", ''])).toBe("ssh -p 22 'a b' 'it'\\''s' ''");
});
