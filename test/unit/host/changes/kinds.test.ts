// What is particular to one kind of change: what others do meanwhile, what the system refuses, what is restarted.
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Change } from '../../../../src/host/changes/change.ts';
import { removeTree } from '../../../../src/host/changes/remove-tree.ts';
import { openLedger } from '../../../../src/host/ledger/ledger.ts';
import { undoAll } from '../../../fakes/ledger.ts';
import { FakeHost } from '../../../fakes/fake-host.ts';

let host: FakeHost;

beforeEach(async () => {
  host = await FakeHost.make();
});

afterEach(async () => {
  await host.dispose();
});

async function apply(...changes: Change[]): Promise<boolean[]> {
  const ledger = await openLedger(host, { operation: 'op', command: 'bke init' });
  try {
    const results: boolean[] = [];
    for (const change of changes) results.push((await ledger.apply('services', change)).changed);
    return results;
  } finally {
    await ledger.close();
  }
}

function text(path: string): Promise<string> {
  return readFile(host.at(path), 'utf8');
}

describe('unit', () => {
  const unit = {
    kind: 'unit',
    name: 'one.service',
    text: '[Service]\n[Install]\nWantedBy=multi-user.target\n',
  } as const;
  const running: Change = { ...unit, enabled: true, running: true, restartKey: 'a' };

  function starts(): number {
    return host.system.units.get('one.service')?.starts ?? 0;
  }

  test('is started anew when what it depends on changes, and only then', async () => {
    expect(await apply(running, running)).toEqual([true, false]);
    expect(starts()).toBe(1);
    expect(await apply({ ...running, restartKey: 'b' }, { ...running, restartKey: 'b' })).toEqual([true, false]);
    expect(starts()).toBe(2);
  });

  test('that others start is left as it is, but restarted when it runs with an older configuration', async () => {
    const others: Change = { ...running, running: 'others' };
    expect(await apply(others, others, { ...others, restartKey: 'b' })).toEqual([true, false, true]);
    expect(starts()).toBe(0);
    await host.system.run(['systemctl', 'restart', 'one.service']);
    expect(await apply({ ...others, restartKey: 'b' })).toEqual([false]);
    expect(await apply({ ...others, restartKey: 'c' })).toEqual([true]);
    expect(starts()).toBe(2);
    expect((await undoAll(host))['unit:one.service']).toEqual({ result: 'undone' });
    expect(host.system.units.get('one.service')?.active).toBe('inactive');
  });

  test('that vanished under us is no trouble, and its links go', async () => {
    await apply(running);
    await rm(host.at('/etc/systemd/system/one.service'));
    expect((await undoAll(host))['unit:one.service']?.result).toBe('undone');
    expect(await host.files.list('/etc/systemd/system/multi-user.target.wants')).toEqual([]);
  });

  test('drop-ins of someone else stay and are named', async () => {
    await apply(running);
    await mkdir(host.at('/etc/systemd/system/one.service.d'));
    await writeFile(host.at('/etc/systemd/system/one.service.d/theirs.conf'), '[Service]\n');
    expect(await undoAll(host)).toEqual({
      'unit:one.service': {
        result: 'undone',
        why: 'drop-ins of someone else stay in /etc/systemd/system/one.service.d',
      },
    });
    expect(await host.files.list('/etc/systemd/system/one.service.d')).toEqual(['theirs.conf']);
  });

  test('of the vendor, overridden by ours, is enabled and running as before', async () => {
    await writeFile(host.at('/usr/lib/systemd/system/one.service'), 'vendor [Install]\nWantedBy=multi-user.target\n');
    await host.system.run(['systemctl', 'enable', 'one.service']);
    await host.system.run(['systemctl', 'restart', 'one.service']);
    await apply({ ...unit, enabled: false, running: false });
    expect((await undoAll(host))['unit:one.service']?.result).toBe('undone');
    expect(host.system.units.get('one.service')).toMatchObject({
      active: 'active',
      runs: expect.stringMatching(/^vendor/),
    });
    expect(await host.files.list('/etc/systemd/system/multi-user.target.wants')).toEqual(['one.service']);
  });
});

