import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noNodeSettings } from '../../../../../src/config/node-settings.ts';
import { openLedger } from '../../../../../src/host/ledger/ledger.ts';
import { type K3sParameters, k3sInstallTask } from '../../../../../src/tasks/bootstrap-cluster/k3s/install.ts';
import { type TaskHost, taskHost } from '../../../../fakes/task-host.ts';

let machine: TaskHost;

beforeEach(async () => {
  machine = await taskHost();
});
afterEach(() => machine.remove());

const at = (path: string): string => join(machine.root, path);
const text = (path: string): Promise<string> => readFile(at(path), 'utf8');
const mode = async (path: string): Promise<string> => ((await stat(at(path))).mode & 0o7777).toString(8);
const put = async (path: string, content: string): Promise<void> => {
  await mkdir(dirname(at(path)), { recursive: true });
  await writeFile(at(path), content);
};

async function install(change: Partial<K3sParameters> = {}, program = 'the program'): Promise<string[]> {
  const hex = createHash('sha256').update(program).digest('hex');
  await put(`/srv/files/k3s-${hex}`, program);
  const parameters: K3sParameters = {
    k3s: {
      name: 'k3s',
      version: 'v1.36.3+k3s1',
      type: 'binary',
      source: `/srv/files/k3s-${hex}`,
      digest: `sha256:${hex}`,
    },
    pauseImage: 'registry.k8s.io/pause:3.10.2',
    corednsImage: 'registry.k8s.io/coredns/coredns:v1.14.2',
    nodeName: 'boot',
    hostIP: '10.0.0.5',
    port: 36_443,
    podCIDR: '100.72.0.0/16',
    serviceCIDR: '100.73.0.0/16',
    clusterDNS: '100.73.0.10',
    registryHost: 'deploy.bke.internal:40443',
    mirrored: ['docker.io', 'registry.k8s.io'],
    settings: noNodeSettings,
    ...change,
  };
  return machine.run((scope) => k3sInstallTask.run(scope, { ...parameters, ca: 'PEM\n' }));
}

/** What a K3s that runs puts into its places. */
async function fill(): Promise<void> {
  await put('/etc/rancher/k3s/k3s.yaml', 'clusters: []\n');
  await put('/etc/rancher/node/password', 'secret\n');
  await put('/var/lib/rancher/k3s/agent/etc/containerd/config.toml', 'version = 3\n');
  await put('/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/00-k3s-defaults.conf', '{}\n');
  await put('/var/lib/rancher/k3s/server/manifests/rolebindings.yaml', '{}\n');
  await put('/var/lib/rancher/k3s/server/db/state.db', 'x');
  await put('/var/lib/rancher/k3s/data/abc/bin/containerd', 'x');
  await put('/var/lib/kubelet/pods/p/f', 'x');
  await put('/run/k3s/containerd/containerd.sock', '');
  await put('/var/lib/cni/networks/cbr0/100.72.0.2', 'x');
  await put('/var/log/pods/p/0.log', 'x');
}

async function everything(): Promise<string[]> {
  const entries = await readdir(machine.root, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => join(entry.parentPath, entry.name).slice(machine.root.length));
  return paths.filter((path) => !/^\/(proc|srv|var\/lib\/bke)(\/|$)/.test(path)).sort();
}

