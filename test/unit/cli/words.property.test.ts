import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { BkeError } from '../../../src/lib/errors.ts';
import { fakeCommands } from '../../fakes/commands.ts';
import { parse } from '../../../src/cli/commander.ts';

const spec = fakeCommands().commands[0];
if (spec === undefined) throw new Error('no command');

const known = ['--yes', '--confirm', '--no-ui', '--bundle', '--data-dir', '--hostIP', '-q', '-v', '-o', '--'];
const word = fc.oneof(
  fc.constantFrom(...known),
  fc.constantFrom('json', 'x', '-', '-x', '--al', '--yes=no', '--bundle=a'),
  fc.string({ maxLength: 4 }),
);

it('reads every line of words or refuses it with exit code 2, and never lets an option swallow another', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (words) => {
      try {
        const { input } = parse(spec, words);
        for (const name of ['bundle', 'dataDir', 'hostIp']) {
          const value = input[name];
          expect(value === undefined || typeof value === 'string').toBe(true);
          if (typeof value === 'string') expect(known).not.toContain(value);
        }
        const end = words.indexOf('--');
        const before = end === -1 ? words : words.slice(0, end);
        expect(input['yes']).toBe(before.some((text) => text === '--yes' || text === '--confirm'));
      } catch (error) {
        if (!(error instanceof BkeError)) throw error;
        expect(error.exitCode).toBe(2);
      }
    }),
    { numRuns: 2000 },
  );
});

it('does not care about the order of flags', () => {
  const flags = ['--yes', '--no-ui', '-q', '--bundle=b', '--tries=2', '--ignore-check=a'];
  const wanted = parse(spec, flags);
  fc.assert(
    fc.property(fc.shuffledSubarray(flags, { minLength: flags.length }), (shuffled) => {
      expect(parse(spec, shuffled)).toEqual(wanted);
    }),
  );
});
