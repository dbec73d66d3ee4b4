// The state of a cluster in each case, and the sequences that people see.
import { describe, expect, it } from 'vitest';
import {
  type State,
  type StateInput,
  stateOf,
  storedState,
  type StoredState,
} from '../../../../src/controllers/bkecluster/state.ts';

const base: StateInput = {
  deleting: false,
  deleteTrouble: [],
  outdated: 0,
  installed: false,
  wanted: { controlPlane: 1, workers: 2 },
  joined: { controlPlane: 0, workers: 0 },
  unjoined: 0,
  leaving: 0,
  joining: false,
  failed: [],
  waits: undefined,
  health: undefined,
  before: undefined,
};
const all = { controlPlane: 1, workers: 2 };
const trouble = { host: 'w1', step: 'images', message: 'w1: BKE_PULL_FAILED' };
const pods = { message: '17 of 23 Pods ready' };

function words(change: Partial<StateInput>): string {
  const { name, reason } = stateOf({ ...base, ...change });
  return `${name} ${reason}`;
}

/** States of one after another, each name once in a row. */
function sequence(changes: readonly Partial<StateInput>[]): string[] {
  const names: string[] = [];
  for (const change of changes) {
    const { name } = stateOf({ ...base, before: names.at(-1), ...change });
    if (names.at(-1) !== name) names.push(name);
  }
  return names;
}

describe('sequences', () => {
  it('with several workers: Installing, Scaling, Abnormal, Healthy', () => {
    expect(
      sequence([
        {},
        { joined: { controlPlane: 1, workers: 0 } },
        { joined: { controlPlane: 1, workers: 0 }, joining: true },
        { joined: { controlPlane: 1, workers: 1 } },
        { joined: all, health: pods },
        { joined: all, installed: true },
      ]),
    ).toEqual(['Installing', 'Scaling', 'Abnormal', 'Healthy']);
  });

  it('with one worker there is no Scaling, and all ready at once skips Abnormal', () => {
    const wanted = { controlPlane: 1, workers: 1 };
    const joined = { controlPlane: 1, workers: 0 };
    expect(sequence([{ wanted }, { wanted, joined, joining: true }, { wanted, joined: wanted }])).toEqual([
      'Installing',
      'Healthy',
    ]);
  });

  it('of a scale-out: Installing until a worker begins to join, Scaling until the last has', () => {
    const wanted = { controlPlane: 1, workers: 4 };
    const grown = { wanted, installed: true };
    expect(
      sequence([
        { ...grown, joined: all },
        { ...grown, joined: all, joining: true },
        { ...grown, joined: { controlPlane: 1, workers: 3 } },
        { ...grown, joined: wanted, health: pods },
        { ...grown, joined: wanted },
      ]),
    ).toEqual(['Installing', 'Scaling', 'Abnormal', 'Healthy']);
  });

  it('of an upgrade: Upgrading, Abnormal, Healthy', () => {
    const up = { installed: true, joined: all };
    expect(sequence([{ ...up, outdated: 3 }, { ...up, health: pods }, up])).toEqual([
      'Upgrading',
      'Abnormal',
      'Healthy',
    ]);
  });
});

it.each<[string, Partial<StateInput>]>([
  ['Deleting Deleting', { deleting: true, failed: [trouble] }],
  ['DeleteFailed CleanUpFailed', { deleting: true, deleteTrouble: [trouble] }],
  ['InstallFailed InstallFailed', { failed: [trouble] }],
  ['InstallFailed ScaleOutFailed', { installed: true, failed: [trouble] }],
  ['Scaling ScalingIn', { installed: true, joined: all, leaving: 1 }],
  ['Abnormal ScaleInFailed', { installed: true, joined: all, leaving: 1, failed: [trouble] }],
  ['Scaling Replacing', { installed: true, joined: all, unjoined: 1 }],
  ['Abnormal ReplaceFailed', { installed: true, joined: all, unjoined: 1, failed: [trouble] }],
  ['Scaling ScalingIn', { installed: true, joined: all, unjoined: 1, leaving: 1 }],
  ['Installing ControlPlane', {}],
  ['Installing Workers', { joined: { controlPlane: 1, workers: 0 } }],
  ['Abnormal NotReady', { joined: all, health: pods }],
])('is %s', (expected, change) => {
  expect(words(change)).toBe(expected);
});

it('gathers all hosts that failed, and names the first one with its step', () => {
  const failed = [trouble, { host: 'w2', message: 'w2: BKE_TIMEOUT' }];
  expect(stateOf({ ...base, failed })).toMatchObject({
    host: 'w1',
    step: 'images',
    message: 'w1: BKE_PULL_FAILED\nw2: BKE_TIMEOUT',
  });
});

describe('what is stored', () => {
  const at = (text: string): Date => new Date(`2026-11-30T${text}Z`);
  const state: State = { name: 'Installing', reason: 'Workers', message: 'w1 joins', host: 'w1' };

  it('keeps since when it is so while only the message changes', () => {
    const first = storedState({ state: undefined, history: [] }, state, at('10:00:00'));
    expect(first.state).toEqual({ ...state, since: '2026-11-30T10:00:00Z' });
    const second = storedState(first, { ...state, message: 'w2 joins' }, at('10:05:00'));
    expect(second.state).toMatchObject({ message: 'w2 joins', since: '2026-11-30T10:00:00Z' });
    expect(second.history).toEqual([]);
  });

  it('puts the one before into the history, the newest hundred', () => {
    const before: StoredState = { name: 'Installing', reason: 'Workers', since: '2026-11-30T10:00:00Z' };
    const history = Array.from({ length: 100 }, (_, index) => ({ ...before, message: String(index) }));
    const after = storedState(
      { state: before, history },
      { name: 'Healthy', reason: 'AllReady', message: '' },
      at('11:00:00'),
    );
    expect(after.state).toEqual({ name: 'Healthy', reason: 'AllReady', since: '2026-11-30T11:00:00Z' });
    expect(after.history).toHaveLength(100);
    expect(after.history.at(-1)).toEqual(before);
    expect(after.history[0]?.message).toBe('1');
  });
});
