import { describe, expect, it } from 'vitest';
import {
  boundedResult,
  ended,
  errorReport,
  isOver,
  newCommand,
  readCommandState,
  refusedCommand,
  withRestCancelled,
  withStep,
} from '../../../src/agent/command-state.ts';
import { BkeError } from '../../../src/lib/errors.ts';

const spec = { commandID: 'command-1', leaseGeneration: 1, steps: ['a', 'b', 'c'].map((id) => ({ id, task: 'ping' })) };
const at = '2026-11-30T10:00:00Z';

describe('the state of a command', () => {
  it('is the same after it was written down', () => {
    const state = ended(withStep(newCommand(spec, 'here'), 'a', { attempt: 2, message: 'waits' }), 'a', {
      state: 'Done',
      finished: at,
      result: { x: 1 },
    });
    expect(readCommandState(JSON.parse(JSON.stringify(state)))).toEqual(state);
    expect(state.steps[0]).toEqual({ id: 'a', attempt: 2, state: 'Done', finished: at, result: { x: 1 } });
  });

  it('is over when each step is, whichever way', () => {
    const failed = ended(newCommand(spec, 'here'), 'a', { state: 'Failed', finished: at });
    expect(isOver(failed)).toBe(false);
    const over = withRestCancelled(failed, at);
    expect(over.steps.map(({ state }) => state)).toEqual(['Failed', 'Cancelled', 'Cancelled']);
    expect(isOver(over)).toBe(true);
  });

  it('of a refused command says why in its first step', () => {
    const status = refusedCommand(spec, new BkeError('BKE_COMMAND_STALE', 'too old', { hint: 'Wait.' }), at);
    expect(status.steps?.[0]).toEqual({
      id: 'a',
      state: 'Failed',
      attempt: 0,
      finished: at,
      error: { code: 'BKE_COMMAND_STALE', message: 'too old', hint: 'Wait.' },
    });
    expect(status.steps?.slice(1).map(({ state }) => state)).toEqual(['Cancelled', 'Cancelled']);
  });

  it('holds no more than an object in the cluster may', () => {
    const large = { text: 'x'.repeat(100_000) };
    expect(boundedResult(newCommand(spec, 'here'), large)).toEqual(large);
    expect(boundedResult(newCommand(spec, 'here'), { text: 'x'.repeat(200_000) })).toEqual({
      omitted: expect.any(String),
    });
    const many = { ...spec, steps: Array.from({ length: 8 }, (_, index) => ({ id: `s${index}`, task: 'ping' })) };
    const full = many.steps
      .slice(0, 5)
      .reduce((state, { id }) => ended(state, id, { state: 'Done', result: large }), newCommand(many, 'here'));
    expect(boundedResult(full, large)).toEqual({ omitted: expect.any(String) });
    const report = errorReport({ code: 'BKE_COMMAND_FAILED', message: 'it said', details: ['x'.repeat(9000)] });
    expect(report.message).toHaveLength(4096);
  });
});
