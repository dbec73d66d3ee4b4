// Events of Kubernetes: written once, again while they matter, and never in the way of the work.
import { expect, it } from 'vitest';
import { createEventRecorder } from '../../../src/controllers/event-recorder.ts';
import type { KubeObject } from '../../../src/kube/client.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { silentLog } from '../../fakes/log.ts';

const event = {
  object: { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'bke-system', name: 'ca', uid: 'u1' } },
  type: 'Warning',
  reason: 'EndsSoon',
  message: 'The CA ends soon.',
} as const;

function recorder(create: (object: KubeObject) => Promise<KubeObject>, clock: { now: Date }) {
  return createEventRecorder({
    client: { create },
    namespace: 'bke-system',
    instance: 'pod_1',
    now: () => clock.now,
    log: silentLog,
  });
}

it('writes an event about its object, the same again only after half an hour', async () => {
  const written: KubeObject[] = [];
  const clock = { now: new Date('2026-01-01T00:00:00.123Z') };
  const events = recorder(async (object) => (written.push(object), object), clock);
  await events.record(event);
  await events.record(event);
  expect(written).toMatchObject([
    {
      kind: 'Event',
      metadata: { namespace: 'bke-system', name: expect.stringMatching(/^ca\.[0-9a-f]{16}\.[0-9a-f]+$/) },
      involvedObject: { kind: 'Secret', name: 'ca', namespace: 'bke-system', uid: 'u1' },
      type: 'Warning',
      reason: 'EndsSoon',
      message: 'The CA ends soon.',
      firstTimestamp: '2026-01-01T00:00:00Z',
      reportingInstance: 'pod_1',
    },
  ]);
  await events.record({ ...event, message: 'Another one.' });
  expect(written).toHaveLength(2);
  clock.now = new Date('2026-01-01T00:31:00Z');
  await events.record(event);
  expect(written).toHaveLength(3);
  expect(new Set(written.map(({ metadata }) => metadata.name)).size).toBe(3);
});

it('does not fail where an event cannot be written, and writes it the next time', async () => {
  let refused = 0;
  const written: KubeObject[] = [];
  const create = async (object: KubeObject): Promise<KubeObject> => {
    if (refused === 0) {
      refused += 1;
      throw new BkeError('BKE_KUBE_FORBIDDEN', 'no');
    }
    written.push(object);
    return object;
  };
  const events = recorder(create, { now: new Date() });
  await events.record(event);
  await events.record(event);
  expect({ refused, written: written.length }).toEqual({ refused: 1, written: 1 });
});
