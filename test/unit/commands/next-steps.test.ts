// What people are told to type next, and what they are told instead where something cannot be done.
import { expect, it } from 'vitest';
import { summaryLines } from '../../../src/commands/init/summary.ts';
import { clustersLine, managedNotes } from '../../../src/commands/site-clusters.ts';
import { effectiveSettings } from '../../../src/config/bootstrap.ts';
import { catalogue } from '../../fakes/fleet.ts';
import { runCli } from '../../fakes/cli.ts';

const { settings } = effectiveSettings([{ source: 'option', hostIP: '10.0.0.5' }], ['10.0.0.5']);
const standing = {
  settings,
  cluster: {
    kind: 'kubeadm',
    version: 'v1.36.3',
    kubeconfig: '/k',
    check: async () => undefined,
    install: () => [],
    ready: async () => undefined,
  },
  release: { catalogue, platform: 'linux/amd64', bkeVersion: '0.1.0' },
  changed: true,
} as const;

it('names after init how a cluster is made, unless one is made at once', () => {
  const next = ['next:', '  bke status', '  bke config init -o cluster.yaml', '  bke cluster create -f cluster.yaml'];
  expect(summaryLines({ ...standing, goesOn: false }).slice(-4)).toEqual(next);
  expect(summaryLines({ ...standing, goesOn: true }).join('\n')).not.toContain('next:');
});

it('tells in the status which clusters the site has', () => {
  const namespace = 'bke';
  const clusters = [
    { name: 'prod', namespace, state: 'Healthy' },
    { name: 'test', namespace, state: 'Installing' },
  ];
  expect(clustersLine(clusters)).toBe(
    "Clusters of this site: prod (Healthy), test (Installing); 'bke cluster list -A' tells more.",
  );
});

it('says of a host that is to be reset which clusters hang on it, and nothing where none does', () => {
  expect(managedNotes([{ name: 'prod', namespace: 'bke', state: 'Healthy' }])).toEqual([
    expect.stringContaining('clusters managed from here: prod (Healthy). Their nodes go on'),
  ]);
  expect(managedNotes([])).toEqual([]);
});

it('runs programs on hosts of a file only, and says with which words', async () => {
  const { code, stderr } = await runCli(['host', 'exec', '--host', 'w1', '--', 'sh', '-c', 'a | b']);
  expect(code).toBe(2);
  expect(stderr).toContain("bke host exec -f cluster.yaml --host w1 -- sh -c 'a | b'");
});
