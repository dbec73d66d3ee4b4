// What goes wrong with hosts while a cluster is made, as its operation tells it: when it is told, in what words, and what goes on all the same.
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../../../src/api/events.ts';
import { annotations } from '../../../../src/controllers/bkehost/host.ts';
import { newCommandID, type Order } from '../../../../src/controllers/host-command/command-id.ts';
import { available, ClusterSite, resources } from '../../../fakes/cluster-site.ts';

type Failure = Extract<EventBody, { type: 'step.failed' }>;

const order: Order = { purpose: 'prepare', claim: '', steps: [{ id: 'images', task: 'node/images' }] };
const before = '2026-11-30T09:00:00Z';

class Site extends ClusterSite {
  #at = 0;

  constructor() {
    super();
    resources(this);
    this.put('deployment', 'prod-workers', { spec: { replicas: 2 } });
    this.host('cp1', 'control-plane', available);
    this.command('cp1', { state: 'Running' });
    this.carryOn(0);
  }

  /** Conditions of a worker, the first of them Available. */
  worker(...conditions: readonly object[]): void {
    const labels = { 'bke.io/cluster': 'prod', 'bke.io/pool': 'workers' };
    const all = conditions.map((condition) => ({
      lastTransitionTime: '2026-11-30T10:00:01Z',
      message: '',
      ...condition,
    }));
    this.put('host', 'w1', { labels, spec: {}, status: { conditions: all } });
  }

  command(host: string, step: object, given: { readonly attempt?: number; readonly asked?: string } = {}): void {
    const { attempt = 1, asked = this.asking.name } = given;
    const commandID = newCommandID(order, attempt);
    const status = { commandID, steps: [{ id: 'images', ...step }] };
    this.put('command', host, { spec: { commandID, steps: order.steps }, status });
    const object = this.objects.get(`command ${host}`);
    if (object !== undefined) Object.assign(object.metadata, { annotations: { [annotations.asked]: asked } });
  }