describe('hosts-entry', () => {
  const entry: Change = { kind: 'hosts-entry', address: '10.0.0.5', names: ['registry.site', 'registry'] };

  test('stands before a foreign line for one of its names, for the first one counts', async () => {
    await writeFile(host.at('/etc/hosts'), '127.0.0.1 localhost\n10.9.9.9 registry # theirs\n');
    await apply(entry);
    expect((await text('/etc/hosts')).split('\n')[1]).toBe(
      '10.0.0.5 registry.site registry # bke: registry.site registry',
    );
    await undoAll(host);
    expect(await text('/etc/hosts')).toBe('127.0.0.1 localhost\n10.9.9.9 registry # theirs\n');
  });

  test('goes from between what others wrote, byte by byte, also what is no UTF-8', async () => {
    const odd = Buffer.from([0x23, 0xff, 0xfe, 0x0a]);
    await writeFile(host.at('/etc/hosts'), Buffer.concat([odd, Buffer.from('1.1.1.1 a')]));
    await apply(entry);
    await appendFile(host.at('/etc/hosts'), '2.2.2.2 b');
    await undoAll(host);
    expect(await readFile(host.at('/etc/hosts'))).toEqual(Buffer.concat([odd, Buffer.from('1.1.1.1 a\n2.2.2.2 b')]));
  });

  test('follows a new address; a file that was not there goes again', async () => {
    await rm(host.at('/etc/hosts'));
    await apply(entry, { ...entry, address: '10.0.0.6' });
    expect(await text('/etc/hosts')).toBe('10.0.0.6 registry.site registry # bke: registry.site registry\n');
    await undoAll(host);
    expect(await host.files.stat('/etc/hosts')).toBeUndefined();
  });
});

describe('sysctl', () => {
  test('is compared without regard to tabs, and names of interfaces may have dots', async () => {
    await mkdir(host.at('/proc/sys/net/ipv4/conf/eth0.100'), { recursive: true });
    await writeFile(host.at('/proc/sys/net/ipv4/conf/eth0.100/rp_filter'), '1\n');
    expect(
      await apply(
        { kind: 'sysctl', name: 'net.ipv4.ip_local_port_range', value: '32768 60999' },
        { kind: 'sysctl', name: 'net.ipv4.conf.eth0/100.rp_filter', value: '0' },
      ),
    ).toEqual([false, true]);
    await undoAll(host);
    expect(await text('/proc/sys/net/ipv4/conf/eth0.100/rp_filter')).toBe('1\n');
  });

  test('that something else set since stays, and is named', async () => {
    await apply({ kind: 'sysctl', name: 'net.ipv4.ip_forward', value: '1' });
    await writeFile(host.at('/proc/sys/net/ipv4/ip_forward'), '2\n');
    expect(await undoAll(host)).toEqual({
      'sysctl:net.ipv4.ip_forward': { result: 'kept', why: 'something else set it to 2 since' },
    });
  });

  test('gives back what the kernel changed along with forwarding, link by link', async () => {
    const values = {
      'eth0/forwarding': '0',
      'eth1.7/forwarding': '1',
      'all/forwarding': '0',
      'default/forwarding': '1',
      'all/accept_redirects': '0',
    };
    const at = (name: string): string => host.at(`/proc/sys/net/ipv4/conf/${name}`);
    for (const [name, value] of Object.entries(values)) {
      await mkdir(dirname(at(name)), { recursive: true });
      await writeFile(at(name), `${value}\n`);
    }
    /** As the kernel does it. */
    const forward = async (value: string): Promise<void> => {
      for (const name of Object.keys(values))
        await writeFile(at(name), `${name.includes('redirects') ? 1 - Number(value) : value}\n`);
    };
    await apply({ kind: 'sysctl', name: 'net.ipv4.ip_forward', value: '1' });
    await forward('1');
    await rm(at('eth0'), { recursive: true });
    expect(await undoAll(host)).toEqual({ 'sysctl:net.ipv4.ip_forward': { result: 'undone' } });
    expect(await text('/proc/sys/net/ipv4/ip_forward')).toBe('0\n');
    for (const [name, value] of Object.entries(values).slice(1))
      expect(await readFile(at(name), 'utf8'), name).toBe(`${value}\n`);
    expect(await host.files.stat('/proc/sys/net/ipv4/conf/eth0')).toBeUndefined();
  });

  test('the kernel does not have is an error that says so', async () => {
    await expect(apply({ kind: 'sysctl', name: 'net.none', value: '1' })).rejects.toMatchObject({
      code: 'BKE_CHANGE_NOT_APPLIED',
      message: 'the kernel has no value net.none',
    });
  });
});

