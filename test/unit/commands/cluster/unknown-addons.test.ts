// Add-ons of a file that no release has: refused with their lines.
import { expect, it } from 'vitest';
import { refuseUnknownAddons } from '../../../../src/commands/cluster/unknown-addons.ts';
import { clusterConfig } from '../../../../src/config/cluster/config.ts';
import { clusterFile } from '../../../../src/config/cluster/file.ts';
import { readYaml } from '../../../../src/config/read-yaml.ts';
import { catalogue } from '../../../fakes/fleet.ts';

const text = (addons: readonly string[]): string =>
  [
    'apiVersion: bke.io/v1alpha1',
    'kind: Cluster',
    'metadata: {name: prod}',
    'spec:',
    '  kubernetesVersion: v1.36.3',
    '  hosts: [{name: cp1, address: 10.0.0.11, roles: [control-plane], ssh: {user: root, privateKeyFile: id}}]',
    '  addons:',
    ...addons.map((addon) => `    - ${addon}`),
  ].join('\n');

function refuse(...addons: readonly string[]): void {
  const read = readYaml(text(addons), 'prod.yaml', clusterFile);
  if (!('value' in read)) throw new Error(JSON.stringify(read.problems));
  refuseUnknownAddons({ config: clusterConfig(read.value), placeOf: read.placeOf }, [catalogue]);
}

it('names each with its line, and what may be meant', () => {
  const addons = ['name: metrics-servr', 'name: flannel', 'name: kubelet', '{name: metrics-server, version: v0.9.0}'];
  expect(() => refuse(...addons)).toThrow(
    expect.objectContaining({
      code: 'BKE_ARTIFACT_MISSING',
      message: 'no release of this site has 3 add-ons of the file',
      details: [
        'prod.yaml:8:13: spec.addons[0].name: there is no metrics-servr; did you mean metrics-server?',
        'prod.yaml:10:13: spec.addons[2].name: there is no kubelet',
        'prod.yaml:11:39: spec.addons[3].version: there is no metrics-server v0.9.0, but v0.8.0',
      ],
    }),
  );
});

it('takes what a release has', () => {
  expect(() => refuse('name: metrics-server', '{name: flannel, version: v0.27.4}')).not.toThrow();
});
