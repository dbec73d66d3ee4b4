// What `bke cluster create` decides before anything is written: keys of hosts, logins that no controller can use, what is in its way.
import { expect, it } from 'vitest';
import { refuseUnmakeable } from '../../../../src/commands/cluster/unmakeable.ts';
import { planLines } from '../../../../src/commands/cluster/create-work.ts';
import { isInUse, refuseConflicts } from '../../../../src/commands/cluster/existing.ts';
import { refuseSameMachines } from '../../../../src/commands/cluster/same-machine.ts';
import { keyPlace, keysOfHosts, withHostKeys } from '../../../../src/commands/cluster/host-keys.ts';
import { imagesOf } from '../../../../src/commands/cluster/release.ts';
import { clusterConfig, type ClusterConfig } from '../../../../src/config/cluster/config.ts';
import { clusterFile } from '../../../../src/config/cluster/file.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';

const bastion = { address: '10.9.9.9', user: 'jump', privateKeyFile: 'id' };
const login = { user: 'root', privateKeyFile: 'id' };
function config(hosts: readonly object[]): ClusterConfig {
  return clusterConfig(
    clusterFile.parse({
      apiVersion: 'bke.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'prod' },
      spec: { kubernetesVersion: 'v1.36.3', hosts },
    }),
  );
}
const cp1 = { name: 'cp1', address: '10.0.0.11', roles: ['control-plane'], ssh: login };
const w1 = { name: 'w1', address: '10.0.0.21', roles: ['worker'], ssh: { ...login, bastion } };

const host = (
  name: string,
  more: { labels?: Record<string, string>; spec?: object; conditions?: object[] },
): KubeObject => ({
  apiVersion: 'bke.io/v1alpha1',
  kind: 'BKEHost',
  metadata: { namespace: 'bke', name, labels: more.labels ?? {} },
  spec: more.spec ?? {},
  status: { conditions: more.conditions ?? [] },
});
const clusters = new Set(['other']);
const nothing = {
  cluster: undefined,
  clusters,
  bkeCluster: undefined,
  hosts: new Map(),
  otherHosts: [],
  operation: undefined,
};

it('refuses hosts and bastions that only an SSH agent can log in to, by name', () => {
  const agent = { user: 'root', agent: true };
  const through = { ...w1, ssh: { ...login, bastion: { address: '10.9.9.9', user: 'jump', agent: true } } };
  expect(() => refuseUnmakeable(config([{ ...cp1, ssh: agent }, through]))).toThrow(
    expect.objectContaining({
      code: 'BKE_SSH_AGENT_ONLY',
      exitCode: 3,
      details: ['cp1: ssh.agent', 'w1: ssh.bastion.agent'],
    }),
  );
  expect(() => refuseUnmakeable(config([cp1, w1]))).not.toThrow();
});

it('gives every host and bastion the keys it is known by, and leaves alone what the file says', () => {
  const pinned = `SHA256:${'a'.repeat(43)}`;
  const named = { ...cp1, ssh: { ...login, hostKeys: [pinned] } };
  const known = new Map([
    [keyPlace('10.0.0.11', 22), ['SHA256:other']],
    [keyPlace('10.0.0.21', 22), ['SHA256:w1']],
    [keyPlace('10.9.9.9', 22), ['SHA256:jump']],
  ]);
  const [first, second] = withHostKeys(config([named, w1]), known).hosts;
  expect(first?.ssh.hostKeys).toEqual([pinned]);
  expect(second?.ssh.hostKeys).toEqual(['SHA256:w1']);
  expect(second?.ssh.bastion?.hostKeys).toEqual(['SHA256:jump']);
});

it('takes over the keys of hosts that are in the cluster already', () => {
  const ssh = {
    port: 2222,
    hostKeys: ['SHA256:a'],
    bastions: [{ address: '10.9.9.9', port: 22, hostKeys: ['SHA256:b'] }],
  };
  const keys = keysOfHosts([host('w1', { spec: { address: '10.0.0.21', ssh } })]);
  expect([...keys]).toEqual([
    ['10.0.0.21 2222', ['SHA256:a']],
    ['10.9.9.9 22', ['SHA256:b']],
  ]);
});

it('does not check hosts again that a machine has or that an agent answers on', () => {
  expect(isInUse(undefined)).toBe(false);
  expect(isInUse(host('w1', {}))).toBe(false);
  expect(isInUse(host('w1', { spec: { consumerRef: { name: 'm' } } }))).toBe(true);
  expect(isInUse(host('w1', { conditions: [{ type: 'AgentReady', status: 'True' }] }))).toBe(true);
});

