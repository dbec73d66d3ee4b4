import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chronyConfig, setTimeServers } from '../../../../src/tasks/node/time-servers.ts';
import { undoAll } from '../../../fakes/ledger.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

let machine: TaskHost;
const text = (path: string): Promise<string> => readFile(join(machine.root, path), 'utf8');
const set = (): Promise<string[]> => machine.run((scope) => setTimeServers(scope, ['10.0.0.1', 'time.example.org']));

async function put(path: string, content: string): Promise<void> {
  await mkdir(join(machine.root, path, '..'), { recursive: true });
  await writeFile(join(machine.root, path), content);
}

async function service(name: string): Promise<void> {
  await put(`/usr/lib/systemd/system/${name}`, '[Service]\n');
  await machine.host.run(['systemctl', 'restart', name]);
  machine.systemctlCalls();
}

beforeEach(async () => {
  machine = await taskHost();
});
afterEach(() => machine.remove());

describe('time servers of a host', () => {
  it('go to chrony where it runs, which reads them at once and gives them back', async () => {
    await service('chronyd.service');
    await put('/etc/chrony.conf', 'pool 2.example.org iburst\ndriftfile /var/lib/chrony/drift\n');
    expect(await set()).toEqual(['file /etc/chrony.conf']);
    expect(await text('/etc/chrony.conf')).toBe(
      '# bke: pool 2.example.org iburst\ndriftfile /var/lib/chrony/drift\n' +
        'server 10.0.0.1 iburst # bke: time server\nserver time.example.org iburst # bke: time server\n',
    );
    expect(machine.systemctlCalls()).toEqual(['try-restart chronyd.service']);
    expect(await set()).toEqual([]);
    await undoAll(machine.host);
    expect(await text('/etc/chrony.conf')).toBe('pool 2.example.org iburst\ndriftfile /var/lib/chrony/drift\n');
    expect(machine.systemctlCalls()).toEqual(['try-restart chronyd.service']);
  });

  it('go to systemd-timesyncd elsewhere', async () => {
    await service('systemd-timesyncd.service');
    expect(await set()).toEqual(['file /etc/systemd/timesyncd.conf.d/50-bke.conf']);
    expect(await text('/etc/systemd/timesyncd.conf.d/50-bke.conf')).toContain('NTP=10.0.0.1 time.example.org\n');
    expect(machine.systemctlCalls()).toEqual(['try-restart systemd-timesyncd.service']);
  });

  it('are an error where nothing keeps the time', async () => {
    await expect(set()).rejects.toMatchObject({ code: 'BKE_TIME_SERVICE_MISSING' });
  });

  it('of other data take the place of the former', () => {
    const once = chronyConfig('pool a\n', ['b']);
    expect(chronyConfig(once, ['b'])).toBe(once);
    expect(chronyConfig(once, ['c'])).toBe('# bke: pool a\nserver c iburst # bke: time server\n');
  });
});
