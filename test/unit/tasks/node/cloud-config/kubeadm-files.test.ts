// What reaches kubeadm of a host's taints, by the files that Cluster API v1.14 makes.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fieldAt } from '../../../../../src/kube/fields.ts';
import type { Taint } from '../../../../../src/lib/node-labels.ts';
import { type NodeTaints, withTaints } from '../../../../../src/tasks/node/cloud-config/kubeadm-files.ts';
import { type FileToWrite, readBootstrapData } from '../../../../../src/tasks/node/cloud-config/parse.ts';

const metadata = { hostname: 'n1', address: '10.0.0.11', instanceID: 'bke://bke/n1/x' };
const gpu: Taint = { key: 'example.com/gpu', value: 'true', effect: 'NoSchedule' };
const ofControlPlane = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' };
const uninitialized = { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' };

async function filesOf(name: string): Promise<readonly FileToWrite[]> {
  return readBootstrapData(await readFile(join(import.meta.dirname, 'cluster-api', `${name}.yaml`), 'utf8'), metadata)
    .files;
}

function taintsIn(files: readonly FileToWrite[]): unknown[] {
  const kubeadm = files.find(({ path }) => path.startsWith('/run/kubeadm/'));
  const documents = parseAllDocuments(kubeadm?.content.toString('utf8') ?? '').map((document): unknown =>
    document.toJS(),
  );
  return documents.flatMap((document) => {
    const registration = fieldAt(document, 'nodeRegistration');
    return registration === undefined ? [] : [fieldAt(registration, 'taints') ?? null];
  });
}

function joining(taints: string, controlPlane = false): readonly FileToWrite[] {
  const more = controlPlane ? 'controlPlane: {}\n' : '';
  const text = `---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n${more}nodeRegistration:\n  name: 'n1'\n  taints: ${taints}\n`;
  const path = '/run/kubeadm/kubeadm-join-config.yaml';
  return [{ path, content: Buffer.from(text), mode: 0o640, owner: { user: 'root', group: 'root' }, append: false }];
}

const cases: readonly [what: string, files: () => Promise<readonly FileToWrite[]>, NodeTaints, unknown][] = [
  [
    'a first control plane',
    () => filesOf('control-plane-init'),
    { own: [gpu], takesPods: false },
    [ofControlPlane, gpu],
  ],
  ['one that takes pods', () => filesOf('control-plane-init'), { own: [], takesPods: true }, []],
  ['one with a taint that takes pods', () => filesOf('control-plane-init'), { own: [gpu], takesPods: true }, [gpu]],
  ['one that joins', async () => joining('null', true), { own: [gpu], takesPods: false }, [ofControlPlane, gpu]],
  ['one of which the user wants no taint', async () => joining('[]', true), { own: [gpu], takesPods: false }, [gpu]],
  [
    'a worker, with what Cluster API takes away later',
    async () => joining(JSON.stringify([uninitialized])),
    { own: [gpu], takesPods: false },
    [uninitialized, gpu],
  ],
  [
    'a taint that is there already',
    async () => joining(JSON.stringify([gpu])),
    { own: [gpu], takesPods: false },
    [gpu],
  ],
];

describe("taints in kubeadm's file", () => {
  it.each(cases)('are right for %s', async (_, files, taints, expected) => {
    expect(taintsIn(withTaints(await files(), taints))).toEqual([expected]);
  });

  it.each(['yes', 'on', 'n', '012', '1_000', '0x1f', '1e3', '2026-01-01', ''])('keep the value %j a text', (value) => {
    const files = withTaints(joining('null'), { own: [{ ...gpu, value }], takesPods: false });
    expect(files[0]?.content.toString('utf8')).toContain(`value: "${value}"\n`);
  });

  it('are all that is changed', async () => {
    const before = await filesOf('control-plane-init');
    const after = withTaints(before, { own: [gpu], takesPods: false });
    expect(withTaints(before, { own: [], takesPods: false })).toEqual(before);
    const others = (files: readonly FileToWrite[]): unknown =>
      files.filter(({ path }) => path !== '/run/kubeadm/kubeadm.yaml');
    expect(others(after)).toEqual(others(before));
    const text = after.find(({ path }) => path === '/run/kubeadm/kubeadm.yaml')?.content.toString('utf8') ?? '';
    await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'golden', 'control-plane-init-taints.yaml'));
  });
});
