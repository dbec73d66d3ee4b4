// Two creates at the same instant: a host is one cluster's, whoever writes in between; and of two operations of one cluster one is carried out.
import { beforeEach, describe, expect, it } from 'vitest';
import { openOperation, operationAfter } from '../../../../src/commands/cluster/carry-out.ts';
import { type ClaimClient, claimHosts } from '../../../../src/commands/cluster/claim-hosts.ts';
import { hostResource } from '../../../../src/cluster/render/hosts.ts';
import { clusterConfig, type ClusterConfig } from '../../../../src/config/cluster/config.ts';
import { clusterFile } from '../../../../src/config/cluster/file.ts';
import { kinds } from '../../../../src/controllers/bkeoperation/world.ts';
import { fieldAt } from '../../../../src/kube/fields.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { FakeCluster } from '../../../fakes/kube-client.ts';

const namespace = 'bke';
function config(name: string, hosts: Readonly<Record<string, string>>, inNamespace = namespace): ClusterConfig {
  const ssh = { user: 'root', privateKeyFile: 'id' };
  return clusterConfig(
    clusterFile.parse({
      apiVersion: 'bke.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name, namespace: inNamespace },
      spec: {
        kubernetesVersion: 'v1.36.3',
        hosts: Object.entries(hosts).map(([host, address], index) => ({
          name: host,
          address,
          roles: [index === 0 ? 'control-plane' : 'worker'],
          ssh,
        })),
      },
    }),
  );
}
const prod = config('prod', { h1: '10.0.0.11', h2: '10.0.0.12' });
const test = config('test', { h1: '10.0.0.11', h3: '10.0.0.13' });
const objectsOf = (of: ClusterConfig): KubeObject[] => of.hosts.map((host) => hostResource(host, of, true));
const operation = (cluster: string, name: string): KubeObject => ({
  ...kinds.operation,
  metadata: { namespace, name },
  spec: { action: 'create', target: { kind: 'Cluster', name: cluster } },
});

const bare = (name: string): KubeObject => ({ ...kinds.host, metadata: { namespace, name } });

let site: FakeCluster;
beforeEach(() => {
  site = new FakeCluster();
  site.put(operation('prod', 'op-prod'), operation('test', 'op-test'));
});
const claim = (of: ClusterConfig, client: ClaimClient = site): Promise<void> =>
  claimHosts(client, objectsOf(of), { config: of, operation: `op-${of.name}` });
const owners = (): Record<string, string | undefined> =>
  Object.fromEntries(
    site.objects(kinds.host).map(({ metadata }) => [metadata.name, metadata.labels?.['bke.io/cluster']]),
  );

/** Somebody else does something before the first call of that name. */
function meanwhile(call: 'create' | 'patch', work: () => Promise<unknown>): ClaimClient {
  let done = false;
  const once = async (): Promise<void> => {
    if (done) return;
    done = true;
    await work();
  };
  const client = site.client();
  return {
    ...client,
    create: async (object) => {
      if (call === 'create') await once();
      return client.create(object);
    },
    patch: async (...given) => {
      if (call === 'patch') await once();
      return client.patch(...given);
    },
  };
}

const taken = {
  code: 'BKE_HOST_TAKEN',
  exitCode: 7,
  message: 'a host is not free for cluster test',
  details: ['h1 belongs to cluster prod'],
  hint: "Take them out of the file, or free them; 'bke host list -A' shows whose they are.",
};

describe('of two creates', () => {
  it('the one that comes second is refused, although the cluster of the first is not written yet', async () => {
    await claim(prod);
    await expect(claim(test)).rejects.toMatchObject(taken);
    expect(owners()).toEqual({ h1: 'prod', h2: 'prod' });
  });

  it('that both find no host, one gets it and the other nothing', async () => {
    const racing = meanwhile('create', () => claim(prod));
    await expect(claim(test, racing)).rejects.toMatchObject(taken);
    expect(owners()).toEqual({ h1: 'prod', h2: 'prod' });
  });

  it('that both find a host of a cluster that is gone, one gets it and the other nothing', async () => {
    const old = config('gone', { h1: '10.0.0.11' });
    site.put(...objectsOf(old));
    const racing = meanwhile('patch', () => claim(prod));
    await expect(claim(test, racing)).rejects.toMatchObject(taken);
    expect(owners()).toEqual({ h1: 'prod', h2: 'prod' });
  });

  it('the first keeps a host that was its own before, also from one that read it while its cluster was gone', async () => {
    site = new FakeCluster();
    site.put(operation('test', 'op-test'), ...objectsOf(config('prod', { h1: '10.0.0.11' })));
    const racing = meanwhile('patch', async () => {
      site.put(operation('prod', 'op-prod'));
      await claim(prod);
    });
    await expect(claim(test, racing)).rejects.toMatchObject(taken);
  });

  it('the one that is refused gives back what it had made', async () => {
    const wide = config('test', { a1: '10.0.0.9', h1: '10.0.0.11' });
    await claim(prod);
    await expect(claim(wide)).rejects.toMatchObject(taken);
    expect(Object.keys(owners())).toEqual(['h1', 'h2']);
  });

  it('the one that is refused leaves a host that was there as it was, whatever is written to its status meanwhile', async () => {
    const free: KubeObject = { ...kinds.host, metadata: { namespace, name: 'a1' }, spec: { address: '10.0.0.9' } };
    site.put(free);
    await claim(prod);
    let written = false;
    const client: ClaimClient = {
      ...site.client(),
      get: async (key) => {
        const found = await site.get(key);
        const isClaimed = fieldAt(found, 'metadata', 'labels') !== undefined;
        if (key.name === 'a1' && isClaimed && !written) {
          written = true;
          await site.patch(key, { status: { conditions: [] } });
        }
        return found;
      },
    };
    await expect(claim(config('test', { a1: '10.0.0.9', h1: '10.0.0.11' }), client)).rejects.toMatchObject(taken);
    expect(written).toBe(true);
    expect(await site.get({ ...kinds.host, namespace, name: 'a1' })).toMatchObject({
      metadata: { labels: {}, annotations: {} },
      spec: { address: '10.0.0.9' },
    });
  });

  it('the one that is refused takes nothing away that another one, who makes the same cluster, has gone on with', async () => {
    const wide = config('test', { a1: '10.0.0.9', h1: '10.0.0.11' });
    await claim(prod);
    const client: ClaimClient = {
      ...site.client(),
      get: async (key) => {
        if (key.name === 'h1')
          await site.apply({ ...bare('a1'), spec: { ssh: { user: 'root' } } }, { fieldManager: 'x' });
        return site.get(key);
      },
    };
    await expect(claim(wide, client)).rejects.toMatchObject(taken);
    expect(Object.keys(owners())).toEqual(['h1', 'h2', 'a1']);
  });

  it('with one machine by two names, none takes it from the other', async () => {
    await claim(prod);
    const other = config('test', { m1: '10.0.0.11' });
    await expect(claim(other)).rejects.toMatchObject({
      ...taken,
      details: ['m1 (10.0.0.11) is there as h1 of cluster prod'],
    });
    expect(Object.keys(owners())).toEqual(['h1', 'h2']);
  });
});

