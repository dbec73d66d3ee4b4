// Somebody else writes between a look and the write that follows from it: what they wrote stays, and it is decided again.
import { beforeEach, describe, expect, it } from 'vitest';
import { claimHost, markClean, markUnclean, releaseHost } from '../../../src/controllers/bkemachine/claim.ts';
import { resetOrder } from '../../../src/controllers/host-command/bootstrap.ts';
import { fulfil, type Giving, stopCommand } from '../../../src/controllers/host-command/give.ts';
import { Retries } from '../../../src/controllers/host-command/retries.ts';
import type { KubeClient, KubeObject } from '../../../src/kube/client.ts';
import { fieldAt, textAt } from '../../../src/kube/fields.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { putHost } from '../../fakes/fleet.ts';
import { FakeCluster } from '../../fakes/kube-client.ts';

const bke = { apiVersion: 'bke.io/v1alpha1', namespace: 'bke' };
const hostKey = { ...bke, kind: 'BKEHost', name: 'w1' };
const commandKey = { ...bke, kind: 'HostCommand', name: 'w1' };
const host = { namespace: 'bke', name: 'w1' };

let cluster: FakeCluster;
beforeEach(() => {
  cluster = new FakeCluster();
  putHost(cluster, 'w1', '10.0.0.21', 'worker');
});

async function read(key: typeof hostKey): Promise<KubeObject> {
  const found = await cluster.get(key);
  if (found === undefined) throw new Error('it is not there');
  return found;
}

/** Each write of the host, as it is decided on a host that was read before. @returns whether it was done */
const writers: Readonly<Record<string, (client: Pick<KubeClient, 'patch'>, seen: KubeObject) => Promise<boolean>>> = {
  claim: async (client, seen) => (await claimHost(client, seen, claimant)) !== undefined,
  'mark as not clean': async (client, seen) => (await markUnclean(client, seen)) !== undefined,
  'mark as clean': (client, seen) => markClean(client, seen, 'aaaaaaaaaa'),
  release: (client, seen) => releaseHost(client, seen),
  quarantine: (client, seen) => releaseHost(client, seen, { reason: 'not cleaned', since: '2026-11-30T10:00:00Z' }),
};
const claimant = { namespace: 'bke', name: 'm1', cluster: 'prod', machine: 'm1' };

describe.each(Object.entries(writers))('%s', (_, write) => {
  it('is not done to a host that another machine has got since, and is once it is read again', async () => {
    const seen = await read(hostKey);
    const theirs = { consumerRef: { namespace: 'bke', name: 'other' }, claimID: 'bbbbbbbbbb', cleanUpPending: true };
    for (const time of [1, 2]) {
      await cluster.patch(hostKey, { metadata: { labels: { time: String(time) } }, spec: theirs });
      expect(await write(cluster, seen)).toBe(false);
      expect(fieldAt(await read(hostKey), 'spec')).toMatchObject(theirs);
    }
    expect(await write(cluster, await read(hostKey))).toBe(true);
  });
});

it('is no conflict that the API server refuses to have a host marked or released: that is thrown', async () => {
  const seen = await read(hostKey);
  const refusing: Pick<KubeClient, 'patch'> = {
    patch: async () => {
      throw new BkeError('BKE_KUBE_REFUSED', 'a policy denied the request');
    },
  };
  for (const name of ['mark as not clean', 'mark as clean', 'release', 'quarantine'])
    await expect(writers[name]?.(refusing, seen), name).rejects.toMatchObject({ code: 'BKE_KUBE_REFUSED' });
  // Of a claim it means that the next host is tried.
  expect(await writers['claim']?.(refusing, seen)).toBe(false);
});

describe('a command', () => {
  const giving = (client: Giving['client'], leaseGeneration = 1): Giving => ({
    client,
    host,
    leaseGeneration,
    retries: new Retries(),
  });
  /** Somebody writes right after it was read, so often. */
  function interfered(times: number, change: object): Giving['client'] {
    let left = times;
    return {
      get: async (key) => {
        const found = await cluster.get(key);
        if (key.kind === 'HostCommand' && left > 0) {
          left -= 1;
          await cluster.patch(commandKey, change);
        }
        return found;
      },
      patch: (key, patch) => cluster.patch(key, patch),
    };
  }

  it('is given in the third try where two come in between, on what they wrote', async () => {
    const client = interfered(2, { metadata: { annotations: { theirs: 'stays' } } });
    const results = [];
    for (let time = 0; time < 3; time += 1) results.push(await fulfil(giving(client), resetOrder('aaaaaaaaaa')));
    expect(results.map(({ waitMs }) => waitMs)).toEqual([500, 500, undefined]);
    const command = await read(commandKey);
    expect(textAt(command, 'spec', 'commandID')).toMatch(/^reset-/);
    expect(command.metadata.annotations).toMatchObject({ theirs: 'stays' });
  });

  it('is not given over one that another writer gave meanwhile', async () => {
    const theirs = { commandID: 'ping-1', leaseGeneration: 1, steps: [{ id: 'ping', task: 'ping' }] };
    const client = interfered(1, { spec: theirs });
    const order = resetOrder('aaaaaaaaaa');
    expect((await fulfil(giving(client), order)).waitMs).toBe(500);
    // Decided again: the host is busy now.
    expect((await fulfil(giving(client), order)).progress).toEqual({ state: 'busy', commandID: 'ping-1' });
    expect(fieldAt(await read(commandKey), 'spec')).toMatchObject(theirs);
  });

  it('is never given by a leader of before: a later one has written', async () => {
    await cluster.patch(commandKey, { spec: { leaseGeneration: 5 } });
    const stale = fulfil(giving(cluster, 4), resetOrder('aaaaaaaaaa'));
    await expect(stale).rejects.toMatchObject({ code: 'BKE_KUBE_CONFLICT', message: expect.stringContaining('5') });
    expect(textAt(await read(commandKey), 'spec', 'commandID')).toBe('none-yet');
  });

  it('is not cancelled where another one stands there by now', async () => {
    const running = { commandID: 'ping-1', steps: [{ id: 'ping', task: 'ping' }] };
    await cluster.patch(commandKey, { spec: running });
    const client = interfered(1, { spec: { ...running, commandID: 'ping-2' } });
    expect(await stopCommand(client, host, () => false)).toBe(false);
    expect(fieldAt(await read(commandKey), 'spec', 'cancelRequested')).toBeUndefined();
    expect(await stopCommand(client, host, () => false)).toBe(false);
    expect(fieldAt(await read(commandKey), 'spec', 'cancelRequested')).toBe(true);
  });
});
