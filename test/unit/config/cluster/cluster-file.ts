// A cluster.yaml that is right, to be changed by tests.
import { checkCluster } from '../../../../src/config/cluster/check.ts';
import { type ClusterConfig, clusterConfig } from '../../../../src/config/cluster/config.ts';
import { clusterFile } from '../../../../src/config/cluster/file.ts';
import { type Problem, problemLines } from '../../../../src/config/problem.ts';
import { readYaml } from '../../../../src/config/read-yaml.ts';

export const hostLines = {
  m1: '{name: m1, address: 192.0.2.11, roles: [control-plane], ssh: {user: root, password: "x"}}',
  w1: '{name: w1, address: 192.0.2.12, roles: [worker], ssh: {user: root, password: "x"}}',
};

/** Line 6 is the first of `spec`, line 7 the first host where nothing is put into it. */
export function clusterText(spec: string, hosts: readonly string[] = Object.values(hostLines)): string {
  const lines = hosts.map((host) => `  - ${host}\n`).join('');
  const version = spec.includes('kubernetesVersion:') ? '' : '  kubernetesVersion: v1.36.3\n';
  return `apiVersion: bke.io/v1alpha1\nkind: Cluster\nmetadata: {name: c1}\nspec:\n${version}${spec}  hosts:\n${lines}`;
}

function readCluster(text: string) {
  return readYaml(text, 'c.yaml', clusterFile, checkCluster);
}

export function problemsOf(text: string): string[] {
  const result = readCluster(text);
  return 'problems' in result ? problemLines(result.problems, 1000) : [];
}

export function warningsOf(text: string): readonly Problem[] {
  return readCluster(text).warnings;
}

export function configOf(text: string): ClusterConfig {
  const result = readCluster(text);
  if ('problems' in result) throw new Error(problemLines(result.problems).join('\n'));
  return clusterConfig(result.value);
}