it('refuses a second operation, a cluster that goes, and hosts of others', () => {
  const wanted = config([cp1, w1]);
  const operation: KubeObject = {
    apiVersion: 'bke.io/v1alpha1',
    kind: 'BKEOperation',
    metadata: { name: 'op-1' },
    spec: { action: 'upgrade' },
  };
  const making = { ...operation, spec: { action: 'create' } };
  expect(() => refuseConflicts(wanted, { ...nothing, operation: making })).not.toThrow();
  const stopping = { ...operation, spec: { action: 'create', cancelRequested: true } };
  expect(() => refuseConflicts(wanted, { ...nothing, operation: stopping })).toThrow(
    expect.objectContaining({ code: 'BKE_OPERATION_CONFLICT', hint: expect.stringContaining('when it has stopped') }),
  );
  expect(() => refuseConflicts(wanted, { ...nothing, operation })).toThrow(
    expect.objectContaining({
      code: 'BKE_OPERATION_CONFLICT',
      exitCode: 7,
      hint: expect.stringContaining('bke operation attach op-1'),
    }),
  );
  const cluster: KubeObject = {
    apiVersion: 'x/v1',
    kind: 'Cluster',
    metadata: { name: 'prod', deletionTimestamp: '2026-11-30T10:00:00Z' },
  };
  expect(() => refuseConflicts(wanted, { ...nothing, cluster })).toThrow(
    expect.objectContaining({
      code: 'BKE_CLUSTER_DELETING',
      exitCode: 7,
      message: 'Cluster prod is being deleted since 2026-11-30T10:00:00Z',
      hint: "'bke cluster describe prod' shows what of it is still there, and why. Make it anew when 'bke cluster list' does not show it any more.",
    }),
  );
  const hosts = new Map([
    ['cp1', host('cp1', { spec: { services: true } })],
    ['w1', host('w1', { labels: { 'bke.io/cluster': 'other' } })],
  ]);
  expect(() => refuseConflicts(wanted, { ...nothing, hosts })).toThrow(
    expect.objectContaining({
      code: 'BKE_HOST_TAKEN',
      details: ['cp1 carries the local services', 'w1 belongs to cluster other'],
    }),
  );
  expect(() => refuseConflicts(wanted, nothing)).not.toThrow();
});

it('refuses a cluster that somebody has paused, with who and the command that lifts it', () => {
  const wanted = config([cp1]);
  const metadata = (manager: string, annotations = {}) => ({
    namespace: 'bke',
    name: 'prod',
    annotations,
    managedFields: [{ manager, operation: 'Update', fieldsV1: { 'f:spec': { 'f:paused': {} } } }],
  });
  const paused = (manager: string, annotations = {}): KubeObject => ({
    apiVersion: 'x/v1',
    kind: 'Cluster',
    metadata: metadata(manager, annotations),
    spec: { paused: true },
  });
  expect(() => refuseConflicts(wanted, { ...nothing, cluster: paused('kubectl-patch') })).toThrow(
    expect.objectContaining({
      code: 'BKE_CLUSTER_PAUSED',
      exitCode: 7,
      message: 'cluster prod is paused: nothing goes on before that is lifted',
      details: [
        'Cluster prod: spec.paused is true, set by kubectl-patch',
        `lift it: kubectl -n bke patch cluster prod --type=merge -p '{"spec":{"paused":null}}'`,
      ],
      hint: 'Ask whoever has paused it, lift it, then run the same command again.',
    }),
  );
  const annotated = paused('bke-controller-operations', { 'cluster.x-k8s.io/paused': '' });
  expect(() => refuseConflicts(wanted, { ...nothing, cluster: annotated })).toThrow(
    expect.objectContaining({
      details: [
        'Cluster prod has the annotation cluster.x-k8s.io/paused',
        'lift it: kubectl -n bke annotate cluster prod cluster.x-k8s.io/paused-',
      ],
    }),
  );
  // What a cancelled operation has paused, the next one lifts.
  expect(() => refuseConflicts(wanted, { ...nothing, cluster: paused('bke-controller-operations') })).not.toThrow();
});

it('takes hosts of a cluster that is gone, but none that a machine still has', () => {
  const wanted = config([cp1, w1]);
  const labels = { 'bke.io/cluster': 'gone' };
  const free = new Map([['w1', host('w1', { labels })]]);
  expect(() => refuseConflicts(wanted, { ...nothing, hosts: free })).not.toThrow();
  const spec = { consumerRef: { namespace: 'bke', name: 'gone-w-1' } };
  const held = new Map([['w1', host('w1', { labels, spec })]]);
  expect(() => refuseConflicts(wanted, { ...nothing, hosts: held })).toThrow(
    expect.objectContaining({ code: 'BKE_HOST_TAKEN', details: ['w1 belongs to cluster gone'] }),
  );
});

