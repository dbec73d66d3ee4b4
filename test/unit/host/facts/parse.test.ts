// What other systems print, as facts.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gatherFacts } from '../../../../src/host/facts/gather.ts';
import { parseFacts } from '../../../../src/host/facts/parse.ts';
import type { HostFacts } from '../../../../src/host/facts/schema.ts';
import type { HostShell } from '../../../../src/host/host.ts';

const least = [
  'timeStart:1000000000',
  'hostname:w1',
  'arch:x86_64',
  'kernel:5.10.0',
  'uid:0',
  'cpus:4',
  'memory:MemTotal: 1024 kB',
  'timeEnd:1500000000',
];

function facts(...lines: string[]): HostFacts {
  return parseFacts(JSON.stringify([...lines, ...least, 'end:']), { before: 900_000_000n, after: 1_600_000_000n });
}

describe('systems', () => {
  test('the least a host can tell', () => {
    expect(facts()).toMatchObject({
      hostname: 'w1',
      arch: 'amd64',
      os: { id: 'unknown', name: 'unknown', like: [] },
      cgroup: { version: 'none' },
      libc: { kind: 'other' },
      memoryBytes: 1024 * 1024,
      swap: [],
      listeners: [],
      services: [],
      resolver: { nameservers: [], search: [] },
      selinux: { mode: 'disabled' },
      apparmor: false,
    });
    expect(JSON.parse(JSON.stringify(facts()))).not.toHaveProperty('bke');
  });

  test('os-release with and without quotes', () => {
    expect(
      facts(
        'os:ID="openEuler"',
        'os:VERSION_ID="22.03"',
        "os:PRETTY_NAME='openEuler 22.03 (LTS-SP3)'",
        'os:ID_LIKE="rhel fedora"',
        'os:EMPTY=',
      ).os,
    ).toEqual({
      id: 'openEuler',
      version: '22.03',
      name: 'openEuler 22.03 (LTS-SP3)',
      like: ['rhel', 'fedora'],
    });
    expect(facts('os:ID=arch', 'os:NAME=Arch Linux').os).toEqual({ id: 'arch', name: 'Arch Linux', like: [] });
  });

  test.each([
    ['libc:glibc 2.28', { kind: 'glibc', version: '2.28' }],
    ['libc:ldd (Ubuntu GLIBC 2.35-0ubuntu3) 2.35', { kind: 'glibc', version: '2.35' }],
    ['libc:musl libc (x86_64)', { kind: 'other' }],
    ['libc:', { kind: 'other' }],
  ])('%s', (line, libc) => {
    expect(facts(line).libc).toEqual(libc);
  });

  test('libstdc++ from its symbols, or from its file name', () => {
    expect(
      facts('glibcxx:GLIBCXX_3.4', 'glibcxx:GLIBCXX_3.4.9', 'glibcxx:GLIBCXX_3.4.25', 'glibcxx:GLIBCXX_3.4.3')
        .libstdcxx,
    ).toBe('3.4.25');
    expect(facts('libstdcxx:/usr/lib64/libstdc++.so.6.0.25').libstdcxx).toBe('3.4.25');
    expect(facts().libstdcxx).toBeUndefined();
  });

  test.each([
    [['cgroup:cgroup2fs'], '2'],
    [['cgroup:tmpfs'], '1'],
    [['cgroup:tmpfs', 'cgroup:hybrid'], 'hybrid'],
    [['cgroup:'], 'none'],
  ])('%j is cgroup version %s', (lines, version) => {
    expect(facts(...lines).cgroup.version).toBe(version);
  });

  test('swap, disks with odd mount points and without inodes', () => {
    const found = facts(
      'swap:Filename Type Size Used Priority',
      'swap:/dev/dm-1 partition 2097148 0 -2',
      'swap:/swap.img file 1024 0 -3',
      'disk:/a',
      'diskBlocks:/dev/sda1 1000 400 600 40% /mnt/my disk',
      'diskInodes:/dev/sda1 100 40 60 40% /mnt/my disk',
      'diskType:xfs',
      'disk:/b',
      'diskBlocks:rpool/x 2000 0 2000 0% /',
      'diskInodes:rpool/x 0 0 0 - /',
      'diskType:btrfs',
      'diskReadOnly:/b',
    );
    expect(found.swap).toEqual([
      { name: '/dev/dm-1', sizeBytes: 2147479552 },
      { name: '/swap.img', sizeBytes: 1048576 },
    ]);
    expect(found.disks).toEqual([
      {
        path: '/a',
        mount: '/mnt/my disk',
        device: '/dev/sda1',
        type: 'xfs',
        sizeBytes: 1024000,
        freeBytes: 614400,
        freeInodes: 60,
        readOnly: false,
      },
      {
        path: '/b',
        mount: '/',
        device: 'rpool/x',
        type: 'btrfs',
        sizeBytes: 2048000,
        freeBytes: 2048000,
        readOnly: true,
      },
    ]);
  });

  test('units, those the host has not left out', () => {
    const units = [
      'Id=containerd.service',
      'LoadState=loaded',
      'ActiveState=active',
      'UnitFileState=enabled',
      '',
      'Id=docker.service',
      'LoadState=not-found',
      'ActiveState=inactive',
      'UnitFileState=',
      '',
      'Id=firewalld.service',
      'LoadState=masked',
      'ActiveState=inactive',
      'UnitFileState=masked',
    ];
    expect(facts(...units.map((line) => `unit:${line}`)).services).toEqual([
      { name: 'containerd', active: 'active', enabled: 'enabled' },
      { name: 'firewalld', active: 'inactive', enabled: 'masked' },
    ]);
  });

  test('SELinux, input policy, proxies, traces, bke', () => {
    const found = facts(
      'selinux:1',
      'selinuxPolicy:container-selinux',
      'inputChain:	type filter hook input priority filter; policy drop;',
      'proxy:/etc/environment:http_proxy=http://***@p:3128',
      'trace:3 /etc/kubernetes',
      'bke:/usr/local/bin/bke',
      'bkeVersion:{',
      'bkeVersion:  "version": "0.1.0"',
      'synchronized:yes',
      'process:812 containerd',
    );
    expect(found).toMatchObject({
      selinux: { mode: 'enforcing', policyPackage: 'container-selinux' },
      inputPolicy: 'drop',
      clockSynchronized: true,
      proxies: [{ file: '/etc/environment', line: 'http_proxy=http://***@p:3128' }],
      traces: [{ path: '/etc/kubernetes', entries: 3 }],
      bke: { path: '/usr/local/bin/bke', version: '0.1.0' },
      processes: [{ pid: 812, name: 'containerd' }],
    });
    expect(facts('selinux:1').selinux).toEqual({
      mode: 'enforcing',
    });
  });
});