  /** Goes on second by second. @returns after how many the worker's step has failed; undefined: not by then */
  failsBy(seconds: number): { readonly seconds: number; readonly error: Failure['error'] } | undefined {
    const began = this.#at;
    for (; this.#at < began + seconds; this.#at += 1) {
      const told = this.carryOn(this.#at);
      const failure = told.find((event): event is Failure => event.type === 'step.failed' && event.error.host === 'w1');
      if (failure !== undefined) return { seconds: this.#at - began, error: failure.error };
    }
    return undefined;
  }
}

const refused = (code: string) => ({
  type: 'Available',
  status: 'False',
  reason: 'Whatever',
  message: `${code}: cannot log in to w1\nlast line of the log\nDo this.`,
});
const silent = [
  { type: 'Available', status: 'False', reason: 'HeartbeatLost', message: 'none came for more than 40 s' },
  { type: 'AgentReady', status: 'False', reason: 'HeartbeatLost', message: 'none came for more than 40 s' },
  { type: 'Reachable', status: 'False', reason: 'Unreachable', message: 'BKE_SSH_UNREACHABLE: cannot reach w1' },
];

describe('a host', () => {
  it.each(['BKE_SSH_AUTH', 'BKE_HOST_KEY_CHANGED', 'BKE_SUDO_DENIED'])('fails at once with %s', (code) => {
    const site = new Site();
    site.worker(refused(code));
    expect(site.failsBy(60)).toEqual({
      seconds: 0,
      error: { code, host: 'w1', message: 'cannot log in to w1', details: ['last line of the log'], hint: 'Do this.' },
    });
    expect(site.status.phase).toBe('Running');
  });

  it.each(['BKE_SSH_UNREACHABLE', 'BKE_AGENT_INSTALL', 'BKE_SITE_UNKNOWN'])('gets a while to heal from %s', (code) => {
    const site = new Site();
    site.worker(refused(code));
    expect(site.failsBy(60)).toMatchObject({ seconds: 30, error: { code } });
  });

  it('that heals meanwhile has not failed, and gets as long the next time', () => {
    const site = new Site();
    site.worker(refused('BKE_SSH_UNREACHABLE'));
    expect(site.failsBy(20)).toBeUndefined();
    site.worker({ type: 'Available', status: 'False', reason: 'Enrolling', message: 'looking at the host' });
    expect(site.failsBy(5)).toBeUndefined();
    site.worker(refused('BKE_SSH_UNREACHABLE'));
    expect(site.failsBy(60)).toMatchObject({ seconds: 30 });
  });

  it('of which this was known before somebody asked again is looked at anew first', () => {
    const site = new Site();
    site.worker({ ...refused('BKE_SSH_AUTH'), lastTransitionTime: before });
    expect(site.failsBy(60)).toMatchObject({ seconds: 30, error: { code: 'BKE_SSH_AUTH' } });
  });

  it('whose checks fail has one line for each problem, and no line end in a message', () => {
    const site = new Site();
    const message = 'ports: port 10250 is in use by socat (Stop it.)\ndisk-space: /var/lib/containerd has 1 GiB free';
    site.worker(
      { type: 'Available', status: 'False', reason: 'NotEnrolled', message: 'not before its checks pass' },
      { type: 'Preflight', status: 'False', reason: 'ChecksFailed', message },
    );
    const { seconds, error } = site.failsBy(60) ?? {};
    expect(seconds).toBe(0);
    expect(error).toMatchObject({
      code: 'BKE_PREFLIGHT_FAILED',
      message: '2 problems found before anything was changed',
      details: message.split('\n'),
    });
    const notes = (site.status.events ?? []).flatMap(({ type, data }) => (type === 'note' ? [data] : []));
    expect(notes).toEqual(message.split('\n').map((line) => ({ level: 'warning', host: 'w1', message: line })));
  });

  it('whose agent is silent while something is done there says so, with why it cannot be reached', () => {
    const site = new Site();
    site.command('w1', { state: 'Running' });
    site.worker(...silent);
    expect(site.failsBy(60)).toMatchObject({
      seconds: 10,
      error: {
        code: 'BKE_AGENT_SILENT',
        details: ['Reachable: Unreachable: BKE_SSH_UNREACHABLE: cannot reach w1'],
      },
    });
  });

  it('that waits for a machine is not waited for when it is gone', () => {
    const site = new Site();
    site.worker(...silent);
    site.command('w1', { state: 'Done' });
    expect(site.failsBy(60)).toMatchObject({ seconds: 10, error: { code: 'BKE_AGENT_SILENT' } });
  });
});

describe('a step of an agent', () => {
  const failed = (code: string) => ({
    state: 'Failed',
    error: { code, message: 'it failed\nlast line', hint: 'Do this.' },
  });

  it.each(['BKE_DISK_FULL', 'BKE_DIGEST_MISMATCH', 'BKE_PREFLIGHT_FAILED'])('fails at once with %s', (code) => {
    const site = new Site();
    site.worker({ ...available, type: 'Available' });
    site.command('w1', failed(code));
    expect(site.failsBy(60)).toEqual({
      seconds: 0,
      error: { code, host: 'w1', message: 'it failed', details: ['last line'], hint: 'Do this.' },
    });
  });

  it('is tried again where that may help, and the tries together get no longer than one', () => {
    const site = new Site();
    site.worker({ ...available, type: 'Available' });
    site.command('w1', failed('BKE_PULL_FAILED'));
    expect(site.failsBy(10)).toBeUndefined();
    site.command('w1', { state: 'Running' }, { attempt: 2 });
    expect(site.failsBy(15)).toBeUndefined();
    site.command('w1', failed('BKE_PULL_FAILED'), { attempt: 2 });
    expect(site.failsBy(60)).toMatchObject({ seconds: 5, error: { code: 'BKE_PULL_FAILED' } });
  });

  it('that failed before somebody asked again is tried again first', () => {
    const site = new Site();
    site.worker({ ...available, type: 'Available' });
    site.command('w1', failed('BKE_DISK_FULL'), { asked: 'create-0' });
    expect(site.failsBy(29)).toBeUndefined();
    site.command('w1', { state: 'Done' });
    expect(site.failsBy(60)).toBeUndefined();
  });
});

it('lets the others go on, and ends when nothing but the failure is left', () => {
  const site = new Site();
  site.worker(refused('BKE_SSH_AUTH'));
  site.command('cp1', { state: 'Failed', error: { code: 'BKE_DISK_FULL', message: 'no room' } });
  expect(site.failsBy(2)).toMatchObject({ seconds: 0 });
  site.failsBy(2);
  expect(site.status.phase).toBe('Failed');
  expect(site.status.hosts?.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'cluster/prod Stopped',
    'cp1 Failed',
    'w1 Failed',
  ]);
});

it('does not wait for hosts where the site lacks what the first one is made of', () => {
  const site = new Site();
  site.objects.delete('command cp1');
  site.worker({ ...available, type: 'Available' });
  const lacks = { type: 'FirstHostPrepared', status: 'False', reason: 'ArtifactsMissing', message: 'cp1: no kubeadm' };
  site.put('bkeCluster', 'prod', { spec: { cni: 'flannel' }, status: { conditions: [lacks] } });
  site.failsBy(30);
  expect(site.status).toMatchObject({
    phase: 'Failed',
    error: { code: 'BKE_ARTIFACT_MISSING', message: 'cp1: no kubeadm' },
  });
});

describe('a node that was there', () => {
  const told = '2026-11-30T10:00:01Z';
  const joined = (): Site => {
    const site = new Site();
    site.put('cluster', 'prod', {
      spec: { infrastructureRef: { name: 'prod' }, controlPlaneRef: { name: 'prod-cp' } },
      status: { initialization: { controlPlaneInitialized: true } },
    });
    site.put('bkeCluster', 'prod', {
      spec: { cni: 'flannel' },
      status: { initialization: { provisioned: true }, addons: [{ name: 'flannel', phase: 'Applied' }] },
    });
    for (const name of ['cp1', 'w1']) {
      site.claim(name, name === 'cp1' ? 'control-plane' : 'workers', []);
      site.node(name, name === 'cp1');
    }
    return site;
  };
  const agentOf = (site: Site, condition: object): void => {
    const labels = { 'bke.io/cluster': 'prod', 'bke.io/pool': 'workers' };
    const conditions = [{ type: 'AgentReady', status: 'False', lastTransitionTime: told, ...condition }];
    site.put('host', 'w1', {
      labels,
      spec: { consumerRef: { namespace: 'bke', name: 'm-w1' } },
      status: { conditions },
    });
  };

  it('and whose host was reset by hand is named, since when, and what to do', () => {
    const site = joined();
    agentOf(site, { reason: 'HostReset', message: 'its agent is not installed on it any more' });
    expect(site.failsBy(60)).toEqual({
      seconds: 0,
      error: {
        code: 'BKE_HOST_RESET',
        host: 'w1',
        message: `the host was reset: its agent is silent since ${told} and not installed there any more (bke reset --all was run, or the system is a new one)`,
        hint: "The node that it was does not come back. Delete its Machine ('kubectl -n bke get machines -o wide' shows which has node or host w1, 'kubectl -n bke delete machine NAME' deletes it): another one is made. Then run the same command again.",
      },
    });
  });

  it('and whose agent is silent is named before the add-on that waits for it', () => {
    const site = joined();
    site.failsBy(5);
    agentOf(site, { reason: 'HeartbeatLost', message: 'none came for more than 40 s' });
    const waits = (site.status.events ?? []).flatMap(({ type, data }) => (type === 'step.waiting' ? [data] : []));
    expect(waits.at(-1)).toMatchObject({
      for: 'the network of the nodes',
      cause: 'w1 is not ready: cni plugin not initialized',
    });
    expect(site.failsBy(60)).toEqual({
      seconds: 10,
      error: {
        code: 'BKE_AGENT_SILENT',
        host: 'w1',
        message: `the agent of w1 is silent since ${told}: none came for more than 40 s`,
        hint: 'Switch the host on or mend its network: its agent goes on by itself from where it was. Then run the same command again.',
      },
    });
  });

  it('and that was silent before somebody asked is looked at first', () => {
    const site = joined();
    const before = { lastTransitionTime: '2020-01-01T00:00:00Z' };
    agentOf(site, { reason: 'HeartbeatLost', message: 'none came for more than 40 s', ...before });
    expect(site.failsBy(60)).toMatchObject({ seconds: 30, error: { code: 'BKE_AGENT_SILENT', host: 'w1' } });
  });

  it('and that is well, but for its silent agent, is not called done', () => {
    const site = joined();
    for (const name of ['cp1', 'w1']) {
      const conditions = [{ type: 'NodeReady', status: 'True', reason: 'Ready', message: '' }];
      site.put('machine', `m-${name}`, {
        spec: { infrastructureRef: { name: `m-${name}` } },
        status: { nodeRef: { name }, conditions },
      });
    }
    site.put('bkeCluster', 'prod', {
      spec: { cni: 'flannel' },
      status: {
        initialization: { provisioned: true },
        addons: [{ name: 'flannel', phase: 'Ready' }],
        state: { name: 'Healthy' },
      },
    });
    agentOf(site, {
      reason: 'HeartbeatLost',
      message: 'none came for more than 40 s',
      lastTransitionTime: '2020-01-01T00:00:00Z',
    });
    expect(site.failsBy(60)).toMatchObject({ seconds: 30, error: { code: 'BKE_AGENT_SILENT', host: 'w1' } });
    site.failsBy(5);
    expect(site.status.phase).toBe('Failed');
  });

  it('and whose kubelet tells nothing any more is named, with the command that shows why', () => {
    const site = joined();
    site.put('machine', 'm-w1', {
      spec: { infrastructureRef: { name: 'm-w1' } },
      status: {
        nodeRef: { name: 'w1' },
        conditions: [
          {
            type: 'NodeReady',
            status: 'Unknown',
            reason: 'NodeStatusUnknown',
            message: 'Kubelet stopped posting node status.',
            lastTransitionTime: told,
          },
        ],
      },
    });
    expect(site.failsBy(60)).toBeUndefined();
    const waits = (site.status.events ?? []).flatMap(({ type, data }) => (type === 'step.waiting' ? [data] : []));
    expect(waits.at(-1)).toMatchObject({
      for: 'the network of the nodes',
      cause: `w1 is not ready since ${told}: Kubelet stopped posting node status.`,
      next: 'bke host exec -f FILE --host w1 -- journalctl -n 20 -u kubelet',
    });
  });
});