it('makes only versions that a release of the site has', () => {
  expect(() => imagesOf({ kubernetesVersion: 'v1.36.3' }, [])).toThrow(
    expect.objectContaining({
      code: 'BKE_ARTIFACT_MISSING',
      message: expect.stringContaining('there is no version at all'),
    }),
  );
});

it('says what is about to be made', () => {
  expect(planLines(config([cp1, w1]), { isThere: false, pending: 9 })).toEqual([
    'Cluster prod:',
    '  version        Kubernetes v1.36.3, network flannel',
    '  endpoint       https://10.0.0.11:6443',
    '  control plane  cp1 (10.0.0.11)',
    '  workers        w1 (10.0.0.21)',
    '  namespace      bke of the management cluster',
    '  One control plane without a load balancer can never become highly available.',
  ]);
});

it('refuses a machine that is there by another name, and a name that is another machine', () => {
  const labels = { 'bke.io/cluster': 'prod' };
  const twin = host('w9', { labels, spec: { address: '10.0.0.11', ssh: { port: 22 } } });
  const moved = host('w1', { labels, spec: { address: '10.0.0.99', consumerRef: { name: 'm' } } });
  expect(() =>
    refuseConflicts(config([cp1, w1]), { ...nothing, hosts: new Map([['w1', moved]]), otherHosts: [twin] }),
  ).toThrow(
    expect.objectContaining({
      code: 'BKE_HOST_TAKEN',
      details: [
        'cp1 (10.0.0.11) is there as w9 of cluster prod',
        'w1 is the machine at 10.0.0.99, and the file says 10.0.0.21',
      ],
    }),
  );
  const far = host('cp1', { labels, spec: { address: '10.0.0.11', ssh: { port: 22 } } });
  const elsewhere = { ...far, metadata: { ...far.metadata, namespace: 'other' } };
  expect(() => refuseConflicts(config([cp1, w1]), { ...nothing, otherHosts: [elsewhere] })).toThrow(
    expect.objectContaining({ details: ['cp1 (10.0.0.11) is there as cp1 of cluster prod in namespace other'] }),
  );
  const other = host('w9', { labels, spec: { address: '10.0.0.11', ssh: { port: 2222 } } });
  expect(() => refuseConflicts(config([cp1, w1]), { ...nothing, otherHosts: [other] })).not.toThrow();
});

it('refuses a machine that is there under another address, by what it says of itself', () => {
  const facts = { machineId: 'a'.repeat(32), bootId: 'boot-1', probedAddress: '10.0.0.99' };
  const labels = { 'bke.io/cluster': 'prod' };
  const known = (more: object = {}): KubeObject => ({
    ...host('m9', { labels, spec: { address: '10.0.0.99' } }),
    status: { facts: { ...facts, ...more } },
  });
  const check =
    (other: KubeObject, bootId: string, ignored: readonly string[] = []) =>
    () =>
      refuseSameMachines(
        config([cp1, w1]),
        { ...nothing, otherHosts: [other] },
        { facts: new Map([['w1', { machineId: facts.machineId, bootId }]]), ignored },
      );
  expect(check(known(), 'boot-1')).toThrow(
    expect.objectContaining({
      code: 'BKE_HOST_TAKEN',
      exitCode: 7,
      message: 'a host is not free for cluster prod',
      details: ['w1 (10.0.0.21) is the same machine as m9 (10.0.0.99) of cluster prod'],
    }),
  );
  // It was started anew since, or is a clone.
  expect(check(known(), 'boot-2')).toThrow(
    expect.objectContaining({
      details: [
        'w1 (10.0.0.21) has the /etc/machine-id of m9 (10.0.0.99) of cluster prod: it is the same machine, or a clone that needs one of its own (rm -f /etc/machine-id; systemd-machine-id-setup; then reboot it)',
      ],
    }),
  );
  expect(check(known(), 'boot-2', ['machine-id'])).not.toThrow();
  expect(check(known(), 'boot-1', ['machine-id'])).toThrow(expect.objectContaining({ code: 'BKE_HOST_TAKEN' }));
  expect(check(known({ probedAddress: '10.0.0.98' }), 'boot-1')).not.toThrow();
  const itself = { ...known(), metadata: { namespace: 'bke', name: 'w1' } };
  expect(check(itself, 'boot-1')).not.toThrow();
});
