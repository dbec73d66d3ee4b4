// Clusters that are rendered in tests, by the name of their golden file.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkCluster } from '../../src/config/cluster/check.ts';
import { clusterConfig } from '../../src/config/cluster/config.ts';
import { clusterFile } from '../../src/config/cluster/file.ts';
import { problemLines } from '../../src/config/problem.ts';
import { readYaml } from '../../src/config/read-yaml.ts';
import { renderCluster } from '../../src/cluster/render/cluster.ts';
import type { KubeObject } from '../../src/kube/client.ts';

export const renderedClusters = ['one-and-two', 'keepalived', 'external', 'settings'] as const;
export type RenderedCluster = (typeof renderedClusters)[number];

export const goldenFolder = join(import.meta.dirname, '../unit/cluster/render/golden');

/** No secret is ever in a golden file: where one would be, it says which. */
export async function rendered(name: RenderedCluster): Promise<KubeObject[]> {
  const text = await readFile(join(goldenFolder, `${name}.cluster.yaml`), 'utf8');
  const result = readYaml(text, name, clusterFile, checkCluster);
  if ('problems' in result) throw new Error(problemLines(result.problems).join('\n'));
  return renderCluster(clusterConfig(result.value), {
    resolve: (source) => ('file' in source ? `<content of ${source.file}>` : '<the value>'),
    ...(name === 'external' ? { registryCa: '<certificate>' } : {}),
    ...(name === 'settings' ? { images: { etcd: '3.6.9-0', coredns: 'v1.14.7' } } : {}),
  });
}
