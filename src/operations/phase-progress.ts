// Tells when a phase starts (its first host enters) and ends (its last host is through), though hosts pass it at their own pace.
import type { Outcome } from '../api/events.ts';
import type { Emit } from './emitter.ts';
import type { Phase } from './operation.ts';

export interface PhaseProgress {
  enter(): void;
  leave(outcome: Outcome): void;
  /** A host that fell out before it came here. */
  skip(): void;
}

/** @param isIn whether a host is still taking part. */
export function createPhaseProgress<Scope>(
  emit: Emit,
  phase: Phase<Scope>,
  isIn: (host: string | undefined) => boolean,
): PhaseProgress {
  let left = phase.chains.length;
  let began: number | undefined;
  const outcomes = new Set<Outcome>();
  const through = (): void => {
    left -= 1;
    if (left > 0 || began === undefined) return;
    const outcome = outcomes.has('failed') ? 'failed' : outcomes.has('cancelled') ? 'cancelled' : 'done';
    emit({ type: 'phase.finished', phase: phase.id, outcome, durationMs: Math.round(performance.now() - began) });
  };
  return {
    enter: () => {
      if (began !== undefined) return;
      began = performance.now();
      const hosts = phase.chains.flatMap(({ host }) => (host !== undefined && isIn(host) ? [host] : []));
      emit({ type: 'phase.started', phase: phase.id, title: phase.title, hosts });
    },
    leave: (outcome) => {
      outcomes.add(outcome);
      through();
    },
    skip: through,
  };
}
