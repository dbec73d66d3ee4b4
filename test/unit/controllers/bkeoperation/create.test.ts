// A cluster that is made, as its operation tells it: out of what is so in the cluster, moment by moment.
import { expect, it } from 'vitest';
import type { EventBody } from '../../../../src/api/events.ts';
import { matchEvent } from '../../../../src/cli/render/match.ts';
import { plainRenderer } from '../../../../src/cli/render/plain.ts';
import { ringEvents } from '../../../../src/commands/operation/ring-events.ts';
import { createFrame } from '../../../../src/controllers/bkeoperation/create.ts';
import { advance } from '../../../../src/controllers/bkeoperation/progress.ts';
import { withEvents } from '../../../../src/controllers/bkeoperation/ring.ts';
import { kinds } from '../../../../src/controllers/bkeoperation/world.ts';
import {
  available,
  began,
  ClusterSite,
  clusterName as name,
  enrolling,
  resources,
} from '../../../fakes/cluster-site.ts';

const at = ({ host, step }: { readonly host?: string; readonly step: string }): string =>
  host === undefined ? step : `${host} ${step}`;

function line(event: EventBody): string {
  const header = { seq: 1, time: '', operation: '' };
  return matchEvent<EventBody['type'], string>(
    { ...header, ...event },
    {
      'operation.started': ({ type }) => type,
      'phase.started': ({ type, phase }) => `${type} ${phase}`,
      'phase.finished': ({ type, phase, outcome }) => `${type} ${phase} ${outcome}`,
      'step.started': (told) => `${told.type} ${at(told)}`,
      'step.progress': ({ type }) => type,
      'step.waiting': (told) => `waiting ${at(told)}: ${told.for}: ${told.cause ?? ''}`,
      'step.planned': ({ type }) => type,
      'step.finished': (told) => `${told.type} ${at(told)}`,
      'step.failed': (told) => `failed ${at(told)}: ${told.error.code} ${told.error.message}`,
      note: ({ type }) => type,
      'operation.finished': ({ outcome, hosts }) =>
        `finished ${outcome}: ${hosts.map((one) => `${one.host ?? '-'} ${one.state}`).join(', ')}`,
    },
  );
}

class Site extends ClusterSite {
  /** A wait is told when it is longer than a moment. */
  told(seconds: number, cancelled = false): string[] {
    const later = cancelled ? [] : [seconds + 3];
    return [seconds, ...later].flatMap((at) => this.carryOn(at, cancelled)).map(line);
  }
}

it('tells a cluster from its hosts to its health, each thing once', () => {
  const site = new Site();
  expect(site.told(0)).toEqual([
    'operation.started',
    'phase.started infrastructure',
    'step.started cluster/resources',
    'waiting cluster/resources: the resources of the cluster: bke cluster create has not written the cluster, its infrastructure, its hosts: where it has ended, run it again',
  ]);
  resources(site);
  site.host('cp1', 'control-plane', enrolling);
  site.host('w1', 'workers', available);
  expect(site.told(20)).toEqual([
    'step.finished cluster/resources',
    'step.started cluster/infrastructure',
    'step.started cp1 host/agent',
    'step.started w1 host/agent',
    'step.finished w1 host/agent',
    'phase.started workers',
    'step.started w1 node/prepare',
    'waiting cluster/infrastructure: the infrastructure of the cluster: no host of the control plane is prepared yet',
    'waiting cp1 host/agent: the agent of cp1: bringing bke to the host',
    'waiting w1 node/prepare: a machine that takes w1: none was made yet',
  ]);
  expect(site.told(25)).toEqual([]);
  site.claim('cp1', 'control-plane', [
    { task: 'node/environment', state: 'Done' },
    { task: 'node/images', state: 'Running', message: 'pull pause' },
  ]);
  expect(site.told(60)).toEqual([
    'step.finished cp1 host/agent',
    'phase.started control-plane',
    'step.started cp1 node/prepare',
    'waiting cp1 node/prepare: cp1 to be prepared: step 2 of 2, images: pull pause',
  ]);
  site.put('bkeCluster', name, { spec: { cni: 'flannel' }, status: { initialization: { provisioned: true } } });
  site.put('cluster', name, {
    spec: { infrastructureRef: { name }, controlPlaneRef: { name: 'prod-cp' } },
    status: { initialization: { controlPlaneInitialized: true }, conditions: [] },
  });
  site.claim('w1', 'workers', [{ task: 'bootstrap-data', state: 'Running', message: 'kubeadm join' }]);
  site.prepared('w1');
  site.node('cp1', false);
  expect(site.told(120)).toEqual([
    'step.finished cluster/infrastructure',
    'step.started cluster/control-plane',
    'step.finished cluster/control-plane',
    'phase.started network',
    'step.started cluster/network',
    'step.finished cp1 node/prepare',
    'step.started cp1 node/join',
    'step.finished cp1 node/join',
    'step.finished w1 node/prepare',
    'step.started w1 node/join',
    'phase.finished infrastructure done',
    'phase.finished control-plane done',
    'waiting cluster/network: the network of the nodes: cp1 is not ready: cni plugin not initialized',
    'waiting w1 node/join: w1 to become a node: step 1 of 1, become a node: kubeadm join',
  ]);
  site.node('cp1', true);
  site.node('w1', true);
  site.put('bkeCluster', name, {
    spec: { cni: 'flannel' },
    status: { initialization: { provisioned: true }, state: { name: 'Healthy' } },
  });
  expect(site.told(180)).toEqual([
    'step.finished cluster/network',
    'phase.started health',
    'step.started cluster/health',
    'step.finished cluster/health',
    'step.finished w1 node/join',
    'phase.finished workers done',
    'phase.finished network done',
    'phase.finished health done',
    'finished done: - done, cp1 done, w1 done',
  ]);
  expect(site.status).toMatchObject({
    phase: 'Done',
    started: '2026-11-30T10:00:00.000Z',
    finished: '2026-11-30T10:03:00.000Z',
  });
  const seqs = (site.status.events ?? []).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
});

