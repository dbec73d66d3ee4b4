import { assert, constantFrom, jsonValue, oneof, option, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { checkCluster } from '../../../../src/config/cluster/check.ts';
import { clusterConfig } from '../../../../src/config/cluster/config.ts';
import { effectiveFile } from '../../../../src/config/cluster/print.ts';
import { clusterFile } from '../../../../src/config/cluster/file.ts';
import { problemLines } from '../../../../src/config/problem.ts';
import { readYaml } from '../../../../src/config/read-yaml.ts';

const whole = {
  apiVersion: 'bke.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'c1', namespace: 'bke' },
  spec: {
    kubernetesVersion: 'v1.36.3',
    management: true,
    controlPlaneEndpoint: { host: '192.0.2.100', port: 6443 },
    loadBalancer: 'keepalived',
    network: { podCIDR: '10.250.0.0/16', serviceCIDR: '10.96.0.0/16', dnsDomain: 'cluster.local', cni: 'none' },
    registry: { host: 'r.example.com', port: 443, username: 'a', passwordFile: 'b', rewrites: { 'docker.io': 'hub' } },
    ntp: ['10.0.0.1'],
    settings: { kubelet: { maxPods: 200 }, kubeadm: { ignorePreflightErrors: ['Swap'] }, ignoreChecks: ['swap'] },
    defaults: { ssh: { password: 'CANARY' }, labels: { a: 'b' }, taints: [{ key: 'a', effect: 'NoSchedule' }] },
    hosts: [
      { name: 'm1', address: '192.0.2.11', roles: ['control-plane'], nodeIP: '10.0.0.1', labels: { c: 'd' } },
      {
        name: 'w1',
        address: '192.0.2.12',
        roles: ['worker'],
        ssh: { privateKeyFile: 'k', sudo: { password: 'CANARY' } },
      },
      { name: 'w2', address: '192.0.2.13', roles: ['worker'], ssh: { bastion: { address: 'b', password: 'CANARY' } } },
    ],
    addons: [{ name: 'a', chart: 'a', version: '1.20', values: { a: 1 } }],
  },
};

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

const paths = pathsOf(whole).filter((path) => path.length > 0);
const strange = oneof(
  constantFrom<unknown>(null, '', [], {}, [null], [[]], { a: null }, 0, -1, 1.5, true, 'x', '0', '10.0.0.0/8', 'a:b'),
  jsonValue({ maxDepth: 2 }),
);

function changed(path: readonly string[], value: unknown): string {
  const copy: unknown = structuredClone(whole);
  const parent = path.slice(0, -1).reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), copy);
  if (value === undefined) Reflect.deleteProperty(Object(parent), path.at(-1) ?? '');
  else Reflect.set(Object(parent), path.at(-1) ?? '', value);
  return stringify(copy, { aliasDuplicateObjects: false });
}

function read(text: string): readonly string[] {
  const result = readYaml(text, 'c.yaml', clusterFile, checkCluster);
  if ('problems' in result) return problemLines(result.problems, 1000);
  // Accepted: then it can be understood and shown, too.
  expect(JSON.stringify(effectiveFile(clusterConfig(result.value)))).not.toContain('CANARY');
  return [];
}

describe('a cluster.yaml in which anything is something else', () => {
  it('has the whole of it right to begin with', () => {
    expect(read(stringify(whole))).toEqual([]);
  });

  it('is either understood or refused in words with a place, and never shows a password', () => {
    assert(
      property(constantFrom(...paths), option(strange, { nil: undefined }), (path, value) => {
        for (const line of read(changed(path, value))) {
          expect(line).toMatch(/^c\.yaml:\d+:\d+: [\w."[\]\\/:-]+.*: \S/su);
          expect(line).not.toMatch(/undefined|\[object|NaN|CANARY/);
        }
      }),
      { numRuns: 300 },
    );
  });
});
