import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { environmentTask } from '../../../../src/tasks/node/environment.ts';
import { undoAll } from '../../../fakes/ledger.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

let machine: TaskHost;
beforeEach(async () => {
  machine = await taskHost();
  // As br_netfilter and nf_conntrack bring them.
  for (const name of [
    'net/bridge/bridge-nf-call-iptables',
    'net/bridge/bridge-nf-call-ip6tables',
    'net/netfilter/nf_conntrack_max',
  ]) {
    await mkdir(join(machine.root, 'proc/sys', name, '..'), { recursive: true });
    await writeFile(join(machine.root, 'proc/sys', name), '0\n');
  }
});
afterEach(() => machine.remove());

const text = (path: string): Promise<string> => readFile(join(machine.root, path), 'utf8');
const run = (nodeName = 'h1'): Promise<string[]> =>
  machine.run((scope) => environmentTask.run(scope, { nodeName, nodeIP: '10.0.0.5' }));

describe("the environment of Kubernetes' programs", () => {
  it('is made once, over the next boot as well', async () => {
    expect(await run()).toContain('module overlay');
    expect(await text('proc/sys/net/ipv4/ip_forward')).toBe('1\n');
    expect(await text('etc/sysctl.d/99-zz-bke-node.conf')).toContain('net.ipv4.ip_forward = 1\n');
    expect(await text('etc/modules-load.d/bke-node.conf')).toContain('br_netfilter\n');
    expect(await run()).toEqual([]);
  });

  it.each([
    ['128', '8192'],
    ['16384', '16384'],
  ])('makes inotify instances more where they are few (%s), never less', async (before, after) => {
    await machine.put('/proc/sys/fs/inotify/max_user_instances', `${before}\n`);
    await run();
    expect((await text('proc/sys/fs/inotify/max_user_instances')).trim()).toBe(after);
    expect(await run()).toEqual([]);
    await undoAll(machine.host);
    expect((await text('proc/sys/fs/inotify/max_user_instances')).trim()).toBe(before);
  });

  it('takes a module that shows itself for built in', async () => {
    await writeFile(join(machine.root, 'proc/filesystems'), 'nodev\toverlay\n');
    expect((await run()).filter((change) => change.startsWith('module'))).toEqual([]);
  });

  it("gives the node's name an address, unless the host has one for it", async () => {
    await run();
    expect(await text('etc/hosts')).toContain('10.0.0.5 h1 # bke: h1\n');
    await writeFile(join(machine.root, 'etc/hosts'), '127.0.0.1 localhost\n127.0.1.1\tH1.site H1 # theirs\n');
    await run();
    expect(await text('etc/hosts')).not.toContain('bke');
  });

  it('goes back', async () => {
    await run();
    await undoAll(machine.host);
    expect(await text('proc/sys/net/ipv4/ip_forward')).toBe('0\n');
    expect(await text('etc/hosts')).not.toContain('h1');
    expect(await machine.host.files.stat('/etc/modules-load.d')).toBeUndefined();
  });
});
