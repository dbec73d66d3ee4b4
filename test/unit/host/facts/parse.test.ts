// What other systems print, as facts.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gatherFacts } from '../../../../src/host/facts/gather.ts';
import { parseFacts } from '../../../../src/host/facts/parse.ts';
import type { HostShell } from '../../../../src/host/host.ts';
import { facts, least } from './probed-facts.ts';

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
