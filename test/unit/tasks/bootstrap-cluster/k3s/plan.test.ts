import { appendFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noNodeSettings } from '../../../../../src/config/node-settings.ts';
import { catalogueSchema, type Catalogue } from '../../../../../src/release/catalogue.ts';
import { checkHost } from '../../../../../src/tasks/bootstrap-cluster/k3s/host.ts';
import { k3sBootstrap, k3sMissing, missingForK3s } from '../../../../../src/tasks/bootstrap-cluster/k3s/k3s.ts';
import { waitForServer } from '../../../../../src/tasks/bootstrap-cluster/k3s/server.ts';
import { warnOfUnread } from '../../../../../src/tasks/bootstrap-cluster/k3s/settings-read.ts';
import type { BootstrapPlan } from '../../../../../src/tasks/bootstrap-cluster/bootstrap-cluster.ts';
import type { TaskScope } from '../../../../../src/tasks/task.ts';
import { type TaskHost, taskHost } from '../../../../fakes/task-host.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const platform = 'linux/amd64';
const variant = (path: string) => ({ [platform]: { path, digest, size: 1 } });
const image = (ref: string) => ({ name: 'x', ref, digest, platforms: { [platform]: digest } });

function catalogue(files: readonly string[], images: readonly string[]): Catalogue {
  return catalogueSchema.parse({
    name: 'r',
    version: '1',
    kubernetesVersions: [],
    files: files.map((version) => ({ name: 'k3s', version, type: 'binary', variants: variant(`k3s/${version}/k3s`) })),
    images: images.map(image),
    charts: [],
  });
}

const pause = 'registry.k8s.io/pause:3.10.2';
const coredns = 'registry.k8s.io/coredns/coredns:v1.14.2';
const whole = catalogue(['v1.35.7+k3s1', 'v1.36.3+k3s1'], [pause, coredns]);
const plan = (change: Partial<BootstrapPlan> = {}): BootstrapPlan => ({
  host: 'this host',
  hostname: 'Boot',
  hostIP: '10.0.0.5',
  port: 36_443,
  podCIDR: '100.72.0.0/16',
  serviceCIDR: '100.73.0.0/16',
  settings: noNodeSettings,
  catalogue: whole,
  platform,
  filesDir: '/srv/files',
  registryHost: 'deploy.bke.internal:40443',
  mirrored: ['docker.io'],
  siteCa: () => 'PEM',
  ...change,
});

describe('a bundle for K3s', () => {
  it('needs the program, a pause image and CoreDNS', () => {
    expect(missingForK3s(plan())).toEqual([]);
    expect(missingForK3s(plan({ catalogue: catalogue([], []) }))).toEqual([
      'binary k3s',
      'image registry.k8s.io/pause',
      'image registry.k8s.io/coredns/coredns',
    ]);
    expect(missingForK3s(plan({ platform: 'linux/arm64' }))).toHaveLength(3);
  });

  it("may have K3s's own copies of the images", () => {
    const images = ['docker.io/rancher/mirrored-pause:3.6', 'docker.io/rancher/mirrored-coredns-coredns:1.14.6'];
    expect(missingForK3s(plan({ catalogue: catalogue(['v1.36.3+k3s1'], images) }))).toEqual([]);
  });

  it('that lacks it is refused with both ways out and the lines of a release manifest', () => {
    const error = k3sMissing(['binary k3s']);
    expect(error).toMatchObject({ code: 'BKE_K3S_MISSING', exitCode: 3 });
    expect(error.hint).toMatch(/--bootstrap kubeadm.*--bootstrap none/);
    expect(error.details.join('\n')).toMatch(
      /url: https:\/\/github\.com\/k3s-io\/k3s\/releases\S+\n\s+digest: sha256:/,
    );
    expect(() => k3sBootstrap(plan({ catalogue: catalogue([], [pause, coredns]) }))).toThrow(error.message);
  });

  it('and that kubeadm can use is refused with the option alone', () => {
    const { message, details, hint } = k3sMissing(['binary k3s'], true);
    expect([message, details, hint]).toEqual([
      'the bundle cannot make a K3s cluster: it has no binary k3s',
      [],
      'It has all that kubeadm needs: run the same command with --bootstrap kubeadm. How a bundle gets K3s: docs/guide/k3s.md.',
    ]);
  });
});