it('takes hosts of a cluster that is gone, and writes nothing twice', async () => {
  site.put(...objectsOf(config('gone', { h1: '10.0.0.11' })));
  await claim(prod);
  expect(owners()).toEqual({ h1: 'prod', h2: 'prod' });
  const writes = site.writes.length;
  await claim(prod);
  expect(site.writes).toHaveLength(writes);
});

it('makes a host without its login first: nobody dials it before its Secret is there', async () => {
  await claim(prod);
  const host = await site.get({ ...kinds.host, namespace, name: 'h1' });
  expect(host?.['spec']).toEqual({ address: '10.0.0.11', roles: ['control-plane'] });
  expect(fieldAt(host, 'metadata', 'annotations')).toEqual({ 'bke.io/asked': 'op-prod' });
});

it('opens another operation where the first was done before the cluster was written', async () => {
  const at = new Date('2026-11-30T10:00:00Z');
  const { operation: first } = await openOperation(site, prod, at);
  const key = { ...kinds.operation, namespace, name: first };
  for (const phase of ['Running', 'Failed']) {
    await site.patch(key, { status: { phase } });
    expect(await operationAfter(site, prod, { operation: first, now: at })).toBe(first);
  }
  await site.patch(key, { status: { phase: 'Done' } });
  const second = await operationAfter(site, prod, { operation: first, now: at });
  expect(second).not.toBe(first);
  expect(await site.get({ ...kinds.operation, namespace, name: second })).toBeDefined();
});

describe('two operations that are opened for one cluster at the same time', () => {
  const now = new Date('2026-11-30T10:00:00Z');
  const ids = (): string[] => site.objects(kinds.operation).map(({ metadata }) => metadata.name);
  beforeEach(() => {
    site = new FakeCluster();
  });

  it('come to one: who opened the second follows the first, and leaves none', async () => {
    const first = await openOperation(site, prod, now);
    expect(first).toEqual({ operation: ids()[0], isOurs: true });
    expect(await openOperation(site, prod, now)).toEqual({ operation: first.operation, isOurs: false });
    expect(ids()).toEqual([first.operation]);
  });

  it('come to the one that was stored first, also where both are there when they are looked at', async () => {
    const client = site.client();
    const early = {
      ...client,
      create: async (object: KubeObject) => {
        // By its name, and by the second, it could be either.
        site.put(operation('prod', '00000000-000000-cluster-create-0000'));
        const own = await client.create(object);
        site.put(operation('prod', '00000000-000000-cluster-create-0001'));
        return own;
      },
    };
    expect(await openOperation(early, prod, now)).toEqual({
      operation: '00000000-000000-cluster-create-0000',
      isOurs: false,
    });
  });

  it('leave none where nobody can say which is the first', async () => {
    const lost = new BkeError('BKE_KUBE_UNREACHABLE', 'no API server answers');
    const client: ClaimClient = {
      ...site.client(),
      list: async () => {
        throw lost;
      },
    };
    await expect(openOperation(client, prod, now)).rejects.toBe(lost);
    expect(ids()).toEqual([]);
  });

  it('are refused where the first is being cancelled', async () => {
    const { operation: id } = await openOperation(site, prod, now);
    await site.patch({ ...kinds.operation, namespace, name: id }, { spec: { cancelRequested: true } });
    await site.patch({ ...kinds.operation, namespace, name: id }, { status: { phase: 'Running' } });
    await expect(openOperation(site, prod, now)).rejects.toMatchObject({
      code: 'BKE_OPERATION_CONFLICT',
      message: `create of cluster prod is being cancelled: operation ${id}`,
    });
    expect(ids()).toEqual([id]);
  });
});
