// The plan that is carried out against the one that was confirmed.
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { openLocalHost } from '../../../../src/host/local/local-host.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { throwIfMore } from '../../../../src/tasks/reset/compare-plans.ts';
import type { PlanItem, ResetPlan } from '../../../../src/tasks/reset/reset-plan.ts';

function planOf(...items: PlanItem[]): ResetPlan {
  const selection = {
    mountTops: [],
    keptMounts: new Set<string>(),
    units: [],
    paths: [],
    kubeconfigs: [],
    unrecorded: { byName: false, proofs: [], answered: [], hosts: [], user: undefined, unproven: [] },
    resources: [],
    coveredPaths: new Set<string>(),
  };
  return {
    items,
    kept: [],
    heldBack: [],
    refusals: [],
    otherMachine: false,
    damaged: [],
    standing: [],
    notes: [],
    selection,
  };
}

const data: PlanItem = { group: 'data', action: 'remove', what: '/var/lib/etcd/member', why: 'etcd data' };
const file: PlanItem = { group: 'record', action: 'remove', what: '/etc/kubernetes/admin.conf', why: 'credentials' };
const mount: PlanItem = { group: 'mounts', action: 'unmount', what: '/var/lib/kubelet/pods/u/v (nfs4 from nas:/data)' };
const recorded: PlanItem = { group: 'ledger', action: 'change', what: 'kernel value a back to 0' };

const refused = async (confirmed: ResetPlan, now: ResetPlan): Promise<BkeError> => {
  const host = await openLocalHost();
  try {
    throwIfMore(host, confirmed, now);
  } catch (thrown) {
    if (thrown instanceof BkeError) return thrown;
  }
  throw new Error('it was not refused');
};

it.each([
  ['data', data, 'remove /var/lib/etcd/member (etcd data)'],
  ['a file', file, 'remove /etc/kubernetes/admin.conf (credentials)'],
  ['a mount', mount, 'unmount /var/lib/kubelet/pods/u/v (nfs4 from nas:/data)'],
  ['a recorded change', recorded, 'change kernel value a back to 0'],
])('%s that came since is a conflict that shows it', async (_name, item, line) => {
  expect(await refused(planOf(), planOf(item))).toMatchObject({
    code: 'BKE_RESET_CHANGED',
    exitCode: 7,
    host: hostname(),
    message: '1 thing came since the plan was shown',
    details: [line],
  });
});

it('the same thing to be treated in another way is a conflict', async () => {
  expect((await refused(planOf(recorded), planOf({ ...recorded, action: 'remove' }))).details).toHaveLength(1);
});

it("less than was confirmed is none, nor is what comes and goes with Kubernetes' pods", async () => {
  const host = await openLocalHost();
  const now = planOf(
    mount,
    { group: 'mounts', action: 'unmount', what: '/run/netns/cni-1 (nsfs from nsfs)', passing: true },
    { group: 'pods', action: 'end', what: '1 process: app (7)' },
    { group: 'network', action: 'remove', what: 'link veth1' },
  );
  expect(() => throwIfMore(host, planOf(data, mount), now)).not.toThrow();
});
