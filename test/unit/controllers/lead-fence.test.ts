// What controllers write with: shut before the lease is held and after it, for the cluster and for hosts.
import { expect, it, vi } from 'vitest';
import { fencedConnect, LeadFence } from '../../../src/controllers/lead-fence.ts';
import { highestGeneration } from '../../../src/controllers/generations.ts';
import { noSuchKind } from '../../../src/kube/status-error.ts';
import { BkeError } from '../../../src/lib/errors.ts';
import { FakeCluster } from '../../fakes/kube-client.ts';

const lost = new BkeError('BKE_KUBE_CONFLICT', 'the lease was lost');
const target = {
  name: 'w1',
  address: '10.0.0.21',
  port: 22,
  user: 'root',
  auth: {},
  hostKeys: [],
  knownHostsFiles: [],
};

it('is shut until a lease is followed, and again after it', () => {
  const fence = new LeadFence();
  expect(() => fence.check()).toThrow('does not hold the lease');
  expect(fence.signal.aborted).toBe(true);
  const lease = { check: vi.fn(), signal: new AbortController().signal };
  fence.follow(lease);
  fence.check();
  expect(lease.check).toHaveBeenCalledOnce();
  expect(fence.signal).toBe(lease.signal);
  fence.follow(undefined);
  expect(() => fence.check()).toThrow('does not hold the lease');
});

it('starts no program on a host and sends no file there once the lease is lost', async () => {
  const fence = new LeadFence();
  let held = true;
  fence.follow({
    check: () => {
      if (!held) throw lost;
    },
    signal: new AbortController().signal,
  });
  const shell = {
    name: 'w1',
    run: vi.fn(async () => ({ stdout: '', stderr: '', exitCode: 0 })),
    upload: vi.fn(async () => undefined),
    close: vi.fn(async () => undefined),
  };
  const connect = fencedConnect(async () => shell, fence);
  const host = await connect(target, {});
  await host.run(['/bin/true']);
  expect(shell.run).toHaveBeenCalledOnce();
  held = false;
  await expect(host.run(['/bin/sh', '-c', 'bke reset'])).rejects.toBe(lost);
  await expect(host.upload(process.stdin, '/x', { digest: 'sha256:0', mode: 0o600 })).rejects.toBe(lost);
  await expect(connect(target, {})).rejects.toBe(lost);
  expect(shell.run).toHaveBeenCalledOnce();
  expect(shell.upload).not.toHaveBeenCalled();
  await host.close();
  expect(shell.close).toHaveBeenCalledOnce();
});

it('knows the highest generation that any host was given a command of', async () => {
  const cluster = new FakeCluster();
  expect(await highestGeneration(cluster)).toBe(0);
  for (const [name, leaseGeneration] of [
    ['a', 3],
    ['b', 11],
    ['c', 0],
  ] as const) {
    const metadata = { namespace: name, name };
    cluster.put({ apiVersion: 'bke.io/v1alpha1', kind: 'HostCommand', metadata, spec: { leaseGeneration } });
  }
  expect(await highestGeneration(cluster)).toBe(11);
  const without = { list: (): Promise<never> => Promise.reject(noSuchKind('list HostCommand', 'HostCommand')) };
  expect(await highestGeneration(without)).toBe(0);
});
