// What is wrong with a configuration: gathered, so that one run shows everything.
import { BkeError } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';

export interface Problem {
  /** File with line and column, or the option, where the value was given. */
  readonly at: string;
  /** Field path or option, e.g. spec.ports.registry. */
  readonly field: string;
  readonly message: string;
}

/** @throws BkeError BKE_CONFIG_INVALID that lists every problem; returns where there is none. */
export function refuseProblems(problems: readonly Problem[], what: string): void {
  if (problems.length === 0) return;
  throw new BkeError('BKE_CONFIG_INVALID', `${plural(problems.length, 'problem')} with ${what}`, {
    details: problems.map(({ at, field, message }) => `${at}: ${field}: ${message}`),
    hint: 'Nothing was done. Correct the values and run the same command again.',
  });
}
