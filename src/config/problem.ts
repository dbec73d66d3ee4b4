// What is wrong with a configuration: gathered, so that one run shows everything.
import { BkeError } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';

export interface Problem {
  /** File with line and column, or the option, where the value was given. */
  readonly at: string;
  /** Field path, e.g. spec.ports.registry; '' where `at` says it already. */
  readonly field: string;
  readonly message: string;
}

/** More lines than these nobody reads. */
const mostShown = 20;

/** A line for each of the first, and how many more there are. */
export function problemLines(problems: readonly Problem[], most = mostShown): string[] {
  const lines = problems
    .slice(0, most)
    .map(({ at, field, message }) => [at, field, message].filter((part) => part !== '').join(': '));
  const more = problems.length - lines.length;
  return more > 0 ? [...lines, `… and ${more} more`] : lines;
}

/** @throws BkeError BKE_CONFIG_INVALID that lists the problems; returns where there is none. */
export function refuseProblems(problems: readonly Problem[], what: string, most = mostShown): void {
  if (problems.length === 0) return;
  throw new BkeError('BKE_CONFIG_INVALID', `${plural(problems.length, 'problem')} with ${what}`, {
    details: problemLines(problems, most),
    hint: 'Nothing was done. Correct the values and run the same command again.',
  });
}
