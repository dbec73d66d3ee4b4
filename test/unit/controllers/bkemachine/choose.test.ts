// Which host a machine gets.
import { describe, expect, it } from 'vitest';
import { chooseHost, chooseHosts, type Wanted } from '../../../../src/controllers/bkemachine/choose.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';

const wanted: Wanted = { namespace: 'bke', cluster: 'prod', controlPlane: false, matchLabels: {} };

interface Parts {
  readonly spec?: object;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly reason?: string;
}

function host(
  name: string,
  { spec = {}, labels = {}, annotations = {}, reason = 'Available' }: Parts = {},
): KubeObject {
  const status = reason === 'Available' ? 'True' : 'False';
  return {
    apiVersion: 'bke.io/v1alpha1',
    kind: 'BKEHost',
    metadata: { namespace: 'bke', name, labels, annotations },
    spec: { address: `10.0.0.${name.length}`, roles: ['worker'], ...spec },
    status: { conditions: [{ type: 'Available', status, reason, message: 'first line\nsecond line' }] },
  };
}

const names = (hosts: readonly KubeObject[]): string[] => hosts.map(({ metadata }) => metadata.name);

describe('a host is chosen', () => {
  it('by its name, whatever order hosts come in', () => {
    const hosts = [host('c'), host('a'), host('b')];
    expect(names(chooseHosts(hosts, wanted))).toEqual(['a', 'b', 'c']);
    expect(chooseHost(hosts.toReversed(), wanted).host?.metadata.name).toBe('a');
  });

  it('first where it was prepared for the cluster, then where a node of it was before', () => {
    const last = host('b', { annotations: { 'bke.io/last-cluster': 'prod' } });
    const prepared = host('c', { annotations: { 'bke.io/prepared-for': 'prod' } });
    expect(names(chooseHosts([host('a'), last, prepared], wanted))).toEqual(['c', 'b', 'a']);
  });

  it('by labels, role, name and namespace', () => {
    const hosts = [host('a'), host('b', { labels: { rack: '1' } }), host('c', { spec: { roles: ['control-plane'] } })];
    expect(names(chooseHosts(hosts, { ...wanted, matchLabels: { rack: '1' } }))).toEqual(['b']);
    expect(names(chooseHosts(hosts, { ...wanted, controlPlane: true }))).toEqual(['c']);
    expect(names(chooseHosts(hosts, { ...wanted, hostRef: 'b' }))).toEqual(['b']);
    expect(names(chooseHosts(hosts, { ...wanted, namespace: 'other' }))).toEqual([]);
  });

  it('never where it was prepared for another cluster, or was claimed a moment ago', () => {
    const other = host('a', { annotations: { 'bke.io/prepared-for': 'other' } });
    expect(names(chooseHosts([other, host('b'), host('c')], wanted, new Set(['b'])))).toEqual(['c']);
  });

  it('never where its label keeps it for another cluster, whoever names it and whatever labels are wanted', () => {
    const other = host('a', { labels: { 'bke.io/cluster': 'other', rack: '1' } });
    const own = host('b', { labels: { 'bke.io/cluster': 'prod' } });
    expect(names(chooseHosts([other, own, host('c')], wanted))).toEqual(['b', 'c']);
    const why = ['a: its label bke.io/cluster keeps it for the cluster other'];
    for (const way of [
      { hostRef: 'a' },
      { matchLabels: { rack: '1' } },
      { matchLabels: { 'bke.io/cluster': 'other' } },
    ]) {
      expect(chooseHost([other, own], { ...wanted, ...way })).toEqual({ host: undefined, why });
    }
  });

  it('at the endpoint, where a control plane has no load balancer; anywhere where that is a name', () => {
    const spec = { roles: ['control-plane'] };
    const hosts = [host('a', { spec }), host('b', { spec: { ...spec, nodeIP: '10.1.0.9' } })];
    const of = (endpoint: string): string[] => names(chooseHosts(hosts, { ...wanted, controlPlane: true, endpoint }));
    expect(of('10.1.0.9')).toEqual(['b']);
    expect(of('api.example.org')).toEqual(['a', 'b']);
  });
});

it.each<[string, Parts]>([
  ['bke/m2 has it', { spec: { consumerRef: { namespace: 'bke', name: 'm2' }, claimID: 'x' } }],
  ['in quarantine: broken', { spec: { quarantine: { reason: 'broken', since: '2026-11-30T10:00:00Z' } } }],
  ['not proven to be clean', { spec: { cleanUpPending: true } }],
  ['it carries the local services', { spec: { services: true } }],
  ['in maintenance: new disk', { spec: { maintenance: { reason: 'new disk', since: '2026-11-30T10:00:00Z' } } }],
  ['it is going or paused', { annotations: { 'cluster.x-k8s.io/paused': '' } }],
  ['HeartbeatLost: first line', { reason: 'HeartbeatLost' }],
])('is not given away, and why is told: %s', (why, parts) => {
  expect(chooseHost([host('w1', parts)], wanted)).toEqual({ host: undefined, why: [`w1: ${why}`] });
});