describe('K3s', () => {
  it('is put in place by unit, files and links', async () => {
    await install();
    await expect(await text('/etc/systemd/system/k3s.service')).toMatchFileSnapshot(
      join(import.meta.dirname, 'golden/k3s.service.golden'),
    );
    await expect(await text('/var/lib/rancher/k3s/server/manifests/bke-coredns.yaml')).toMatchFileSnapshot(
      join(import.meta.dirname, 'golden/bke-coredns.yaml.golden'),
    );
    const program = '/usr/local/libexec/bke/k3s-v1.36.3+k3s1/k3s';
    expect([
      await mode(program),
      await readlink(at('/usr/local/bin/k3s')),
      await readlink(at('/usr/local/bin/kubectl')),
    ]).toEqual(['755', program, program]);
    expect(await text('/etc/rancher/k3s/site-ca.crt')).toBe('PEM\n');
    expect(machine.systemctlCalls()).toEqual([
      'daemon-reload',
      'enable k3s.service',
      'reset-failed k3s.service',
      'restart k3s.service',
    ]);
  });

  it('is left alone when it is so already, also after it has filled its places', async () => {
    await install();
    await fill();
    machine.systemctlCalls();
    expect(await install()).toEqual([]);
    expect(machine.systemctlCalls()).toEqual([]);
  });

  it('starts anew when what it reads at start differs, and not for what it reads at any time', async () => {
    await install();
    machine.systemctlCalls();
    await install({ corednsImage: 'registry.k8s.io/coredns/coredns:v1.14.3' });
    expect(machine.systemctlCalls()).toEqual([]);
    await install({ mirrored: ['docker.io', 'quay.io', 'registry.k8s.io'] });
    expect(machine.systemctlCalls()).toContain('restart k3s.service');
    await install({ settings: { ...noNodeSettings, kubelet: { maxPods: 60 } } });
    expect(machine.systemctlCalls()).toContain('restart k3s.service');
    await install({}, 'another build');
    expect(machine.systemctlCalls()).toContain('restart k3s.service');
  });

  it('takes no program that is not what the bundle promised', async () => {
    const k3s = {
      name: 'k3s',
      version: 'v1',
      type: 'binary',
      source: '/etc/hosts',
      digest: `sha256:${'0'.repeat(64)}`,
    } as const;
    await expect(install({ k3s })).rejects.toMatchObject({ code: 'BKE_DIGEST_MISMATCH' });
    expect(machine.systemctlCalls()).toEqual([]);
  });

  it('gives settings of kubelet and containerd a file of their own each, empty ones as well', async () => {
    await install();
    expect(JSON.parse((await text('/etc/rancher/k3s/kubelet.yaml')).replace(/^#.*/, ''))).toEqual({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
    });
    const containerd = { plugins: { 'io.containerd.cri.v1.runtime': { restrict_oom_score_adj: true } } };
    await install({ settings: { ...noNodeSettings, containerd } });
    const dropIn = await text('/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/50-bke.toml');
    expect(dropIn).toContain("[plugins.'io.containerd.cri.v1.runtime']\nrestrict_oom_score_adj = true\n");
  });

  it("names no server of others where pods cannot reach the host's own", async () => {
    await put('/etc/resolv.conf', 'search site.example\nnameserver 127.0.0.53\n');
    await install();
    expect(await text('/etc/rancher/k3s/config.yaml')).toContain('resolv-conf: /etc/rancher/k3s/resolv.conf\n');
    expect(await text('/etc/rancher/k3s/resolv.conf')).toMatch(/^search site\.example\nnameserver 10\.0\.0\.5$/m);
    await put('/run/systemd/resolve/resolv.conf', 'nameserver 10.0.0.1\n');
    await install();
    expect(await text('/etc/rancher/k3s/config.yaml')).toContain('resolv-conf: /run/systemd/resolve/resolv.conf\n');
    await put('/etc/resolv.conf', 'nameserver 10.0.0.2\n');
    await install();
    expect(await text('/etc/rancher/k3s/config.yaml')).toContain('resolv-conf: /etc/resolv.conf\n');
  });
});

describe('the token of K3s', () => {
  it('is made once, is long, and is of root alone', async () => {
    await install();
    const token = await text('/etc/rancher/k3s/token');
    expect(token).toMatch(/^[0-9a-f]{64}\n$/);
    expect(await mode('/etc/rancher/k3s/token')).toBe('600');
    await install();
    expect(await text('/etc/rancher/k3s/token')).toBe(token);
  });

  it('differs from install to install', async () => {
    await install();
    const first = await text('/etc/rancher/k3s/token');
    await machine.remove();
    machine = await taskHost();
    await install();
    expect(await text('/etc/rancher/k3s/token')).not.toBe(first);
  });

  it('is taken from K3s where only the file is lost', async () => {
    await put('/var/lib/rancher/k3s/server/token', `K10${'a'.repeat(64)}::server:the-old-one\n`);
    await install();
    expect(await text('/etc/rancher/k3s/token')).toBe('the-old-one\n');
  });

  it('is nowhere else: in no argument, no unit, no other file and not in the ledger', async () => {
    await install();
    const token = (await text('/etc/rancher/k3s/token')).trim();
    for (const path of await everything()) {
      if (path === '/etc/rancher/k3s/token' || !(await lstat(at(path))).isFile()) continue;
      expect(await text(path), path).not.toContain(token);
    }
    expect(await text('/var/lib/bke/ledger/ledger.jsonl')).not.toContain(token);
  });
});

describe('the way back', () => {
  it('gives a host back as it was, whatever K3s has put into its places, volumes excepted', async () => {
    await put('/etc/rancher/rke2/mine.yaml', 'mine');
    const before = await everything();
    await install();
    await fill();
    await put('/var/lib/rancher/k3s/storage/pvc-1/data', 'precious');
    const ledger = await openLedger(machine.host, { operation: 'test', command: 'reset' });
    const left: string[] = [];
    for (const resource of ledger.resources()) {
      const { result, why } = await ledger.undo(resource, ['/var/lib/rancher/k3s/storage']);
      if (result === 'left' || result === 'kept') left.push(`${resource.key}: ${why}`);
    }
    await ledger.close();
    expect(left).toEqual([
      'directory:/var/lib/rancher/k3s: only what stays is in it',
      'directory:/var/lib/rancher: only what stays is in it',
    ]);
    const volume = ['', '/storage', '/storage/pvc-1', '/storage/pvc-1/data'].map(
      (path) => `/var/lib/rancher/k3s${path}`,
    );
    expect((await everything()).filter((path) => !before.includes(path))).toEqual(['/var/lib/rancher', ...volume]);
    expect(before.filter((path) => path.startsWith('/etc/rancher'))).not.toEqual([]);
    expect(await text('/etc/rancher/rke2/mine.yaml')).toBe('mine');
  });
});
