import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gatherFacts } from '../../../../src/host/facts/gather.ts';
import { openLocalHost } from '../../../../src/host/local/local-host.ts';
import type { HostNeeds } from '../../../../src/tasks/preflight/check.ts';
import { addressesOf } from '../../../../src/tasks/preflight/host-address.ts';
import { machineOf, type OwnThings } from '../../../../src/tasks/preflight/machine.ts';
import { ownThingsOf, readOwnThings } from '../../../../src/tasks/preflight/own-things.ts';
import { taskHost } from '../../../fakes/task-host.ts';

const needs: HostNeeds = {
  ports: [],
  space: [{ path: '/var/lib/none/of/this', bytes: 1, use: 'x' }],
  tools: ['mount', 'no-such-program'],
  reachable: ['/var/lib/none'],
  runtime: true,
};
const nothing: OwnThings = { services: new Set(), pids: new Set(), directories: [], zones: new Set() };
const host = await openLocalHost();
const facts = async () => gatherFacts(host, { paths: ['/var/lib/none/of/this'], tools: needs.tools });

describe('this machine, as checks see it', () => {
  it('has the programs of its ports, ours told from others', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const found = await facts();
    const listeners = (own: OwnThings) =>
      machineOf(found, needs, { own, asked: new Date() }).listeners.filter((listener) => listener.port === port);
    expect(listeners(nothing)).toMatchObject([{ pid: process.pid, ours: false }]);
    expect(listeners({ ...nothing, pids: new Set([process.pid]) })).toMatchObject([{ ours: true }]);
    await new Promise((resolve) => server.close(resolve));
  });

  it('has room where a path will be, and lacks what it lacks', async () => {
    const found = await facts();
    const machine = machineOf(found, needs, { own: await readOwnThings(host, needs, found), asked: new Date() });
    expect(machine.missingTools).toEqual(['no-such-program']);
    expect(machine.free.get('/var/lib/none/of/this')?.bytes).toBeGreaterThan(0);
    expect(machine.directories.map(({ path }) => path)).toEqual(['/', '/var', '/var/lib']);
    expect(Math.abs(machine.now.getTime() - Date.now())).toBeLessThan(5000);
  });

  it('has runtimes of others, by service, by process, or by what they left', async () => {
    const plain = { ...(await facts()), services: [], processes: [], traces: [] };
    const runtimes = (change: object, own = nothing) =>
      machineOf({ ...plain, ...change }, needs, { own, asked: new Date() }).runtimes.map(
        ({ what, ours }) => `${what} ${ours}`,
      );
    expect(runtimes({})).toEqual([]);
    const services = [
      { name: 'containerd', active: 'active' },
      { name: 'chronyd', active: 'active' },
    ];
    expect(runtimes({ services })).toEqual(['containerd.service (active) false']);
    expect(runtimes({ services }, { ...nothing, services: new Set(['containerd']) })).toEqual([
      'containerd.service (active) true',
    ]);
    const processes = [
      { pid: 7, name: 'dockerd' },
      { pid: 8, name: 'chronyd' },
    ];
    expect(runtimes({ processes })).toEqual(['the process dockerd (pid 7) false']);
    const traces = [{ path: '/etc/kubernetes/manifests', entries: 1 }];
    expect(runtimes({ traces })).toEqual(['what a cluster left in /etc/kubernetes/manifests false']);
    const own = { ...nothing, zones: new Set(['/etc/kubernetes']) };
    expect(runtimes({ traces }, own)).toEqual(['what a cluster left in /etc/kubernetes/manifests true']);
  });

  it('has what a cluster of before left only where a new one would stumble over it', async () => {
    const left = ['/etc/kubernetes/admin.conf', '/etc/kubernetes/pki', '/var/lib/etcd'];
    const traces = left.map((path) => ({ path, entries: 2 }));
    const plain = { ...(await facts()), services: [], processes: [], traces };
    const kubernetes = {
      kind: 'kubeadm',
      version: 'v1.36.3',
      controlPlane: true,
      file: 'cluster.yaml',
      vxlan: true,
      failCgroupV1: undefined,
      networks: [],
    } as const;
    const runtimes = (wanted: HostNeeds) =>
      machineOf(plain, wanted, { own: nothing, asked: new Date() }).runtimes.map(({ what }) => what);
    expect(runtimes(needs)).toEqual([]);
    expect(runtimes({ ...needs, kubernetes })).toEqual(left.map((path) => `what a cluster left in ${path}`));
  });

  it('has the networks of its links and routes, without those of pods', async () => {
    const address = { link: 'eth0', family: 'inet', address: '10.0.0.5', prefix: 24, scope: 'global' } as const;
    const plain = {
      ...(await facts()),
      addresses: [address, { ...address, link: 'cni0', address: '100.72.0.1' }],
      routes: [
        { destination: 'default', via: '10.0.0.1', link: 'eth0' },
        { destination: '10.0.0.0/24', link: 'eth0' },
        { destination: '100.72.0.0/24', link: 'cni0' },
        { destination: '100.73.7.7', via: '10.0.0.9', link: 'eth0' },
      ],
    };
    const { networks, defaultRoute } = machineOf(plain, needs, { own: nothing, asked: new Date() });
    expect([networks, defaultRoute]).toEqual([
      [
        { cidr: '10.0.0.5/24', what: 'the network of eth0', address: '10.0.0.5' },
        { cidr: '100.73.7.7/32', what: 'a route by 10.0.0.9 on eth0' },
      ],
      true,
    ]);
  });
});

describe('what is ours on a host', () => {
  it('is a zone of its ledger', async () => {
    const machine = await taskHost();
    await machine.run(async (scope) => {
      await scope.apply({ kind: 'zone', path: '/etc/kubernetes' });
    });
    const own = await readOwnThings(
      machine.host,
      { ...needs, reachable: [] },
      { own: { units: ['kubelet'], pids: [7] } },
    );
    expect(own).toMatchObject({
      services: new Set(['kubelet']),
      pids: new Set([7]),
      zones: new Set(['/etc/kubernetes']),
    });
    await machine.remove();
  });

  it('is what a kubelet of ours fills, where no ledger can be read', () => {
    const zones = (units: string[]) => [...ownThingsOf({ own: { units, pids: [] } }).zones];
    expect(zones(['kubelet'])).toEqual(expect.arrayContaining(['/etc/kubernetes', '/var/lib/containerd']));
    expect(zones(['bke-files'])).toEqual([]);
  });
});

describe('addresses of a host', () => {
  const address = (link: string, text: string, scope = 'global') => ({
    link,
    family: text.includes(':') ? ('inet6' as const) : ('inet' as const),
    address: text,
    prefix: 24,
    scope,
  });
  const addresses = [
    address('lo', '127.0.0.1', 'host'),
    address('eth0', '10.0.0.5'),
    address('eth0', 'fe80::1', 'link'),
    address('eth1', '10.1.0.5'),
    address('cni0', '10.250.0.1'),
  ];

  it('are those that other machines can reach', () => {
    expect(addressesOf({ addresses, routes: [] })).toEqual({
      defaultSource: undefined,
      global: ['10.0.0.5', '10.1.0.5'],
    });
  });

  it('include that of the default route with the lowest metric', () => {
    const routes = [
      { destination: 'default', via: '10.0.0.1', link: 'eth0', metric: 200 },
      { destination: 'default', via: '10.1.0.1', link: 'eth1', metric: 100 },
      { destination: '10.0.0.0/24', link: 'eth0' },
    ];
    expect(addressesOf({ addresses, routes }).defaultSource).toBe('10.1.0.5');
  });
});
