import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBytes } from '../../../src/lib/bytes.ts';
import { formatDuration, parseDuration } from '../../../src/lib/duration.ts';
import { readInput } from '../../../src/lib/input.ts';
import { createLimit, eachLimited } from '../../../src/lib/limit.ts';
import { distance, nearest } from '../../../src/lib/suggest.ts';
import {
  camelCase,
  listed,
  listedShort,
  named,
  padEnd,
  plural,
  printable,
  quoted,
  textWidth,
  truncate,
  visible,
  wrap,
} from '../../../src/lib/text.ts';

describe('durations', () => {
  it.each([
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['250ms', 250],
    ['2d', 172_800_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '30', 's', '-5s', '5 s', '5S', '1h 30m', '1e3s', '99999999999999999999d'])('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it.each([
    [0, '0.0s'],
    [449, '0.4s'],
    [12_400, '12s'],
    [59_600, '1m00s'],
    [184_000, '3m04s'],
    [3_720_000, '1h02m'],
    [183_600_000, '2d03h'],
  ])('%i ms is shown as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('are read as they are shown', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000_000 }), (ms) => {
        const read = parseDuration(formatDuration(ms));
        expect(read).toBeDefined();
        expect(Math.abs((read ?? 0) - ms)).toBeLessThanOrEqual(Math.max(60, ms * 0.05));
      }),
    );
  });
});

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [240_000_000, '229 MiB'],
  [1024 ** 3, '1.0 GiB'],
  [1024 ** 2 - 1, '1.0 MiB'],
])('%i bytes are shown as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

describe('suggestions', () => {
  it.each([
    ['versoin', ['version', 'status'], 'version'],
    ['bulid', ['build', 'verify'], 'build'],
    ['stat', ['start', 'status'], 'status'],
    ['x', ['init', 'reset'], undefined],
    ['banana', ['init', 'reset'], undefined],
    ['k3', ['k3s', 'kubeadm'], 'k3s'],
  ])('%s of %j is %s', (typed, candidates, wanted) => {
    expect(nearest(typed, candidates)).toBe(wanted);
  });

  it('measure a distance', () => {
    const word = fc.string({ maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(distance(a, b)).toBe(distance(b, a));
        expect(distance(a, b) === 0).toBe(a === b);
        expect(distance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
    expect(distance('ab', 'ba')).toBe(1);
  });
});

describe('text', () => {
  it('loses escape sequences and control characters, keeps lines', () => {
    expect(printable('a\u001B[31mb\u0007\r\nc\td\u009Be')).toBe('ab\nc\tde');
  });

  it('of others shows what would not be seen, and has an end', () => {
    expect(quoted('a\nhint: b\u001B[2J\u202Ec"')).toBe('"a\\x0ahint: b\\x1b[2J\\u202ec\\""');
    expect(quoted('x'.repeat(100_000))).toBe(`"${'x'.repeat(200)}…"`);
    expect(visible('长名 ✓', 10)).toBe('长名 ✓');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(visible(text, 200)).toBe(printable(visible(text, 200)).replaceAll('\n', ''));
      }),
    );
  });

  it('has the width a terminal gives it', () => {
    expect([textWidth('abc'), textWidth('长名'), textWidth('\u001B[1mab\u001B[0m'), textWidth('✓')]).toEqual([
      3, 4, 2, 1,
    ]);
    expect(padEnd('长', 4)).toBe('长  ');
    expect(truncate('abcdef', 4)).toBe('abc…');
    expect(truncate('长名长名', 5)).toBe('长名…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.integer({ min: 1, max: 20 }), (text, width) => {
        expect(textWidth(truncate(printable(text), width))).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('is wrapped without losing a word', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('incomprehensible', 5)).toEqual(['incomprehensible']);
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }),
        fc.integer({ min: 1, max: 40 }),
        (words, width) => {
          const lines = wrap(words.join(' '), width);
          expect(lines.join(' ')).toBe(words.join(' '));
          expect(lines.every((line) => line.length <= width || !line.includes(' '))).toBe(true);
        },
      ),
    );
  });

  it('is put together as people write it', () => {
    expect([plural(1, 'host'), plural(2, 'host'), plural(0, 'entry', 'entries')]).toEqual([
      '1 host',
      '2 hosts',
      '0 entries',
    ]);
    expect([listed([]), listed(['a']), listed(['a', 'b']), listed(['a', 'b', 'c'], 'or')]).toEqual([
      '',
      'a',
      'a and b',
      'a, b or c',
    ]);
    expect(listedShort(['a', 'b', 'c'], 2)).toBe('a, b and 1 more');
    expect([camelCase('dry-run'), camelCase('yes'), camelCase('host-ip')]).toEqual(['dryRun', 'yes', 'hostIp']);
  });
});

it('a limit runs so many at once, in the order they came, and goes on after a failure', async () => {
  const limit = createLimit(2);
  let running = 0;
  let most = 0;
  const order: number[] = [];
  const work = (i: number) =>
    limit(async () => {
      running += 1;
      most = Math.max(most, running);
      order.push(i);
      await new Promise((done) => setTimeout(done, 2));
      running -= 1;
      if (i === 1) throw new Error('one fails');
      return i;
    });
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
  expect(most).toBe(2);
  expect(order).toEqual([0, 1, 2, 3, 4]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
});

it('work on each of a list stops at the first failure, once what runs has ended', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const working = eachLimited([0, 1, 2, 3, 4], 2, async (i) => {
    begun.push(i);
    await new Promise((done) => setTimeout(done, i === 1 ? 2 : 10));
    if (i === 1) throw new Error('one fails');
    ended.push(i);
  });
  await expect(working).rejects.toThrow('one fails');
  expect({ begun, ended }).toEqual({ begun: [0, 1], ended: [0] });
});

it('input is read by type, and a wrong name or type is a bug of the handler', () => {
  const input = readInput({ yes: true, count: 2, name: 'a', all: ['a', 'b'], missing: undefined });
  expect([input.flag('yes'), input.count('count'), input.text('name'), input.text('missing')]).toEqual([
    true,
    2,
    'a',
    undefined,
  ]);
  expect([input.texts('all'), input.texts('missing')]).toEqual([['a', 'b'], []]);
  expect(() => input.flag('name')).toThrow("input 'name' is string, not a flag");
  expect(() => input.number('name')).toThrow('not a number');
  expect(() => input.requiredText('missing')).toThrow("input 'missing' is undefined, not given");
  expect(() => input.texts('name')).toThrow('not a list');
});

it.each([
  ['it does not start', 'cp1: it does not start'],
  ['cp1: it does not start', 'cp1: it does not start'],
  ['cp1, step a: it does not start', 'cp1, step a: it does not start'],
  ['cp10: it does not start', 'cp1: cp10: it does not start'],
  ['cp1', 'cp1'],
])('names what is told once: %s', (words, told) => {
  expect(named('cp1', words)).toBe(told);
});
