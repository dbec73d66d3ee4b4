// Heartbeats by this process' own clock: what the host's clock says does not matter.
import { expect, it } from 'vitest';
import { Heartbeats } from '../../../../src/controllers/bkehost/heartbeats.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';

function lease(renewTime?: string, version = '0.1.0'): KubeObject {
  const metadata = { namespace: 'bke', name: 'agent-h1', annotations: { 'bke.io/agent-version': version } };
  const spec = renewTime === undefined ? {} : { renewTime };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}

it('takes a heartbeat for fresh once it was seen to change, however wrong the clock of the host is', () => {
  let time = 0;
  const heartbeats = new Heartbeats(() => time);
  expect(heartbeats.of('bke/h1').state).toBe('none');
  expect(heartbeats.observe('bke/h1', lease())).toBe(true);
  expect(heartbeats.of('bke/h1').state).toBe('none');
  expect(heartbeats.observe('bke/h1', lease('1999-01-01T00:00:00.000000Z'))).toBe(true);
  expect(heartbeats.of('bke/h1')).toMatchObject({ state: 'fresh', version: '0.1.0', leftMs: 40_000 });
  time = 39_000;
  expect(heartbeats.of('bke/h1')).toMatchObject({ state: 'fresh', leftMs: 1000 });
  time = 40_001;
  expect(heartbeats.of('bke/h1')).toMatchObject({ state: 'lost', silentMs: 40_001 });
  expect(heartbeats.observe('bke/h1', lease('1999-01-01T00:00:10.000000Z'))).toBe(true);
  expect(heartbeats.of('bke/h1').state).toBe('fresh');
});

it('says nothing of a heartbeat from before it looked, until it changes or is too old', () => {
  let time = 0;
  const heartbeats = new Heartbeats(() => time);
  heartbeats.observe('bke/h1', lease('2030-01-01T00:00:00.000000Z'));
  expect(heartbeats.of('bke/h1').state).toBe('unproven');
  // The same lease again, with another version of the object: no sign of life.
  expect(heartbeats.observe('bke/h1', lease('2030-01-01T00:00:00.000000Z'))).toBe(false);
  time = 40_001;
  expect(heartbeats.of('bke/h1').state).toBe('lost');
});

it('tells a change only where the state or the version is another one', () => {
  const heartbeats = new Heartbeats(() => 0);
  heartbeats.observe('bke/h1', lease('a'));
  expect(heartbeats.observe('bke/h1', lease('b'))).toBe(true);
  expect(heartbeats.observe('bke/h1', lease('c'))).toBe(false);
  expect(heartbeats.observe('bke/h1', lease('d', '0.2.0'))).toBe(true);
});
