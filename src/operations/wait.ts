// Waiting that is never silent: what for, since when, why, and what a person can do.
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../lib/duration.ts';
import { BkeError } from '../lib/errors.ts';
import type { StepBinding } from './operation.ts';
import type { Wait } from './scope.ts';

/** Shorter waits are not worth a line. */
const quietMs = 2000;
/** A wait that goes on without news says so this often. */
const repeatMs = 30_000;
/** Causes that take turns are told so often at most; one that is new is told at once. */
const returnMs = 10_000;

/**
 * Polls until ready.
 * @throws BkeError BKE_TIMEOUT with the last cause, BKE_CANCELLED; whatever the probe throws.
 */
export async function waitUntil(binding: StepBinding, now: () => Date, wait: Wait): Promise<void> {
  const since = now();
  // The bound holds whatever the wall clock does meanwhile.
  const began = performance.now();
  const told: { at: number; kind: string | undefined; kinds: Set<string> } = {
    at: 0,
    kind: undefined,
    kinds: new Set(),
  };
  let cause = 'not looked yet';
  const tell = (): void => {
    binding.waitsFor({ for: wait.for, cause, next: wait.next });
    const at = performance.now();
    const kind = withoutNumbers(cause);
    const pauseMs = kind === told.kind ? repeatMs : returnMs;
    const due = told.at === 0 ? at - began >= quietMs : !told.kinds.has(kind) || at - told.at >= pauseMs;
    if (!due) return;
    told.at = at;
    told.kind = kind;
    told.kinds.add(kind);
    const next = wait.next === undefined ? {} : { next: wait.next };
    binding.emit({ type: 'step.waiting', for: wait.for, since: since.toISOString(), cause, ...next });
  };
  try {
    for (;;) {
      const result = await bounded(wait, began, binding);
      if (result === undefined) throw timeout(wait, cause);
      if (result.ready) return;
      cause = result.cause;
      const left = began + wait.timeoutMs - performance.now();
      if (left <= 0) throw timeout(wait, cause);
      tell();
      await pause(Math.min(left, wait.intervalMs ?? 1000), binding.signal);
    }
  } finally {
    if (!binding.signal.aborted) binding.waitsFor(undefined);
  }
}

/** The time in a line of a log, a count or a port: a cause that differs only there is no news. */
function withoutNumbers(cause: string): string {
  return cause.replaceAll(/\d+/g, '0');
}

/** A probe that hangs ends with the wait; undefined then. What it answers counts where its signal was not aborted by then. */
async function bounded(
  wait: Wait,
  began: number,
  binding: StepBinding,
): Promise<Awaited<ReturnType<Wait['probe']>> | undefined> {
  throwIfAborted(binding.signal);
  const late = new AbortController();
  const over = AbortSignal.any([late.signal, binding.signal]);
  const { promise: ended, resolve } = Promise.withResolvers<undefined>();
  const end = (): void => resolve(undefined);
  over.addEventListener('abort', end, { once: true });
  const timer = setTimeout(() => late.abort(), Math.max(1, began + wait.timeoutMs - performance.now()));
  try {
    const result = await Promise.race([wait.probe(over), ended]);
    if (result === undefined) throwIfAborted(binding.signal);
    return result;
  } catch (error) {
    throwIfAborted(binding.signal);
    throw error;
  } finally {
    clearTimeout(timer);
    over.removeEventListener('abort', end);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => throwIfAborted(signal));
}

/** @throws BkeError BKE_CANCELLED, or the deadline's own BKE_TIMEOUT. */
export function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw signal.reason instanceof BkeError ? signal.reason : new BkeError('BKE_CANCELLED', 'stopped');
}

function timeout(wait: Wait, cause: string): BkeError {
  return new BkeError('BKE_TIMEOUT', `waited ${formatDuration(wait.timeoutMs)} for ${wait.for}: ${cause}`, {
    hint: wait.next === undefined ? undefined : `Look at: ${wait.next}`,
  });
}
