// When an order that failed is given again: after its pause, or at once where somebody has asked anew.
import { expect, it } from 'vitest';
import { annotations } from '../../../../src/controllers/bkehost/host.ts';
import { newCommandID, type Order, readCommandID } from '../../../../src/controllers/host-command/command-id.ts';
import { fulfil } from '../../../../src/controllers/host-command/give.ts';
import { Retries } from '../../../../src/controllers/host-command/retries.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { textAt } from '../../../../src/kube/fields.ts';

const order: Order = { purpose: 'prepare', claim: 'c1', steps: [{ id: 'a', task: 'ping' }] };
const host = { namespace: 'bke', name: 'w1' };

function failedSite() {
  const object = (kind: string, rest: object): KubeObject => ({
    apiVersion: 'bke.io/v1alpha1',
    kind,
    metadata: { ...host },
    ...rest,
  });
  const commandID = newCommandID(order, 1);
  const step = { id: 'a', state: 'Failed', attempt: 1, error: { code: 'BKE_DISK_FULL', message: 'no room' } };
  const objects = {
    HostCommand: object('HostCommand', {
      spec: { commandID, leaseGeneration: 1, steps: order.steps },
      status: { commandID, steps: [step] },
    }),
    BKEHost: object('BKEHost', {}),
  };
  const given: object[] = [];
  const client = {
    get: async ({ kind }: { readonly kind: string }) => (kind === 'BKEHost' ? objects.BKEHost : objects.HostCommand),
    patch: async (_key: object, patch: object) => {
      given.push(patch);
      return objects.HostCommand;
    },
  };
  const giving = { client, host, leaseGeneration: 1, retries: new Retries(() => 0) };
  return {
    given,
    fulfil: () => fulfil(giving, order),
    ask: (kind: keyof typeof objects, name: string) =>
      Object.assign(objects[kind].metadata, { annotations: { [annotations.asked]: name } }),
  };
}

it('waits with what failed', async () => {
  const site = failedSite();
  const { progress, waitMs } = await site.fulfil();
  expect([progress.state, site.given]).toEqual(['failed', []]);
  expect(waitMs).toBeGreaterThan(1000);
});

it('does not wait where somebody asked since, and says for whom it is given', async () => {
  const site = failedSite();
  site.ask('BKEHost', 'create-2');
  site.ask('HostCommand', 'create-1');
  expect((await site.fulfil()).progress.state).toBe('failed');
  expect(site.given).toMatchObject([{ metadata: { annotations: { [annotations.asked]: 'create-2' } } }]);
  expect(readCommandID(textAt(site.given[0], 'spec', 'commandID') ?? '')).toMatchObject({ attempt: 2 });
});

it('waits again with what failed for the same person', async () => {
  const site = failedSite();
  site.ask('BKEHost', 'create-2');
  site.ask('HostCommand', 'create-2');
  await site.fulfil();
  expect(site.given).toEqual([]);
});
