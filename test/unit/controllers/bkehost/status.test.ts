// What is written about a host, and what people are told: only what is new.
import { expect, it } from 'vitest';
import { conditionTypes, type Verdicts } from '../../../../src/controllers/bkehost/conditions.ts';
import { no, yes } from '../../../../src/controllers/conditions.ts';
import { writeStatus } from '../../../../src/controllers/bkehost/status.ts';
import type { ObjectEvent } from '../../../../src/controllers/event-recorder.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { listAt, textAt } from '../../../../src/kube/fields.ts';
import { statusError } from '../../../../src/kube/status-error.ts';

const metadata = { namespace: 'bke', name: 'h1', uid: 'u1', generation: 3 };
const host: KubeObject = { apiVersion: 'bke.io/v1alpha1', kind: 'BKEHost', metadata, spec: {} };
const well: Verdicts = {
  HostKeysKnown: yes('Known'),
  Reachable: yes('AgentAnswers'),
  AgentReady: yes('Heartbeat'),
  Preflight: yes('ChecksPassed'),
  Clean: yes('Clean'),
  Available: yes('Available'),
};
const heartbeat = { state: 'fresh', version: '0.1.0', lastSeen: '2026-11-30T10:00:00.000000Z' } as const;

function writer(day: string, apply?: () => Promise<KubeObject>) {
  const applied: KubeObject[] = [];
  const told: string[] = [];
  const client = {
    apply: async (object: KubeObject) => {
      applied.push(object);
      return apply === undefined ? { ...host, status: object['status'] } : apply();
    },
  };
  const events = {
    record: async ({ type, reason, message }: ObjectEvent) => void told.push(`${type} ${reason} <${message}>`),
  };
  return { applied, told, made: { client, events, now: () => new Date(day) } };
}

it('writes all conditions with the generation they are about, and nothing where all is as it was', async () => {
  const first = writer('2026-11-30T10:00:00.500Z');
  const after = await writeStatus(first.made, host, { verdicts: well, facts: { cpus: 2 }, heartbeat });
  expect(first.applied).toMatchObject([{ metadata: { name: 'h1', namespace: 'bke', uid: 'u1' } }]);
  const conditions = listAt(after, 'status', 'conditions');
  expect(conditions.map((condition) => textAt(condition, 'type'))).toEqual([...conditionTypes]);
  expect(conditions[5]).toEqual({
    type: 'Available',
    status: 'True',
    reason: 'Available',
    message: '',
    lastTransitionTime: '2026-11-30T10:00:00Z',
    observedGeneration: 3,
  });
  expect(first.told).toEqual(['Normal Available <Available>']);
  const second = writer('2026-11-30T11:00:00Z');
  const later = { ...heartbeat, lastSeen: '2026-11-30T10:01:00.000000Z' };
  expect(await writeStatus(second.made, after, { verdicts: well, facts: { cpus: 2 }, heartbeat: later })).toBe(after);
  expect(second.applied).toEqual([]);
});

it('keeps the time since when a condition is so, and tells what went wrong and what is well again', async () => {
  const first = await writeStatus(writer('2026-11-30T10:00:00Z').made, host, {
    verdicts: well,
    facts: undefined,
    heartbeat,
  });
  const lost = no('HeartbeatLost', 'silent');
  const bad = writer('2026-11-30T11:00:00Z');
  const verdicts = { ...well, AgentReady: lost, Available: lost };
  const second = await writeStatus(bad.made, first, { verdicts, facts: undefined, heartbeat });
  const times = listAt(second, 'status', 'conditions').map((condition) => textAt(condition, 'lastTransitionTime'));
  expect(times).toEqual([10, 10, 11, 10, 10, 11].map((hour) => `2026-11-30T${hour}:00:00Z`));
  expect(bad.told).toEqual(['Warning HeartbeatLost <AgentReady: silent>', 'Warning HeartbeatLost <Available: silent>']);
  const good = writer('2026-11-30T12:00:00Z');
  await writeStatus(good.made, second, { verdicts: well, facts: undefined, heartbeat });
  expect(good.told).toEqual(['Normal Heartbeat <AgentReady: Heartbeat>', 'Normal Available <Available>']);
});

it('has nothing to say of a host that is gone', async () => {
  const gone = statusError({ what: 'apply bkehosts h1', status: 404, body: '' });
  const { made, told } = writer('2026-11-30T10:00:00Z', () => Promise.reject(gone));
  expect(await writeStatus(made, host, { verdicts: well, facts: undefined, heartbeat })).toBe(host);
  expect(told).toEqual([]);
});
