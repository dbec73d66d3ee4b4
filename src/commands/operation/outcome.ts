// How an operation of a cluster ended, as the end of the command that watched it.
import type { OperationEvent } from '../../api/events.ts';
import { BkeError, type ErrorReport } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';

type Finished = Extract<OperationEvent, { type: 'operation.finished' }>;

/** @throws the one error of the operation, an AggregateError of several hosts', or BKE_CANCELLED */
export function throwUnlessDone({ outcome, hosts, error }: Finished): void {
  if (outcome === 'done') return;
  const reports = hosts.flatMap((host) => (host.state === 'failed' && host.error !== undefined ? [host.error] : []));
  if (outcome === 'cancelled') throw cancelled(hosts);
  const errors = (reports.length > 0 ? reports : error === undefined ? [] : [error]).map(errorOf);
  if (errors.length === 1) throw errors[0];
  throw new AggregateError(errors, `${plural(errors.length, 'host')} failed`);
}

function errorOf({ code, message, host, hint, details }: ErrorReport): BkeError {
  return new BkeError(code, message, { host, hint, details });
}

function cancelled(hosts: Finished['hosts']): BkeError {
  const details = hosts.flatMap((one) => (one.host === undefined ? [] : [`${one.host}: ${stateWords(one)}`]));
  return new BkeError('BKE_CANCELLED', 'the operation was cancelled before it was done', {
    details,
    hint: "What there is of the cluster is paused. 'bke cluster create -f FILE' goes on from there.",
  });
}

/** The step of a host that was stopped is what was waited for: whether it had begun is not told. */
function stateWords({ state, step }: Finished['hosts'][number]): string {
  if (state === 'done' || step === undefined) return state;
  return state === 'stopped' ? `stopped before ${step} was done` : `${state} in ${step}`;
}