it('fails at once in what a person has to mend, and does not wait for what needs it', () => {
  const site = new Site();
  resources(site);
  const refused = {
    status: 'False',
    reason: 'LoginRefused',
    message: 'BKE_SSH_AUTH: cannot log in to cp1\nTry the password by hand.',
  };
  site.host('cp1', 'control-plane', refused);
  site.host('w1', 'workers', available);
  const told = site.told(10);
  expect(told).toContain('failed cp1 host/agent: BKE_SSH_AUTH cannot log in to cp1');
  expect(told.slice(-3)).toEqual([
    'phase.finished infrastructure failed',
    'phase.finished workers cancelled',
    'finished failed: - stopped, cp1 failed, w1 stopped',
  ]);
  expect(site.status.error).toEqual({
    code: 'BKE_SSH_AUTH',
    message: 'cannot log in to cp1',
    hint: 'Try the password by hand.',
    host: 'cp1',
  });
});

it('gives up a step at its bound, with what it waited for last', () => {
  const site = new Site();
  resources(site);
  site.host('cp1', 'control-plane', enrolling);
  site.host('w1', 'workers', enrolling);
  site.carryOn(0);
  const events = site.carryOn(20 * 60 + 1);
  expect(events.map(line)).toContain(
    'failed w1 host/agent: BKE_TIMEOUT waited 20m00s for the agent of w1: bringing bke to the host',
  );
});

it('tells of hosts that are prepared before machines take them', () => {
  const site = new Site();
  resources(site);
  site.host('w1', 'workers', available);
  const steps = (state: string) => [{ id: 'a', task: 'node/images', state, message: 'pull pause' }];
  const command = (state: string) => ({
    spec: { commandID: 'c', steps: steps(state) },
    status: { commandID: 'c', steps: steps(state) },
  });
  site.put('command', 'w1', command('Running'));
  expect(site.told(1)).toContain('waiting w1 node/prepare: w1 to be prepared: step 1 of 1, images: pull pause');
  site.put('command', 'w1', command('Done'));
  expect(site.told(20)).toEqual([
    'step.finished w1 node/prepare',
    'step.started w1 node/join',
    'waiting w1 node/join: a machine that takes w1: none was made yet',
  ]);
});

it('tells what the site lacks, in the words of the machine that asks for it', () => {
  const site = new Site();
  resources(site);
  site.claim('cp1', 'control-plane', []);
  const message = 'BKE_ARTIFACT_MISSING: no release of this site has kubeadm v1.35.0';
  const conditions = [
    {
      type: 'Prepared',
      status: 'False',
      reason: 'ArtifactsMissing',
      message,
      lastTransitionTime: '2026-11-30T10:00:00Z',
    },
  ];
  site.put('bkeMachine', 'm-cp1', { labels: { 'cluster.x-k8s.io/control-plane': '' }, status: { conditions } });
  expect(site.told(10)).toContain(
    'waiting cp1 node/prepare: cp1 to be prepared: BKE_ARTIFACT_MISSING: no release of this site has kubeadm v1.35.0',
  );
  expect(site.told(100)).toContain(
    'failed cp1 node/prepare: BKE_ARTIFACT_MISSING no release of this site has kubeadm v1.35.0',
  );
});

it('tells what each host was at when it is stopped, and goes on from there by nothing but its status', () => {
  const site = new Site();
  resources(site);
  site.host('cp1', 'control-plane', enrolling);
  site.host('w1', 'workers', available);
  site.told(0);
  const status = structuredClone(site.status);
  expect(site.told(5, true).slice(-1)).toEqual(['finished cancelled: - stopped, cp1 stopped, w1 stopped']);
  expect(site.status).toMatchObject({ phase: 'Cancelled', error: { code: 'BKE_CANCELLED' } });
  const again = new Site();
  resources(again);
  again.host('cp1', 'control-plane', enrolling);
  again.host('w1', 'workers', available);
  again.status = status;
  expect(again.told(5)).toEqual([]);
});

