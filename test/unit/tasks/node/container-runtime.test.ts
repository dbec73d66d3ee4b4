import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ContainerRuntimeParameters,
  containerRuntimeTask,
  type RegistryCa,
} from '../../../../src/tasks/node/container-runtime.ts';
import type { ProgramArtifact } from '../../../../src/tasks/node/programs.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

let machine: TaskHost;

async function archive(files: readonly string[]): Promise<Buffer> {
  const tar = pack();
  for (const name of files)
    tar.entry({ name, mode: name.endsWith('LICENSE') ? 0o644 : 0o755, mtime: new Date(0) }, `#!${name}\n`);
  tar.finalize();
  return buffer(tar.pipe(createGzip()));
}

type Wanted = ContainerRuntimeParameters & RegistryCa;

async function artifact(name: string, type: 'binary' | 'archive', content: Buffer): Promise<ProgramArtifact> {
  const hex = createHash('sha256').update(content).digest('hex');
  const source = `/srv/${name}-${hex}`;
  await mkdir(join(machine.root, 'srv'), { recursive: true });
  await writeFile(join(machine.root, source), content);
  return { name, version: 'v1', type, source, digest: `sha256:${hex}` };
}

async function parameters(change: Partial<Wanted> = {}): Promise<Wanted> {
  return {
    containerd: await artifact(
      'containerd',
      'archive',
      await archive(['bin/containerd', 'bin/containerd-shim-runc-v2', 'bin/ctr']),
    ),
    runc: await artifact('runc', 'binary', Buffer.from('runc')),
    crictl: await artifact('crictl', 'archive', await archive(['crictl'])),
    cniPlugins: await artifact('cni-plugins', 'archive', await archive(['bridge', 'loopback', 'LICENSE'])),
    registryHost: 'deploy.bke.internal:40443',
    ca: 'PEM\n',
    mirrored: ['docker.io', 'registry.k8s.io'],
    sandboxImage: 'registry.k8s.io/pause:3.10.2',
    settings: {},
    ...change,
  };
}

async function tree(): Promise<string[]> {
  const entries = await readdir(machine.root, { recursive: true, withFileTypes: true });
  const lines = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const shown = path.slice(machine.root.length);
    const mode = entry.isSymbolicLink() ? 'link' : ((await stat(path)).mode & 0o7777).toString(8);
    return `${mode} ${shown}`;
  });
  return (await Promise.all(lines)).filter((line) => !line.includes('/var/lib/bke')).sort();
}

beforeEach(async () => {
  machine = await taskHost();
});
afterEach(() => machine.remove());

const install = async (change: Partial<Wanted> = {}): Promise<string[]> => {
  const wanted = await parameters(change);
  return machine.run((scope) => containerRuntimeTask.run(scope, wanted));
};
const text = (path: string): Promise<string> => readFile(join(machine.root, path), 'utf8');

describe('the container runtime', () => {
  it('is put in place, configured and started', async () => {
    await install();
    const unit = await text('etc/systemd/system/containerd.service');
    await expect(unit).toMatchFileSnapshot(join(import.meta.dirname, 'golden/containerd.service.golden'));
    expect(await text('etc/containerd/certs.d/docker.io/hosts.toml')).toContain(
      "server = 'https://deploy.bke.internal:40443/v2/docker.io'",
    );
    expect(await text('etc/containerd/certs.d/deploy.bke.internal:40443/hosts.toml')).toContain(
      "'https://deploy.bke.internal:40443/v2'",
    );
    expect(await text('etc/containerd/site-ca.crt')).toBe('PEM\n');
    expect(await readdir(join(machine.root, 'opt/cni/bin'))).toEqual(['bridge', 'loopback']);
    expect(machine.systemctlCalls()).toEqual([
      'daemon-reload',
      'enable containerd.service',
      'reset-failed containerd.service',
      'restart containerd.service',
    ]);
  });

  it('is started once more where its part for Kubernetes did not come up, which it never tries again by itself', async () => {
    const crictl = (exitCode: number, stderr: string) =>
      machine.system.others.set('crictl', { exitCode, stdout: '', stderr });
    await install();
    machine.systemctlCalls();
    crictl(1, 'rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService');
    const installing = install();
    await expect.poll(() => machine.systemctlCalls()).toContain('restart containerd.service');
    crictl(0, '');
    expect(await installing).toEqual([]);
  });

  it('is left alone when it is so already', async () => {
    await install();
    machine.systemctlCalls();
    expect(await install()).toEqual([]);
    expect(machine.systemctlCalls()).toEqual([]);
  });

  it('is restarted when its configuration changes, and not when only a mirror is added', async () => {
    await install();
    machine.systemctlCalls();
    await install({ mirrored: ['docker.io', 'quay.io', 'registry.k8s.io'] });
    expect(machine.systemctlCalls()).toEqual([]);
    await install({ settings: { plugins: { 'io.containerd.cri.v1.runtime': { restrict_oom_score_adj: true } } } });
    expect(machine.systemctlCalls()).toContain('restart containerd.service');
  });

  it('uses the systemd driver with cgroup v2 only', async () => {
    await install();
    expect(await text('etc/containerd/config.toml')).toContain('SystemdCgroup = false');
    await mkdir(join(machine.root, 'sys/fs/cgroup'), { recursive: true });
    await writeFile(join(machine.root, 'sys/fs/cgroup/cgroup.controllers'), 'cpu\n');
    await install();
    expect(await text('etc/containerd/config.toml')).toContain('SystemdCgroup = true');
  });

  it('refuses an archive that lacks a program', async () => {
    const containerd = await artifact('containerd', 'archive', await archive(['bin/containerd', 'bin/ctr']));
    await expect(install({ containerd })).rejects.toMatchObject({ code: 'BKE_ARTIFACT_MISSING' });
  });

  it('takes no file that is not what the bundle promised', async () => {
    const runc = { ...(await artifact('runc', 'binary', Buffer.from('runc'))), digest: `sha256:${'0'.repeat(64)}` };
    await expect(install({ runc })).rejects.toMatchObject({ code: 'BKE_DIGEST_MISMATCH' });
  });

  it('gives everything the same modes whatever the umask', async () => {
    const trees: string[][] = [];
    const before = process.umask();
    for (const umask of [0o022, 0o077, 0o000]) {
      await machine.remove();
      machine = await taskHost();
      await chmod(machine.root, 0o755);
      const wanted = await parameters();
      process.umask(umask);
      try {
        await machine.run((scope) => containerRuntimeTask.run(scope, wanted));
      } finally {
        process.umask(before);
      }
      trees.push((await tree()).filter((line) => !line.includes('/srv')));
    }
    expect(trees[1]).toEqual(trees[0]);
    expect(trees[2]).toEqual(trees[0]);
    expect(trees[0]).toContain('755 /usr/local/libexec/bke/runc-v1/runc');
    expect(trees[0]).toContain('644 /etc/systemd/system/containerd.service');
    expect(trees[0]).toContain('755 /etc/containerd/certs.d/docker.io');
  });
});
