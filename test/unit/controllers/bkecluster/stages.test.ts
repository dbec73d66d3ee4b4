// Stages of an installation and their times.
import { expect, it } from 'vitest';
import { stageNews, stagesOf } from '../../../../src/controllers/bkecluster/stages.ts';

const none = { infrastructure: false, 'control-plane': false, workers: false, network: false };
const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 30, 10, minute));

it('begins a stage when the one before has ended, and not earlier', () => {
  const first = stagesOf([], { ...none, workers: true }, at(0));
  expect(first).toEqual([{ name: 'infrastructure', started: '2026-11-30T10:00:00Z' }]);
  const second = stagesOf(first, { ...none, infrastructure: true }, at(2));
  expect(second).toEqual([
    { name: 'infrastructure', started: '2026-11-30T10:00:00Z', ended: '2026-11-30T10:02:00Z' },
    { name: 'control-plane', started: '2026-11-30T10:02:00Z' },
  ]);
  expect(stageNews(first, second)).toEqual([
    'stage infrastructure has ended after 2m00s',
    'stage control-plane begins',
  ]);
});

it('keeps what has ended, whatever comes later', () => {
  const ended = { infrastructure: true, 'control-plane': true, workers: true, network: true };
  const done = stagesOf([], ended, at(5));
  expect(done.map(({ name }) => name)).toEqual(['infrastructure', 'control-plane', 'workers', 'network']);
  expect(stagesOf(done, none, at(9))).toEqual(done);
  expect(stageNews(done, done)).toEqual([]);
});
