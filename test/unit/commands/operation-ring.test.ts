// Operations of clusters as commands see them: events out of a ring, and the end as an error.
import { expect, it } from 'vitest';
import { throwUnlessDone } from '../../../src/commands/operation/outcome.ts';
import { ringEvents } from '../../../src/commands/operation/ring-events.ts';
import { BkeError } from '../../../src/lib/errors.ts';

const at = '2026-11-30T10:00:00.000Z';
const started = {
  seq: 1,
  at,
  type: 'operation.started',
  data: { action: 'cluster.create', target: 'cluster prod', hosts: ['cp1'], dryRun: false, phases: [] },
};
const note = (seq: number) => ({ seq, at, type: 'note', data: { level: 'info', message: `n${seq}` } });
const object = (events: readonly object[]) => ({
  apiVersion: 'bke.io/v1alpha1',
  kind: 'BKEOperation',
  metadata: { namespace: 'bke', name: '20261130-100000-cluster-create-ab12' },
  spec: { target: { name: 'prod' } },
  status: { started: at, hosts: [{ name: 'cluster/prod' }, { name: 'cp1' }], events },
});

it('gives the events of the ring as those of any operation, and only those that are new', () => {
  const ring = object([started, note(2), { seq: 3, at, type: 'moon.landed', data: {} }]);
  expect(ringEvents(ring)).toEqual([
    { seq: 1, time: at, operation: ring.metadata.name, type: 'operation.started', ...started.data },
    { seq: 2, time: at, operation: ring.metadata.name, type: 'note', level: 'info', message: 'n2' },
  ]);
  expect(ringEvents(ring, 1).map(({ seq }) => seq)).toEqual([2]);
  expect(ringEvents(ring, 2)).toEqual([]);
});

it('makes up a beginning where the ring has lost it', () => {
  const [first, second] = ringEvents(object([note(7), note(8)]));
  expect(first).toMatchObject({ seq: 6, type: 'operation.started', target: 'cluster prod', hosts: ['cp1'] });
  expect(second?.seq).toBe(7);
});

const finished = {
  seq: 9,
  time: at,
  operation: 'x',
  type: 'operation.finished',
  changed: true,
  next: [],
  durationMs: 1,
} as const;

it('ends as the operation did: with its one error, or with one for each host', () => {
  const error = { code: 'BKE_SSH_AUTH', message: 'cannot log in', host: 'cp1', hint: 'Try it.' } as const;
  const failed = { host: 'cp1', state: 'failed', changed: false, error } as const;
  expect(() => throwUnlessDone({ ...finished, outcome: 'done', hosts: [] })).not.toThrow();
  expect(() => throwUnlessDone({ ...finished, outcome: 'failed', hosts: [failed], error })).toThrow(
    expect.objectContaining({ code: 'BKE_SSH_AUTH', host: 'cp1', hint: 'Try it.', exitCode: 5 }),
  );
  const two = [failed, { ...failed, host: 'cp2', error: { ...error, host: 'cp2' } }];
  expect(() => throwUnlessDone({ ...finished, outcome: 'failed', hosts: two, error })).toThrow('2 hosts failed');
  expect(() =>
    throwUnlessDone({
      ...finished,
      outcome: 'cancelled',
      hosts: [{ host: 'cp1', state: 'stopped', step: 'node/prepare', changed: true }],
    }),
  ).toThrow(expect.objectContaining({ code: 'BKE_CANCELLED', details: ['cp1: stopped before node/prepare was done'] }));
  expect(new BkeError('BKE_DETACHED', 'x').exitCode).toBe(130);
});
