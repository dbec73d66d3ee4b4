// Why something is not ready, from statuses as Kubernetes writes them.
import { describe, expect, it } from 'vitest';
import type { KubeObject, ListOptions, ResourceKind } from '../../../src/kube/client.ts';
import { appliedTrouble, daemonSetTrouble, deploymentTrouble, nodeTrouble } from '../../../src/kube/readiness.ts';
import { BkeError } from '../../../src/lib/errors.ts';

interface World {
  readonly object?: KubeObject;
  readonly pods?: readonly KubeObject[];
  readonly events?: readonly object[];
  readonly log?: string;
  /** Told what was listed. */
  readonly onList?: (kind: string, options: ListOptions) => void;
}

/** A cluster with one object, its pods and their events. */
function world({ object, pods = [], events = [], log, onList }: World) {
  return {
    get: async () => object,
    list: async ({ kind }: ResourceKind, options: ListOptions = {}) => {
      onList?.(kind, options);
      const items = kind === 'Pod' ? pods : events.map((event) => ({ ...named('Event', 'e'), ...event }));
      return { items, resourceVersion: '1' };
    },
    request: async () => {
      if (log === undefined) throw new BkeError('BKE_KUBE_FAILED', 'no kubelet');
      return log;
    },
  };
}

const named = (kind: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { namespace: 'ns', name },
});
const place = { namespace: 'ns', name: 'web' };

function deployment(status: object, replicas = 1): KubeObject {
  return {
    ...named('Deployment', 'web'),
    metadata: { namespace: 'ns', name: 'web', generation: 2 },
    spec: {
      replicas,
      selector: {
        matchLabels: { app: 'web' },
        matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }],
      },
    },
    status: { observedGeneration: 2, ...status },
  };
}

function pod(name: string, status: object, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'ns', name, ...metadata }, status };
}

const container = (state: object, more: object = {}): object => ({
  containerStatuses: [{ name: 'main', ready: false, state, ...more }],
});
const none = deployment({ replicas: 1, updatedReplicas: 1 });
const troubleOf = (found: World): Promise<string | undefined> =>
  deploymentTrouble(world({ object: none, ...found }), place);

