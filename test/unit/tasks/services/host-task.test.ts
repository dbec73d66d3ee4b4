import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BootstrapSettings } from '../../../../src/config/bootstrap.ts';
import { servicesHostTask } from '../../../../src/tasks/services/host-task.ts';
import { readSettings } from '../../../../src/tasks/services/records.ts';
import { noNodeSettings } from '../../../../src/config/node-settings.ts';
import { bootstrapSettings } from '../../../fakes/bootstrap-settings.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

const settings = bootstrapSettings({
  dataDir: '/data/bke',
  settings: { ...noNodeSettings, containerd: { debug: { level: 'warn' } }, kubelet: { maxPods: 60 } },
});

let machine: TaskHost;
beforeEach(async () => {
  machine = await taskHost();
  await writeFile(join(machine.root, 'etc/hosts'), '127.0.0.1 localhost\n');
});
afterEach(() => machine.remove());

const text = (path: string): Promise<string> => readFile(join(machine.root, path), 'utf8');
const run = (change: Partial<BootstrapSettings> = {}): Promise<string[]> =>
  machine.run((scope) => servicesHostTask.run(scope, { ...settings, ...change }));

describe('what the services stand on', () => {
  it('is made once', async () => {
    await run();
    expect(await run()).toEqual([]);
    expect(await readSettings(machine.host)).toEqual(settings);
    expect(await text('etc/hosts')).toContain('10.0.0.5 deploy.bke.internal');
  });

  it('writes exactly these files', async () => {
    await run();
    const golden = (name: string): string => join(import.meta.dirname, 'golden', `${name}.golden`);
    await expect(await text('etc/bke/services/settings.json')).toMatchFileSnapshot(golden('settings.json'));
    await expect(await text('etc/sysctl.d/90-bke-services.conf')).toMatchFileSnapshot(golden('90-bke-services.conf'));
    await expect(await text('etc/hosts')).toMatchFileSnapshot(golden('hosts'));
  });

  it('keeps keys where only root can look', async () => {
    await run();
    expect((await stat(join(machine.root, 'var/lib/bke/pki'))).mode & 0o777).toBe(0o700);
  });

  it('has a store of the services and files of root', async () => {
    await run();
    const owner = async (path: string): Promise<string> => {
      const { uid, mode } = await stat(join(machine.root, 'data/bke', path));
      return `${uid} ${(mode & 0o777).toString(8)}`;
    };
    expect(await owner('registry')).toBe('990 755');
    expect(await owner('files')).toBe('0 755');
    expect(await owner('charts')).toBe('0 755');
    expect(await owner('.digests')).toBe('0 755');
  });

  it('adds its ports to those that are reserved, now and after a boot', async () => {
    await writeFile(join(machine.root, 'proc/sys/net/ipv4/ip_local_reserved_ports'), '5000-5002,40443\n');
    await run();
    const value = '5000-5002,30010,36443,38080,40080,40443-40444';
    expect((await text('proc/sys/net/ipv4/ip_local_reserved_ports')).trim()).toBe(value);
    expect(await text('etc/sysctl.d/90-bke-services.conf')).toContain(`net.ipv4.ip_local_reserved_ports = ${value}\n`);
  });

  it("leaves the attributes of the site's own directory, as long as services can pass", async () => {
    await mkdir(join(machine.root, 'data/bke'), { recursive: true });
    await chmod(join(machine.root, 'data/bke'), 0o711);
    await run();
    expect((await stat(join(machine.root, 'data/bke'))).mode & 0o777).toBe(0o711);
    await chmod(join(machine.root, 'data/bke'), 0o700);
    await run();
    expect((await stat(join(machine.root, 'data/bke'))).mode & 0o777).toBe(0o755);
  });
});
