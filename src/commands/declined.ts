// The answer no: nothing was done, and what a script does after the command must not go on as if it were.
import { BkeError } from '../lib/errors.ts';

export function declined(): BkeError {
  return new BkeError('BKE_DECLINED', 'nothing was done: the question was not answered with yes');
}