describe('network', () => {
  test('listeners of ss, with and without owner, every way it writes an address', () => {
    const found = facts(
      'socket:Netid State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess',
      'socket:udp   UNCONN 0      0      127.0.0.53%lo:53         0.0.0.0:*     users:(("systemd-resolve",pid=512,fd=13))',
      'socket:tcp   LISTEN 0      128          0.0.0.0:22         0.0.0.0:*     users:(("sshd",pid=700,fd=3),("systemd",pid=1,fd=9))',
      'socket:tcp   LISTEN 0      128             [::]:22            [::]:*',
      'socket:tcp   LISTEN 0      128                *:6443             *:*    users:(("kube-apiserver",pid=900,fd=3))',
      'socket:tcp   LISTEN 0      50               :::10250            :::*',
    );
    expect(found.listeners).toEqual([
      { protocol: 'udp', address: '127.0.0.53', port: 53, pid: 512, program: 'systemd-resolve' },
      { protocol: 'tcp', address: '0.0.0.0', port: 22, pid: 700, program: 'sshd' },
      { protocol: 'tcp', address: '::', port: 22 },
      { protocol: 'tcp', address: '*', port: 6443, pid: 900, program: 'kube-apiserver' },
      { protocol: 'tcp', address: '::', port: 10250 },
    ]);
  });

  test('a host without ss and ip', () => {
    const found = facts(
      'procSocket:tcp:   0: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1',
      'procSocket:tcp:   1: 0100007F:0016 0200007F:D431 01 0 0 0',
      'procSocket:tcp6:   0: 00000000000000000000000000000000:192B 00000000000000000000000000000000:0000 0A 0 0 0',
      'procRoute:eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0',
      'procRoute:eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    );
    expect(found.listeners).toEqual([
      { protocol: 'tcp', address: '127.0.0.1', port: 22 },
      { protocol: 'tcp', address: '::', port: 6443 },
    ]);
    expect(found.routes).toEqual([
      { destination: 'default', via: '192.0.2.1', link: 'eth0', metric: 100 },
      { destination: '192.0.2.0/24', link: 'eth0', metric: 0 },
    ]);
  });

  test('addresses, links and routes of ip', () => {
    const found = facts(
      'address:4: eth0    inet 192.0.2.2/24 brd 192.0.2.255 scope global eth0\\       valid_lft forever preferred_lft forever',
      'address:4: eth0    inet6 fe80::fc/64 scope link \\ x',
      'address:5: tun0    inet 10.8.0.2 peer 10.8.0.1/32 scope global tun0',
      'link:4: eth0@if9: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc noqueue state UP mode DEFAULT group default qlen 1000\\    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff',
      'link:5: tun0: <POINTOPOINT> mtu 1500 qdisc noop state DOWN\\ link/none',
      'route:default via 192.0.2.1 dev eth0 proto dhcp metric 100 ',
      'route:10.244.0.0/16 dev cni0 scope link ',
      'route:blackhole 10.9.0.0/16',
      'route:::1 dev lo metric 256',
    );
    expect(found.addresses).toEqual([
      { link: 'eth0', family: 'inet', address: '192.0.2.2', prefix: 24, scope: 'global' },
      { link: 'eth0', family: 'inet6', address: 'fe80::fc', prefix: 64, scope: 'link' },
      { link: 'tun0', family: 'inet', address: '10.8.0.2', prefix: 32, scope: 'global' },
    ]);
    expect(found.links).toEqual([
      { name: 'eth0', up: true, mtu: 1400, mac: '02:fc:00:00:00:01' },
      { name: 'tun0', up: false, mtu: 1500 },
    ]);
    expect(found.routes).toEqual([
      { destination: 'default', via: '192.0.2.1', link: 'eth0', metric: 100 },
      { destination: '10.244.0.0/16', link: 'cni0' },
      { destination: '::1', link: 'lo', metric: 256 },
    ]);
  });

  test('resolvers: local stub, empty, missing', () => {
    expect(
      facts(
        'resolv:# comment',
        'resolv:nameserver 127.0.0.53 # stub',
        'resolv:search a.example b.example',
        'resolvFile:/run/systemd/resolve/stub-resolv.conf',
        'resolvUpstream:/run/systemd/resolve/resolv.conf',
        'resolvUpstreamLine:# of the links',
        'resolvUpstreamLine:nameserver 10.0.0.1',
      ).resolver,
    ).toEqual({
      nameservers: ['127.0.0.53'],
      search: ['a.example', 'b.example'],
      file: '/run/systemd/resolve/stub-resolv.conf',
      upstreamFile: '/run/systemd/resolve/resolv.conf',
      upstreamNameservers: ['10.0.0.1'],
    });
    expect(facts('resolvFile:/run/gone/resolv.conf').resolver).toEqual({
      nameservers: [],
      search: [],
      upstreamNameservers: [],
    });
  });
});

describe('the clock', () => {
  test('any skew is found within the uncertainty, however the way there and back is split', () => {
    const ms = fc.integer({ min: 0, max: 5000 });
    fc.assert(
      fc.property(fc.integer({ min: -400_000_000, max: 400_000_000 }), ms, ms, ms, (skew, there, work, back) => {
        const before = 1_700_000_000_000n;
        const start = before + BigInt(there) + BigInt(skew);
        const lines = least.map((line) =>
          line
            .replace(/^timeStart:.*/, `timeStart:${start}000000`)
            .replace(/^timeEnd:.*/, `timeEnd:${start + BigInt(work)}000000`),
        );
        const asked = { before: before * 1_000_000n, after: (before + BigInt(there + work + back)) * 1_000_000n };
        const { clock } = parseFacts(JSON.stringify([...lines, 'end:']), asked);
        expect(Math.abs(clock.offsetMs - skew)).toBeLessThanOrEqual(clock.uncertaintyMs + 0.01);
        // Where the probe's own time can be told it is no part of the uncertainty.
        if (there + back > 0) expect(clock.uncertaintyMs).toBeCloseTo((there + back) / 2, 2);
      }),
    );
  });
});

describe('an answer that cannot be used', () => {
  const host = (stdout: string, exitCode = 0): HostShell => ({
    name: 'w1',
    run: () => Promise.resolve({ exitCode, stdout, stderr: '' }),
    upload: () => Promise.reject(new Error('not here')),
    close: () => Promise.resolve(),
  });

  test.each([
    ['', 'JSON'],
    ['["hostname:w1"]', 'not complete'],
    [JSON.stringify(['no colon', 'end:']), 'unexpected'],
    [JSON.stringify([...least.slice(0, 1), 'end:']), 'no hostname'],
    [JSON.stringify([...least.filter((line) => !line.startsWith('memory')), 'end:']), 'memoryBytes'],
    [JSON.stringify(['module:overlay \u001b[2Jnonsense', ...least, 'end:']), 'overlay'],
  ])('%j: %s', async (stdout, reason) => {
    await expect(gatherFacts(host(stdout, 2), { tools: [] })).rejects.toMatchObject({
      code: 'BKE_HOST_FACTS',
      host: 'w1',
      message: expect.stringContaining(reason),
      details: ['the probe ended with exit code 2'],
    });
  });
});
