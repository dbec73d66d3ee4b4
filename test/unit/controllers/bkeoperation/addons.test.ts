// Add-ons of a cluster that is made: its operation is not done without them, and says what is wrong with them.
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../../../src/api/events.ts';
import { ClusterSite, resources } from '../../../fakes/cluster-site.ts';

type Failure = Extract<EventBody, { type: 'step.failed' }>;

interface Said {
  readonly state?: object;
  readonly addons?: readonly object[];
  /** Since when they are not ready. */
  readonly since?: string;
}

const flannel = { name: 'flannel', phase: 'Ready' };
const missing = {
  code: 'BKE_ARTIFACT_MISSING',
  message: 'no loaded release has a manifest metrics-servr',
  hint: 'Load it.',
};
const later = '2026-11-30T10:00:05Z';

/** All of it is well but its add-ons. */
class Site extends ClusterSite {
  constructor(wanted: readonly object[]) {
    super();
    resources(this);
    this.put('cluster', 'prod', {
      spec: { infrastructureRef: { name: 'prod' }, controlPlaneRef: { name: 'prod-cp' } },
      status: { initialization: { controlPlaneInitialized: true } },
    });
    this.put('deployment', 'prod-workers', { spec: { replicas: 0 } });
    this.claim('cp1', 'control-plane', []);
    this.node('cp1', true);
    this.wanted = wanted;
  }

  readonly wanted: readonly object[];

  said({ state = { name: 'Abnormal', reason: 'AddonFailed' }, addons = [flannel], since = later }: Said): void {
    this.put('bkeCluster', 'prod', {
      spec: { cni: 'flannel', addons: this.wanted },
      status: {
        initialization: { provisioned: true },
        conditions: [
          { type: 'AddonsReady', status: 'False', reason: 'AddonFailed', message: '', lastTransitionTime: since },
        ],
        addons,
        state,
      },
    });
  }

  /** @returns after how many seconds a step has failed, and with what */
  failsBy(seconds: number): { readonly seconds: number; readonly error: Failure['error'] } | undefined {
    for (let at = 0; at <= seconds; at += 1) {
      const failure = this.carryOn(at).find((event): event is Failure => event.type === 'step.failed');
      if (failure !== undefined) return { seconds: at, error: failure.error };
    }
    return undefined;
  }

  waits(): string[] {
    const events = this.status.events ?? [];
    return events.flatMap(({ type, data }) => (type === 'step.waiting' ? [String(data?.['cause'])] : []));
  }
}

describe('an add-on', () => {
  it('that no release has fails the operation within a minute, with its own error', () => {
    const site = new Site([{ name: 'metrics-servr' }]);
    site.said({ addons: [flannel, { name: 'metrics-servr', phase: 'Failed', error: missing }] });
    expect(site.failsBy(60)).toEqual({
      seconds: 15,
      error: {
        code: 'BKE_ARTIFACT_MISSING',
        message: 'add-on metrics-servr: no loaded release has a manifest metrics-servr',
        hint: 'Load it.',
      },
    });
    expect(site.status).toMatchObject({ phase: 'Failed', error: { code: 'BKE_ARTIFACT_MISSING' } });
    expect(site.waits()).toContain(
      'error[BKE_ARTIFACT_MISSING] add-on metrics-servr: no loaded release has a manifest metrics-servr',
    );
  });

  it('that had failed before somebody asked is tried again first', () => {
    const site = new Site([{ name: 'apps' }]);
    const error = { code: 'BKE_KUBE_REFUSED', message: 'apply deployments apps: spec.selector is missing\nmore of it' };
    site.said({ addons: [flannel, { name: 'apps', phase: 'Failed', error }], since: '2026-11-30T09:00:00Z' });
    expect(site.failsBy(60)).toMatchObject({
      seconds: 30,
      error: {
        code: 'BKE_KUBE_REFUSED',
        message: 'add-on apps: apply deployments apps: spec.selector is missing',
        details: ['more of it'],
      },
    });
  });

  it('that fails with what heals gets as long as an API server that starts anew, and one that answers nothing is waited for', () => {
    const failed = (code: string): Site => {
      const site = new Site([{ name: 'apps' }]);
      site.said({ addons: [flannel, { name: 'apps', phase: 'Failed', error: { code, message: 'x' } }] });
      return site;
    };
    expect(failed('BKE_KUBE_FAILED').failsBy(300)).toMatchObject({ seconds: 120, error: { code: 'BKE_KUBE_FAILED' } });
    expect(failed('BKE_KUBE_UNREACHABLE').failsBy(300)).toBeUndefined();
  });

  it('whose pods are not ready is waited for with its cause, as long as the health of the cluster', () => {
    const site = new Site([{ name: 'apps' }]);
    const message = 'add-on apps is not ready: Deployment apps/web: 0 of 1 ready; pod web-x: CrashLoopBackOff';
    const state = { name: 'Abnormal', reason: 'NotReady', message };
    site.said({ state, addons: [flannel, { name: 'apps', phase: 'Applied', message }] });
    expect(site.failsBy(1700)).toBeUndefined();
    expect(site.waits()).toEqual([`Abnormal: NotReady: ${message}`]);
    expect(site.failsBy(1900)).toMatchObject({
      error: { code: 'BKE_TIMEOUT', message: expect.stringContaining('Deployment apps/web: 0 of 1 ready') },
    });
  });

  it('whose image no node gets has failed, once the kubelet has tried a few times', () => {
    const site = new Site([{ name: 'apps' }]);
    const message =
      'Deployment apps/web: 0 of 1 ready; pod web-x: ImagePullBackOff: nosuch.example/x:1: connection refused';
    site.said({ state: { name: 'Abnormal' }, addons: [flannel, { name: 'apps', phase: 'Applied', message }] });
    expect(site.failsBy(300)).toMatchObject({
      seconds: 120,
      error: { code: 'BKE_PULL_FAILED', message: `add-on apps is not ready: ${message}` },
    });
    expect(site.status.phase).toBe('Failed');
  });

  it.each<[string, readonly object[], string]>([
    ['was asked for just now', [flannel], 'add-on apps is not applied yet'],
    [
      'was asked for in another version just now',
      [flannel, { name: 'apps', version: 'v1', phase: 'Ready' }],
      'add-on apps v2 is not applied yet',
    ],
  ])('that %s is not there, whatever was said of the cluster before', (_, addons, cause) => {
    const site = new Site([{ name: 'apps', version: 'v2' }]);
    site.said({ state: { name: 'Healthy' }, addons });
    expect(site.failsBy(20)).toBeUndefined();
    expect(site.waits()).toEqual([cause]);
    site.said({ state: { name: 'Healthy' }, addons: [flannel, { name: 'apps', version: 'v2', phase: 'Ready' }] });
    site.carryOn(21);
    expect(site.status.phase).toBe('Done');
  });
});

it('fails within a minute where no release has the network', () => {
  const site = new Site([]);
  site.node('cp1', false);
  const error = { ...missing, message: 'no loaded release has a manifest flannel' };
  site.said({ addons: [{ name: 'flannel', phase: 'Failed', error }] });
  expect(site.failsBy(60)).toMatchObject({
    seconds: 15,
    error: { message: 'add-on flannel: no loaded release has a manifest flannel' },
  });
});
