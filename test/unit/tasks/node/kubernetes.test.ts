import { createHash } from 'node:crypto';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type KubernetesParameters, kubernetesTask } from '../../../../src/tasks/node/kubernetes.ts';
import type { ProgramArtifact } from '../../../../src/tasks/node/programs.ts';
import { undoAll } from '../../../fakes/ledger.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

let machine: TaskHost;

async function program(name: string): Promise<ProgramArtifact> {
  await machine.put(`/srv/${name}`, name);
  const digest = `sha256:${createHash('sha256').update(name).digest('hex')}`;
  return { name, version: 'v1.36.3', type: 'binary', source: `/srv/${name}`, digest };
}

beforeEach(async () => {
  machine = await taskHost();
  await machine.put('/etc/resolv.conf', 'nameserver 10.0.0.2\n');
  await machine.put('/proc/sys/kernel/panic', '0\n');
});
afterEach(() => machine.remove());

async function install(change: Partial<KubernetesParameters> = {}): Promise<string[]> {
  const parameters: KubernetesParameters = {
    kubeadm: await program('kubeadm'),
    kubelet: await program('kubelet'),
    kubectl: await program('kubectl'),
    nodeIP: '10.0.0.5',
    settings: { kubelet: {}, kubeProxy: {} },
    ...change,
  };
  return machine.run((scope) => kubernetesTask.run(scope, parameters));
}

const golden = (name: string): string => join(import.meta.dirname, 'golden', `${name}.golden`);

describe('the programs of a node', () => {
  it('are put in place, and the kubelet is left for kubeadm to start', async () => {
    await install({ settings: { kubelet: { maxPods: 60, evictionHard: null }, kubeProxy: {} } });
    await expect(await machine.text('/etc/systemd/system/kubelet.service')).toMatchFileSnapshot(
      golden('kubelet.service'),
    );
    await expect(await machine.text('/etc/kubernetes/kubelet.conf.d/10-bke.conf')).toMatchFileSnapshot(
      golden('10-bke.conf'),
    );
    await expect(await machine.text('/etc/kubernetes/kubelet.conf.d/50-settings.conf')).toMatchFileSnapshot(
      golden('50-settings.conf'),
    );
    expect(await machine.host.files.readLink('/usr/local/bin/kubeadm')).toBe(
      '/usr/local/libexec/bke/kubeadm-v1.36.3/kubeadm',
    );
    expect(machine.systemctlCalls()).toEqual(['daemon-reload', 'enable kubelet.service']);
  });

  it('are left alone when they are so already, and a kubelet that runs takes up other settings', async () => {
    await install();
    await machine.host.run(['systemctl', 'restart', 'kubelet.service']);
    machine.systemctlCalls();
    expect(await install()).toEqual([]);
    expect(machine.systemctlCalls()).toEqual([]);
    await install({ settings: { kubelet: { maxPods: 70 }, kubeProxy: {} } });
    expect(machine.systemctlCalls()).toContain('restart kubelet.service');
  });

  it.each<[string, string | undefined, string, string | undefined]>([
    ['a server of the site', 'nameserver 10.0.0.2\n', '/etc/resolv.conf', undefined],
    ['a server of its own alone (dnsmasq)', 'nameserver 127.0.0.1\n', '/etc/kubernetes/resolv.conf', '10.0.0.5'],
    ['that of a resolver that does not run', 'nameserver 127.0.0.53\n', '/etc/kubernetes/resolv.conf', '10.0.0.5'],
    ['an empty file', '', '/etc/kubernetes/resolv.conf', '10.0.0.5'],
    ['no file', undefined, '/etc/kubernetes/resolv.conf', '10.0.0.5'],
    ['a link that leads nowhere', '-> /run/none', '/etc/kubernetes/resolv.conf', '10.0.0.5'],
  ])('give pods a name server that answers where the host has %s', async (_what, text, given, server) => {
    await rm(machine.at('/etc/resolv.conf'));
    if (text?.startsWith('-> ') === true) await symlink(machine.at(text.slice(3)), machine.at('/etc/resolv.conf'));
    else if (text !== undefined) await machine.put('/etc/resolv.conf', text);
    await install();
    expect(await machine.text('/etc/kubernetes/kubelet.conf.d/10-bke.conf')).toContain(`"resolvConf": "${given}"`);
    const own = await machine.host.files.read('/etc/kubernetes/resolv.conf');
    expect(/^nameserver (.*)$/m.exec(own?.toString() ?? '')?.[1]).toBe(server);
  });

  it("look behind systemd-resolved's own server", async () => {
    await machine.put('/etc/resolv.conf', 'nameserver 127.0.0.53\n');
    await machine.put('/run/systemd/resolve/resolv.conf', 'nameserver 10.0.0.2\n');
    await machine.put('/etc/systemd/system/systemd-resolved.service', '[Service]\n');
    await machine.host.run(['systemctl', 'restart', 'systemd-resolved.service']);
    await install();
    expect(await machine.text('/etc/kubernetes/kubelet.conf.d/10-bke.conf')).toContain(
      '"resolvConf": "/run/systemd/resolve/resolv.conf"',
    );
    expect(await machine.host.files.stat('/etc/kubernetes/resolv.conf')).toBeUndefined();
  });

  it('take nothing with them that was there: kernel values, directories, the lock of iptables', async () => {
    await install();
    expect(await machine.text('/proc/sys/kernel/panic')).toBe('10\n');
    // What others put into the zones in the meantime.
    await machine.put('/etc/kubernetes/admin.conf', 'x');
    await machine.put('/var/lib/kubelet/config.yaml', 'x');
    expect(Object.values(await undoAll(machine.host)).map(({ result }) => result)).not.toContain('kept');
    expect(await machine.text('/proc/sys/kernel/panic')).toBe('0\n');
    for (const path of [
      '/var/lib/kubelet',
      '/lib/modules/x',
      '/run/xtables.lock',
      '/usr/local/bin/kubelet',
      '/etc/ssl',
    ])
      expect(await machine.host.files.stat(path), path).toBeUndefined();
  });
});