describe('the K3s way', () => {
  it('takes the newest version of the bundle, and says where its kubeconfig is', () => {
    const cluster = k3sBootstrap(plan());
    expect(cluster).toMatchObject({ kind: 'k3s', version: 'v1.36.3+k3s1', kubeconfig: '/etc/rancher/k3s/k3s.yaml' });
    const [phase] = cluster.install();
    expect(phase?.chains[0]?.steps.map(({ name }) => name)).toEqual([
      'k3s/host',
      'node/environment',
      'k3s/install',
      'k3s/ready',
    ]);
  });

  it('refuses settings it has no place for before it begins', () => {
    const settings = { ...noNodeSettings, kubeProxy: { winkernel: { sourceVip: 'x' } } };
    expect(() => k3sBootstrap(plan({ settings }))).toThrow(expect.objectContaining({ code: 'BKE_K3S_SETTING' }));
  });
});

describe('a host', () => {
  let machine: TaskHost;
  beforeEach(async () => {
    machine = await taskHost();
  });
  afterEach(() => machine.remove());

  const put = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(machine.root, path)), { recursive: true });
    await writeFile(join(machine.root, path), content);
  };
  const link = async (version: string): Promise<void> => {
    await mkdir(join(machine.root, '/usr/local/bin'), { recursive: true });
    await symlink(`/usr/local/libexec/bke/k3s-${version}/k3s`, join(machine.root, '/usr/local/bin/k3s'));
  };
  const check = (version = 'v1.36.3+k3s1'): Promise<void> => checkHost(machine.host, version);

  it('without Kubernetes may become the cluster', async () => {
    await expect(check()).resolves.toBeUndefined();
  });

  it.each([
    '/etc/systemd/system/k3s.service',
    '/etc/systemd/system/k3s-agent.service',
    '/etc/rancher/k3s/config.yaml',
    '/var/lib/rancher/k3s/server/db/state.db',
    '/etc/kubernetes/admin.conf',
  ])("that has somebody's %s may not", async (path) => {
    await put(path, 'mine\n');
    await expect(check()).rejects.toMatchObject({ code: 'BKE_KUBERNETES_FOUND' });
  });

  it("with bke's own K3s may go on with it", async () => {
    await put('/etc/systemd/system/k3s.service', '# Written by bke. Edits are lost when bke runs again.\n');
    await put('/var/lib/rancher/k3s/server/db/state.db', 'x');
    await link('v1.36.3+k3s1');
    await expect(check()).resolves.toBeUndefined();
  });

  it.each([
    ['v1.36.3+k3s1', 'v1.36.3+k3s2', true],
    ['v1.36.3+k3s1', 'v1.37.2+k3s1', true],
    ['v1.36.3+k3s1', 'v1.38.0+k3s1', false],
    ['v1.36.3+k3s1', 'v1.36.2+k3s1', false],
    ['v1.36.3+k3s2', 'v1.36.3+k3s1', false],
  ])('goes from %s to %s: %s', async (from, to, goes) => {
    await put('/etc/systemd/system/k3s.service', '# Written by bke. Edits are lost when bke runs again.\n');
    await link(from);
    if (goes) await expect(check(to)).resolves.toBeUndefined();
    else await expect(check(to)).rejects.toThrow(`the bootstrap cluster is K3s ${from}, and the bundle has ${to}`);
  });

  /** Probes once and tells the cause. */
  const causeOf = async (work: (scope: TaskScope) => Promise<void>): Promise<string> => {
    let cause = 'ready';
    await machine.run((scope) => {
      const wait: TaskScope['wait'] = async (asked) => {
        const answer = await asked.probe(new AbortController().signal);
        if (!answer.ready) cause = answer.cause;
      };
      return work({ ...scope, wait });
    });
    return cause;
  };

  it('tells why its API server does not answer', async () => {
    expect(await causeOf(waitForServer)).toBe(
      'k3s.service is inactive (success); it has not written /etc/rancher/k3s/k3s.yaml yet',
    );
    await put('/etc/rancher/k3s/k3s.yaml', 'half of a fi');
    expect(await causeOf(waitForServer)).toContain('/etc/rancher/k3s/k3s.yaml is no kubeconfig');
  });

  it('is told where a K3s does not read what it was given for containerd', async () => {
    const settings = { containerd: { plugins: { x: { y: true } } } };
    await put('/var/lib/rancher/k3s/agent/etc/containerd/config.toml', 'version = 3\n');
    const notes = (given: typeof settings | typeof noNodeSettings): Promise<string[]> =>
      machine.run((scope) => warnOfUnread(scope, given));
    expect(await notes(noNodeSettings)).toEqual([]);
    expect(await notes(settings)).toEqual([expect.stringContaining('spec.settings.containerd has no effect')]);
    await appendFile(
      join(machine.root, '/var/lib/rancher/k3s/agent/etc/containerd/config.toml'),
      'imports = ["/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/*.toml"]\n',
    );
    expect(await notes(settings)).toEqual([]);
  });
});
