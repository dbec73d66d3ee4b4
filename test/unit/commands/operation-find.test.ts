// Operations by their id, as people type it: of clusters, of this machine, and with a slip.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findOperation } from '../../../src/commands/operation/find.ts';
import { operationKind } from '../../../src/controllers/cluster-objects.ts';
import { FakeCluster } from '../../fakes/kube-client.ts';

const cluster = new FakeCluster();
let operationsDirectory: string;
beforeAll(async () => {
  operationsDirectory = await mkdtemp(join(tmpdir(), 'bke-find-'));
  await writeFile(join(operationsDirectory, '20261130-101500-init-ab12.jsonl'), '');
  cluster.put({ ...operationKind, metadata: { namespace: 'bke', name: '20261130-101500-cluster-create-ab12' } });
});
afterAll(async () => rm(operationsDirectory, { recursive: true }));

const find = (id: string) => findOperation({ operationsDirectory }, cluster, id);

it('finds that of a cluster in whatever namespace it is', async () => {
  expect((await find('20261130-101500-cluster-create-ab12')).metadata.namespace).toBe('bke');
});

it('tells of one of this machine how it is looked at', async () => {
  await expect(find('20261130-101500-init-ab12')).rejects.toMatchObject({
    code: 'BKE_USAGE',
    message: '20261130-101500-init-ab12 is no operation of a cluster: it was run on this machine',
    hint: expect.stringContaining('bke operation show 20261130-101500-init-ab12'),
  });
});

it('names the one that is meant', async () => {
  await expect(find('20261130-101500-cluster-create-ab13')).rejects.toMatchObject({
    code: 'BKE_OPERATION_UNKNOWN',
    exitCode: 2,
    message: "there is no operation '20261130-101500-cluster-create-ab13' in the management cluster",
    hint: "Did you mean '20261130-101500-cluster-create-ab12'? 'bke operation list' shows those that are there.",
  });
});

it('names the list where none is like it', async () => {
  await expect(find('x')).rejects.toMatchObject({
    code: 'BKE_OPERATION_UNKNOWN',
    hint: "'bke operation list' shows those that are there.",
  });
});
