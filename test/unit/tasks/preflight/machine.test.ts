import { createServer } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gatherFacts } from '../../../../src/host/facts/gather.ts';
import { openLocalHost } from '../../../../src/host/local/local-host.ts';
import type { HostNeeds } from '../../../../src/tasks/preflight/check.ts';
import { addressesOf } from '../../../../src/tasks/preflight/host-address.ts';
import { machineOf, type OwnThings } from '../../../../src/tasks/preflight/machine.ts';
import { readOwnThings } from '../../../../src/tasks/preflight/own-things.ts';
import { taskHost } from '../../../fakes/task-host.ts';

const needs: HostNeeds = {
  ports: [],
  space: [{ path: '/var/lib/none/of/this', bytes: 1, use: 'x' }],
  tools: ['mount', 'no-such-program'],
  reachable: ['/var/lib/none'],
  runtime: true,
};
const nothing: OwnThings = { services: new Set(), pids: new Set(), directories: [] };
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
    const machine = machineOf(await facts(), needs, { own: await readOwnThings(host, needs), asked: new Date() });
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
    expect(runtimes({ traces })).toEqual(['what a control plane left in /etc/kubernetes/manifests false']);
  });
});

describe('what is ours on a host', () => {
  it('is a unit that says so in its first line', async () => {
    const machine = await taskHost();
    const units = join(machine.root, 'etc/systemd/system');
    await mkdir(units, { recursive: true });
    await writeFile(
      join(units, 'containerd.service'),
      '# Written by bke. Edits are lost when bke runs again.\n[Unit]\n',
    );
    await writeFile(join(units, 'docker.service'), '[Unit]\n# Written by bke\n');
    const own = await readOwnThings(machine.host, { ...needs, reachable: [] });
    expect([...own.services]).toEqual(['containerd']);
    await machine.remove();
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
