// What became of an order, told by the HostCommand alone.
import { describe, expect, it } from 'vitest';
import { type Order, newCommandID, readCommandID } from '../../../../src/controllers/host-command/command-id.ts';
import { isOver, progressOf } from '../../../../src/controllers/host-command/progress.ts';
import { Retries } from '../../../../src/controllers/host-command/retries.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';

const steps = [
  { id: 'a', task: 'ping' },
  { id: 'b', task: 'ping' },
];
const order: Order = { purpose: 'prepare', claim: 'c1', steps };

interface Given {
  readonly commandID?: string;
  readonly states?: readonly string[];
  readonly statusOf?: string;
}

function command({ commandID = newCommandID(order, 2), states, statusOf = commandID }: Given = {}): KubeObject {
  const told = states?.map((state, index) => ({
    id: steps[index]?.id,
    state,
    attempt: 1,
    ...(state === 'Failed' ? { error: { code: 'BKE_LOCKED', message: 'busy' } } : {}),
    ...(state === 'Running' ? { message: 'pulls' } : {}),
  }));
  return {
    apiVersion: 'bke.io/v1alpha1',
    kind: 'HostCommand',
    metadata: { namespace: 'bke', name: 'w1' },
    spec: { commandID, leaseGeneration: 1, steps },
    ...(told === undefined ? {} : { status: { commandID: statusOf, steps: told } }),
  };
}

describe('an order', () => {
  it.each<[string, object, Given]>([
    ['runs before the agent has taken it', { state: 'running', step: 'a' }, {}],
    [
      'runs while the status is of another command',
      { state: 'running', step: 'a' },
      { states: ['Done', 'Done'], statusOf: 'old' },
    ],
    ['runs', { state: 'running', step: 'b', message: 'pulls' }, { states: ['Done', 'Running'] }],
    ['is done', { state: 'done' }, { states: ['Done', 'Done'] }],
    [
      'has failed',
      { state: 'failed', attempt: 2, step: 'b', error: { code: 'BKE_LOCKED', message: 'busy' } },
      { states: ['Done', 'Failed'] },
    ],
    ['is asked for again where it was cancelled', { state: 'absent' }, { states: ['Done', 'Cancelled'] }],
    [
      'waits for another command',
      { state: 'busy', commandID: 'somebody-elses' },
      { commandID: 'somebody-elses', states: ['Running', 'Pending'] },
    ],
    [
      'is absent after another command',
      { state: 'absent' },
      { commandID: 'somebody-elses', states: ['Done', 'Failed'] },
    ],
  ])('%s', (_words, progress, given) => {
    expect(progressOf(command(given), order)).toMatchObject(progress);
  });

  it('is another one for another claim, and with other steps', () => {
    const done = command({ states: ['Done', 'Done'] });
    expect(progressOf(done, { ...order, claim: 'c2' })).toEqual({ state: 'absent' });
    expect(progressOf(done, { ...order, steps: steps.slice(1) })).toEqual({ state: 'absent' });
    expect(progressOf(done, { ...order, purpose: 'reset' })).toEqual({ state: 'absent' });
  });

  it('has an id of its own for each attempt, in the form that the API takes', () => {
    const id = newCommandID(order, 7);
    expect(id).not.toBe(newCommandID(order, 7));
    expect(id).toMatch(/^[a-z0-9-]{8,64}$/);
    expect(readCommandID(id)).toMatchObject({ purpose: 'prepare', attempt: 7 });
    expect(readCommandID('none-yet')).toBeUndefined();
  });
});

it('is over where there is nothing to do', () => {
  expect(isOver(undefined)).toBe(true);
  expect(isOver({ ...command(), spec: { commandID: 'none-yet', leaseGeneration: 0, steps: [] } })).toBe(true);
  expect(isOver(command())).toBe(false);
});

it('is given again after pauses that grow, counted from when the failure was seen', () => {
  let now = 0;
  const retries = new Retries(() => now);
  const first = retries.waitMs({ commandID: 'x', attempt: 1 });
  expect(first).toBeGreaterThanOrEqual(5000);
  expect(first).toBeLessThanOrEqual(10_000);
  now = 2000;
  expect(retries.waitMs({ commandID: 'x', attempt: 1 })).toBeCloseTo(first - 2000);
  now = 10_000;
  expect(retries.waitMs({ commandID: 'x', attempt: 1 })).toBe(0);
  expect(retries.waitMs({ commandID: 'y', attempt: 9 })).toBeGreaterThanOrEqual(150_000);
});
