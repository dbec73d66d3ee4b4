import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameReader } from '../../../../src/host/ssh/frame.ts';
import { startLine } from '../../../../src/host/ssh/script.ts';

const nonce = 'bke0123456789abcdef01234567';

/** Marks and their pieces, so that chance finds what looks almost like ours. */
const piece = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '\n',
    nonce,
    `\n${nonce}`,
    `\n${nonce} exi`,
    `${nonce} exit 0\n`,
    `\n${nonce} ready`,
    '\u0000',
    '\u{1F600}',
  ),
);
const text = fc
  .array(piece, { maxLength: 8 })
  .map((pieces) => pieces.join(''))
  .filter((all) => !all.includes(`\n${nonce} exit `) && !all.includes(`\n${nonce} ready `));

describe('a frame', () => {
  test('gives exactly what was between the marks, however the bytes are cut', () => {
    fc.assert(
      fc.property(
        text,
        text,
        text,
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (noise, body, after, sizes) => {
          const all = Buffer.from(`${noise}\n${nonce} ready 42\n${body}\n${nonce} exit 7\n${after}`);
          const reader = new FrameReader(nonce, 1_000_000);
          let groupSeen = '';
          for (let at = 0, turn = 0; at < all.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            reader.push(all.subarray(at, at + size));
            if (reader.began && !reader.ended) groupSeen ||= reader.value;
            at += size;
          }
          expect({ ended: reader.ended, value: reader.value, text: reader.text }).toEqual({
            ended: true,
            value: '7',
            text: Buffer.from(body).toString(),
          });
          expect(['', '42']).toContain(groupSeen);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('keeps the end of what is too long, and the noise that took its place', () => {
    const reader = new FrameReader(nonce, 10);
    reader.push(Buffer.from('x'.repeat(10_000)));
    expect(reader.noise).toHaveLength(4096);
    reader.push(Buffer.from(`\n${nonce} ready 1\n`));
    expect(reader.noise).toBe('');
    for (let index = 0; index < 100_000; index += 1) reader.push(Buffer.from(`line ${index % 10}\n`));
    reader.push(Buffer.from(`end.\n${nonce} exit 0\n`));
    expect(reader.text).toBe('ne 9\nend.'.padStart(10, 'i'));
  });

  test('what was held back comes out when the channel closes without an end mark', () => {
    const reader = new FrameReader(nonce, 100);
    reader.push(Buffer.from(`\n${nonce} ready 1\nshort\n${nonce.slice(0, 5)}`));
    reader.finish();
    expect(reader.text).toBe(`short\n${nonce.slice(0, 5)}`);
    expect(reader.ended).toBe(false);
  });
});

test.each(['with-password', 'without-password'] as const)(
  'the start line (%s) holds nothing that login shells read differently',
  (mode) => {
    const line = startLine(nonce, mode);
    expect(line).not.toMatch(/[!\n]|\\'|\\\\/);
    // Quotes only around the two scripts.
    expect(line.split("'")).toHaveLength(5);
  },
);