describe('module', () => {
  test('built in is there already; one in use stays until the next boot', async () => {
    expect(await apply({ kind: 'module', name: 'ext4' }, { kind: 'module', name: 'overlay' })).toEqual([false, true]);
    await writeFile(host.at('/proc/modules'), 'overlay 4096 1 - Live 0x0\n');
    expect(await undoAll(host)).toEqual({
      'module:overlay': {
        result: 'kept',
        why: 'in use, or the kernel does not let go of it: overlay; gone after the next boot',
      },
    });
  });

  test('that has no user and still cannot be unloaded is told, not called undone', async () => {
    await apply({ kind: 'module', name: 'overlay' });
    await writeFile(host.at('/proc/modules'), 'overlay 4096 0 [permanent], Live 0x0\n');
    expect((await undoAll(host))['module:overlay']).toMatchObject({
      result: 'kept',
      why: expect.stringContaining('overlay'),
    });
  });

  test('br_netfilter stays while the host has a bridge', async () => {
    await apply({ kind: 'module', name: 'br_netfilter' });
    await mkdir(host.at('/sys/class/net/docker0/bridge/x'), { recursive: true });
    expect((await undoAll(host))['module:br_netfilter']).toEqual({
      result: 'kept',
      why: 'in use by a bridge of this host',
    });
  });
});

describe('user', () => {
  test('that was there is not ours; one in use is left, with the reason', async () => {
    expect(await apply({ kind: 'user', name: 'daemon' }, { kind: 'user', name: 'etcd' })).toEqual([false, true]);
    host.system.busyUsers.add('etcd');
    expect(await undoAll(host)).toEqual({
      'user:etcd': { result: 'left', why: 'userdel etcd ended with exit code 8' },
    });
    host.system.busyUsers.clear();
    expect(await undoAll(host)).toEqual({ 'user:etcd': { result: 'undone' } });
    expect(await text('/etc/passwd')).toMatch(/^daemon:/m);
    expect(await host.files.stat('/etc/passwd-')).toBeUndefined();
  });
});

describe('zone', () => {
  test('what was there stays, what came goes, a link is never followed, and what changed is named', async () => {
    await mkdir(host.at('/etc/kubernetes/pki'), { recursive: true });
    await mkdir(host.at('/opt/theirs'));
    await writeFile(host.at('/opt/theirs/canary'), 'canary');
    await writeFile(host.at('/etc/kubernetes/pki/user.crt'), 'user');
    await writeFile(host.at('/etc/kubernetes/changed'), 'before');
    await apply({ kind: 'zone', path: '/etc/kubernetes' });
    await writeFile(host.at('/etc/kubernetes/pki/ca.crt'), 'ca');
    await writeFile(host.at('/etc/kubernetes/changed'), 'after');
    await mkdir(host.at('/etc/kubernetes/manifests/deep'), { recursive: true });
    await symlink('/opt/theirs', host.at('/etc/kubernetes/manifests/link'));
    expect(await undoAll(host)).toEqual({
      'zone:/etc/kubernetes': { result: 'kept', why: 'was there before and changed since: changed' },
    });
    expect(await host.files.list('/etc/kubernetes')).toEqual(['changed', 'pki']);
    expect(await host.files.list('/etc/kubernetes/pki')).toEqual(['user.crt']);
    expect(await text('/opt/theirs/canary')).toBe('canary');
  });

  test('that is a link elsewhere now is left alone', async () => {
    await mkdir(host.at('/etc/kubernetes'));
    await apply({ kind: 'zone', path: '/etc/kubernetes' });
    await rm(host.at('/etc/kubernetes'), { recursive: true });
    await mkdir(host.at('/opt/theirs'));
    await writeFile(host.at('/opt/theirs/canary'), 'canary');
    await symlink(host.at('/opt/theirs'), host.at('/etc/kubernetes'));
    expect((await undoAll(host))['zone:/etc/kubernetes']).toEqual({
      result: 'left',
      why: '/etc/kubernetes leads to /opt/theirs now, and led to /etc/kubernetes',
    });
    expect(await text('/opt/theirs/canary')).toBe('canary');
  });
});

describe('removing trees', () => {
  test.each([
    '/',
    '/home',
    '/var',
    '/var/lib',
    '/etc',
    '/usr',
    '/usr/local',
    '/data',
    '/home/user',
    '/root/.ssh',
    '/proc/sys',
    '/var/lib/',
    '/etc/../var/lib',
    '/run/systemd',
  ])('%s is refused', async (path) => {
    await expect(removeTree(host, path)).rejects.toMatchObject({ code: 'BKE_REMOVAL_REFUSED', exitCode: 3 });
  });

  test('a path that leads to a directory of the system through a link is refused', async () => {
    await symlink(host.at('/var'), host.at('/opt/link'));
    await expect(removeTree(host, '/opt/link/lib')).rejects.toMatchObject({ code: 'BKE_REMOVAL_REFUSED' });
  });

  test('nothing there is no error; a link is no tree', async () => {
    expect(await removeTree(host, '/opt/none')).toEqual({ removed: 0, left: [] });
    await symlink('/var', host.at('/opt/link'));
    expect(await removeTree(host, '/opt/link')).toEqual({
      removed: 0,
      left: [{ path: '/opt/link', why: 'it is a link, no directory' }],
    });
  });
});