it('keeps the newest 500 events', () => {
  const note: EventBody = { type: 'note', level: 'info', message: 'x' };
  const first = withEvents(
    [],
    Array.from({ length: 499 }, () => note),
    new Date(began),
  );
  const second = withEvents(first, [note, note, note], new Date(began));
  expect([second.length, second[0]?.seq, second.at(-1)?.seq]).toEqual([500, 3, 502]);
});

it('fits into one object where every one of a thousand hosts fails with much to say', () => {
  const line = 'x'.repeat(300);
  const error = { code: 'BKE_COMMAND_FAILED', message: line.repeat(10), hint: line.repeat(10) } as const;
  const trouble = { error: { ...error, details: Array.from({ length: 40 }, () => line) }, graceMs: 0 };
  const look = { state: 'waiting', for: 'it', cause: line.repeat(10), trouble } as const;
  const chains = Array.from({ length: 1000 }, (_, index) => ({
    name: `w${index}`,
    host: `w${index}`,
    steps: [{ phase: 'workers', step: 'node/join', title: 'become a node', timeoutMs: 1000, look }],
  }));
  const frame = createFrame({ namespace: 'bke', name: 'prod' });
  const now = new Date(began);
  const { status, events } = advance({}, chains, { frame, now });
  const ring = withEvents([], events, now);
  expect(status.phase).toBe('Failed');
  expect(ring.at(-1)?.type).toBe('operation.finished');
  expect(status.hosts?.every((host) => host.error?.message.startsWith('xxx') === true)).toBe(true);
  // Nothing of the first is lost because of the many that could fail as well.
  expect(status.hosts?.[0]?.error?.message).toHaveLength(4096);
  expect(Buffer.byteLength(JSON.stringify({ ...status, events: ring }))).toBeLessThan(1.4 * 1024 * 1024);
});

it('takes no host of before for a spare one while what is to take it is not written yet', () => {
  const site = new Site();
  site.host('w1', 'workers', available);
  const before = site.told(0);
  expect(before).toContain('waiting w1 node/prepare: a machine that takes w1: the cluster is not there yet');
  expect(before).not.toContain('step.finished w1 node/prepare');
  resources(site);
  site.put('deployment', 'prod-workers', { spec: { replicas: 0 } });
  expect(site.told(10)).toContain('step.finished w1 node/join');
});

it('is shown to a person who watches as any operation is', async () => {
  const site = new Site();
  site.told(0);
  resources(site);
  site.host('cp1', 'control-plane', enrolling);
  site.host('w1', 'workers', available);
  site.told(12);
  site.claim('cp1', 'control-plane', [{ task: 'node/images', state: 'Running', message: 'pull pause' }]);
  site.told(40);
  site.carryOn(50, true);
  const object = {
    ...kinds.operation,
    metadata: { name: '20261130-100000-cluster-create-ab12' },
    spec: {},
    status: site.status,
  };
  const lines: string[] = [];
  const stream = { isTTY: false, write: (text: string) => lines.push(text) > 0 };
  const renderer = plainRenderer({ stream, now: () => new Date(began), verbosity: 0 });
  for (const event of ringEvents(object)) renderer.handle(event);
  renderer.close();
  await expect(lines.join('')).toMatchFileSnapshot('golden/create-plain.txt');
});

it('is not done with workers that nothing takes because whoever wrote the cluster was killed meanwhile', () => {
  const site = new Site();
  resources(site);
  site.objects.delete('controlPlane prod-cp');
  site.objects.delete('deployment prod-workers');
  site.host('w1', 'workers', available);
  expect(site.told(0).at(-1)).toBe(
    'waiting w1 node/prepare: a machine that takes w1: bke cluster create has not written its MachineDeployment: where it has ended, run it again',
  );
  const words =
    site.told(20).find((one) => one.startsWith('waiting cluster/resources')) ?? site.status.hosts?.[0]?.message;
  expect(words).toContain('bke cluster create has not written its control plane, its MachineDeployment: where');
  site.put('controlPlane', 'prod-cp', { spec: { replicas: 1 } });
  site.put('bkeCluster', name, {
    spec: { cni: 'flannel' },
    status: { initialization: { provisioned: true }, state: { name: 'Healthy' } },
  });
  site.put('cluster', name, {
    spec: { infrastructureRef: { name }, controlPlaneRef: { name: 'prod-cp' } },
    status: { initialization: { controlPlaneInitialized: true } },
  });
  site.claim('cp1', 'control-plane', []);
  site.node('cp1', true);
  expect(site.told(40)).not.toContain('step.finished cluster/resources');
  expect(site.status).toMatchObject({ phase: 'Running', hosts: [{ state: 'Running' }, { state: 'Done' }, {}] });
  expect(site.told(320).at(-1)).toBe('finished failed: - failed, cp1 done, w1 stopped');
});