describe('deploymentTrouble', () => {
  it('finds none where all is rolled out', async () => {
    const object = deployment({ replicas: 1, updatedReplicas: 1, availableReplicas: 1 });
    expect(await troubleOf({ object })).toBeUndefined();
  });

  it.each<[string, KubeObject, string]>([
    ['none are wanted', deployment({}, 0), 'somebody scaled it down to 0'],
    [
      'its controller has not seen it',
      deployment({ observedGeneration: 1, availableReplicas: 1 }),
      'its controller has not taken it up yet',
    ],
    ['some are missing', deployment({ replicas: 3, updatedReplicas: 3, availableReplicas: 2 }, 3), '2 of 3 ready'],
    ['only old ones are there', deployment({ replicas: 1, availableReplicas: 1 }), '0 of 1 replaced by the new form'],
    [
      'an old one is the one that is ready',
      deployment({ replicas: 2, updatedReplicas: 1, availableReplicas: 1 }),
      '1 of the old form still there',
    ],
    [
      'no pod can be made',
      deployment({
        conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }],
      }),
      '0 of 1 ready; FailedCreate: exceeded quota',
    ],
    [
      'it took too long',
      deployment({
        conditions: [
          { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'timed out' },
        ],
      }),
      '0 of 1 ready; ProgressDeadlineExceeded: timed out',
    ],
  ])('says when %s', async (_, object, words) => {
    expect(await troubleOf({ object })).toBe(words);
  });

  it('says that it is not there', async () => {
    expect(await deploymentTrouble(world({}), place)).toBe('there is no Deployment ns/web');
  });

  it.each<[string, object, string]>([
    [
      'no node takes it',
      {
        conditions: [
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes are available' },
        ],
      },
      'Unschedulable: 0/1 nodes are available',
    ],
    [
      'its image cannot be pulled',
      container({ waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "x"' } }),
      'ImagePullBackOff: Back-off pulling image "x"',
    ],
    [
      'it crashes with last words',
      container(
        { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' } },
        { lastState: { terminated: { exitCode: 1, reason: 'Error', message: 'no such flag\n' } } },
      ),
      'container main: CrashLoopBackOff, last exit code 1: no such flag',
    ],
    [
      'it ran out of memory',
      container({ terminated: { exitCode: 137, reason: 'OOMKilled' } }),
      'container main: Error (OOMKilled), last exit code 137',
    ],
    [
      'an init container is in the way',
      {
        initContainerStatuses: [{ name: 'init', state: { waiting: { reason: 'ErrImagePull', message: 'not found' } } }],
        ...container({ waiting: { reason: 'PodInitializing' } }),
      },
      'ErrImagePull: not found',
    ],
    ['it was evicted', { phase: 'Failed', reason: 'Evicted', message: 'low on memory' }, 'Evicted: low on memory'],
    ['it runs and is not ready', container({ running: {} }), 'container main runs and is not ready'],
    ['nothing is known yet', {}, 'it is being started'],
  ])('says when %s', async (_, status, words) => {
    expect(await troubleOf({ pods: [pod('web-1', status)] })).toBe(`0 of 1 ready; pod web-1: ${words}`);
  });

  it('takes what its events say where no container has anything to say', async () => {
    const events = [
      { reason: 'FailedMount', message: 'old', lastTimestamp: '2026-01-01T00:00:00Z' },
      { reason: 'FailedCreatePodSandBox', message: 'no network', lastTimestamp: '2026-01-01T00:01:00Z' },
    ];
    const pods = [pod('web-1', container({ waiting: { reason: 'ContainerCreating' } }))];
    expect(await troubleOf({ pods, events })).toBe('0 of 1 ready; pod web-1: FailedCreatePodSandBox: no network');
    expect(await troubleOf({ pods })).toBe('0 of 1 ready; pod web-1: ContainerCreating');
  });

  it('takes the last line of the log where a crash left no words', async () => {
    const crash = container(
      { waiting: { reason: 'CrashLoopBackOff' } },
      { lastState: { terminated: { exitCode: 2, reason: 'Error' } } },
    );
    const pods = [pod('web-1', crash)];
    const words = '0 of 1 ready; pod web-1: container main: CrashLoopBackOff, last exit code 2';
    expect(await troubleOf({ pods, log: 'starting\n\u001B[31mpanic: no config\n' })).toBe(`${words}: panic: no config`);
    expect(await troubleOf({ pods })).toBe(words);
  });

  it('tells of the newest pod that is in trouble, and asks for its own pods only', async () => {
    const failing = container({ waiting: { reason: 'ErrImagePull', message: 'not found' } });
    const pods = [
      pod('old', failing, { creationTimestamp: '2026-01-01T00:00:00Z' }),
      pod('new', failing, { creationTimestamp: '2026-01-02T00:00:00Z' }),
      pod('fine', { conditions: [{ type: 'Ready', status: 'True' }] }, { creationTimestamp: '2026-01-03T00:00:00Z' }),
    ];
    const asked: unknown[] = [];
    const trouble = await troubleOf({ pods, onList: (kind, options) => asked.push({ kind, ...options }) });
    expect(trouble).toBe('0 of 1 ready; pod new: ErrImagePull: not found');
    expect(asked).toEqual([{ kind: 'Pod', namespace: 'ns', labelSelector: 'app=web,tier in (a,b)' }]);
  });
});

describe('daemonSetTrouble', () => {
  const daemonSet = (status: object): KubeObject => ({
    ...named('DaemonSet', 'web'),
    status: { observedGeneration: 1, ...status },
  });

  it('wants a pod on each node that should have one', async () => {
    const half = daemonSet({ desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 });
    expect(await daemonSetTrouble(world({ object: half }), place)).toBe('1 of 2 ready');
    const full = daemonSet({ desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 });
    expect(await daemonSetTrouble(world({ object: full }), place)).toBeUndefined();
    expect(await daemonSetTrouble(world({}), place)).toBe('there is no DaemonSet ns/web');
  });
});

describe('appliedTrouble', () => {
  const statefulSet = (spec: object, status: object): KubeObject => ({
    ...named('StatefulSet', 'web'),
    spec,
    status: { observedGeneration: 1, ...status },
  });

  it('names the first that does not run, and leaves out what is not meant to', async () => {
    const objects = [named('ConfigMap', 'web'), { ...named('Deployment', 'off'), spec: { replicas: 0 } }, none];
    expect(await appliedTrouble(world({ object: none }), objects)).toBe('Deployment ns/web: 0 of 1 ready');
    expect(await appliedTrouble(world({ object: none }), objects.slice(0, 2))).toBeUndefined();
  });

  it('wants all pods of a StatefulSet in its newest form, but where older ones may stay', async () => {
    const older = { updatedReplicas: 0, availableReplicas: 2 };
    const now = async (object: KubeObject): Promise<string | undefined> => appliedTrouble(world({ object }), [object]);
    expect(await now(statefulSet({ replicas: 2 }, older))).toBe('StatefulSet ns/web: 0 of 2 replaced by the new form');
    expect(await now(statefulSet({ replicas: 2, updateStrategy: { type: 'OnDelete' } }, older))).toBeUndefined();
    const held = { replicas: 2, updateStrategy: { rollingUpdate: { partition: 2 } } };
    expect(await now(statefulSet(held, older))).toBeUndefined();
    expect(await now(statefulSet(held, { ...older, availableReplicas: 1 }))).toBe('StatefulSet ns/web: 1 of 2 ready');
  });
});

describe('appliedTrouble of a Job', () => {
  const job = (spec: object, status: object = {}): KubeObject => ({ ...named('Job', 'web'), spec, status });
  const ended = (type: string, message = ''): object => ({
    conditions: [{ type, status: 'True', reason: 'R', message }],
  });
  const of = async (applied: KubeObject, found: World): Promise<string | undefined> =>
    appliedTrouble(world(found), [applied]);

  it('waits until it has done its work, and tells why it failed or does not go on', async () => {
    const applied = job({ completions: 2 });
    expect(await of(applied, { object: job({ completions: 2 }, ended('Complete')) })).toBeUndefined();
    const failed = job({ completions: 2 }, ended('Failed', 'Job has reached the specified backoff limit'));
    expect(await of(applied, { object: failed })).toBe(
      'Job ns/web: it failed: R: Job has reached the specified backoff limit',
    );
    const waits = pod('web-1', container({ waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }));
    const at = job({ completions: 2 }, { succeeded: 1 });
    expect(await of(applied, { object: at })).toBe('Job ns/web: 1 of 2 completed');
    const why = await of(applied, { object: at, pods: [waits] });
    expect(why).toMatch(/^Job ns\/web: 1 of 2 completed; pod web-1: .*no such image/);
  });

  it('counts one that vanished as it was told to, and one that somebody suspended', async () => {
    expect(await of(job({}), {})).toBe('Job ns/web: there is no Job ns/web');
    expect(await of(job({ ttlSecondsAfterFinished: 60 }), {})).toBeUndefined();
    expect(await of(job({ suspend: true }), {})).toBeUndefined();
  });
});

describe('nodeTrouble', () => {
  const node = (...conditions: object[]): KubeObject => ({ ...named('Node', 'n1'), status: { conditions } });

  it('takes the words of the kubelet', () => {
    const message = 'container runtime network not ready: cni plugin not initialized';
    const notReady = node({ type: 'Ready', status: 'False', reason: 'KubeletNotReady', message });
    expect(nodeTrouble(notReady)).toBe(`KubeletNotReady: ${message}`);
    expect(nodeTrouble(node({ type: 'Ready', status: 'True' }))).toBeUndefined();
    expect(nodeTrouble(node())).toBe('its kubelet has not said how it is yet');
  });
});
