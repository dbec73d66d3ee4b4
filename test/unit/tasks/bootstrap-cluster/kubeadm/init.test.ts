import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../../src/kube/client.ts';
import { BkeError } from '../../../../../src/lib/errors.ts';
import type { Reach } from '../../../../../src/tasks/bootstrap-cluster/client.ts';
import { checkHost } from '../../../../../src/tasks/bootstrap-cluster/kubeadm/host.ts';
import { initCluster } from '../../../../../src/tasks/bootstrap-cluster/kubeadm/init.ts';
import type { TaskScope } from '../../../../../src/tasks/task.ts';
import { FakeCluster } from '../../../../fakes/kube-client.ts';
import { type TaskHost, taskHost } from '../../../../fakes/task-host.ts';

let machine: TaskHost;
let cluster: FakeCluster;
/** Command lines of kubeadm. */
let calls: string[];
/** What kubeadm does when it is called. */
let kubeadm: () => Promise<{ exitCode: number; stderr: string }>;

beforeEach(async () => {
  machine = await taskHost();
  cluster = new FakeCluster();
  calls = [];
  kubeadm = async () => {
    await begin();
    finish();
    return { exitCode: 0, stderr: '' };
  };
});
afterEach(() => machine.remove());

async function put(path: string, content = 'x'): Promise<void> {
  const file = join(machine.root, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, content);
}

const made = [
  '/etc/kubernetes/pki/ca.crt',
  ...['admin', 'super-admin', 'kubelet', 'controller-manager', 'scheduler'].map(
    (name) => `/etc/kubernetes/${name}.conf`,
  ),
  ...['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(
    (name) => `/etc/kubernetes/manifests/${name}.yaml`,
  ),
  '/var/lib/kubelet/config.yaml',
];

/** Until the kubelet starts. */
async function begin(): Promise<void> {
  for (const path of made) await put(path);
  await put('/usr/lib/systemd/system/kubelet.service', '[Service]\n');
  await machine.host.run(['systemctl', 'restart', 'kubelet.service']);
}

function object(
  apiVersion: string,
  kind: string,
  name: string,
  more: Partial<KubeObject['metadata']> = {},
): KubeObject {
  return { apiVersion, kind, metadata: { name, ...more } };
}

function finish(): void {
  const system = { namespace: 'kube-system' };
  cluster.put(
    object('v1', 'ConfigMap', 'kubeadm-config', system),
    object('v1', 'ConfigMap', 'kubelet-config', system),
    object('v1', 'Node', 'h1', { labels: { 'node-role.kubernetes.io/control-plane': '' } }),
    object('v1', 'ConfigMap', 'cluster-info', { namespace: 'kube-public' }),
    object('apps/v1', 'DaemonSet', 'kube-proxy', system),
    object('v1', 'Secret', 'bootstrap-token-abcdef', system),
  );
}

const reach: Reach = (_host, work) => work(cluster.client());

async function init(config = 'kind: InitConfiguration\n'): Promise<void> {
  await machine.run(async (scope) => {
    const host = new Proxy(scope.host, {
      get: (target, name) => {
        if (name !== 'run') return Reflect.get(target, name);
        const run: TaskScope['host']['run'] = async (argv, options) => {
          if (!argv[0].endsWith('/kubeadm')) return target.run(argv, options);
          calls.push(argv.slice(1).join(' '));
          return { stdout: '', ...(await kubeadm()) };
        };
        return run;
      },
    });
    await initCluster({ ...scope, host }, { nodeName: 'h1', config, reach });
  });
}

const first =
  'init --skip-phases=addon/coredns,show-join-command --skip-token-print --config=/etc/kubernetes/bke-kubeadm.yaml';
const again = first.replace('show-join-command', 'show-join-command,preflight');

describe('kubeadm init', () => {
  it('is run once, and leaves no token to join by', async () => {
    await init();
    expect(calls).toEqual([first]);
    expect(cluster.writes).toEqual([
      'delete v1 Secret kube-system bootstrap-token-abcdef',
      'patch v1 ConfigMap kube-system kubeadm-config',
    ]);
    expect((await stat(join(machine.root, '/etc/kubernetes/bke-kubeadm.yaml'))).mode & 0o777).toBe(0o600);
    await init();
    expect(calls).toHaveLength(1);
    expect(cluster.writes).toHaveLength(2);
  });

  it('gives a cluster that stands other settings, once', async () => {
    await init();
    kubeadm = async () => ({ exitCode: 0, stderr: '' });
    await init('kind: InitConfiguration # others\n');
    await init('kind: InitConfiguration # others\n');
    const config = '--config=/etc/kubernetes/bke-kubeadm.yaml';
    expect(calls.slice(1)).toEqual([`init phase upload-config all ${config}`, `init phase addon kube-proxy ${config}`]);
    expect(cluster.writes.slice(2, 4)).toEqual([
      'patch apps/v1 DaemonSet kube-system kube-proxy',
      'patch v1 ConfigMap kube-system kubeadm-config',
    ]);
  });

  it('that was ended before the kubelet ran begins anew, without what may be cut off', async () => {
    await put('/etc/kubernetes/pki/ca.key', '');
    await put('/etc/kubernetes/admin.conf', '');
    await put('/etc/kubernetes/manifests/etcd.yaml', '');
    await put('/etc/kubernetes/kubelet.conf.d/10-bke.conf');
    const left: string[] = [];
    const work = kubeadm;
    kubeadm = async () => {
      left.push(
        ...(await machine.host.files.list('/etc/kubernetes')),
        ...(await machine.host.files.list('/etc/kubernetes/manifests')),
      );
      return work();
    };
    await init();
    expect(left).toEqual(['bke-kubeadm.yaml', 'kubelet.conf.d', 'manifests']);
    expect(calls).toEqual([first]);
  });

  it('that was ended later goes on with the same certificates', async () => {
    await begin();
    await put('/etc/kubernetes/pki/ca.key', 'kept');
    await init();
    expect(calls).toEqual([again]);
    expect(await readFile(join(machine.root, '/etc/kubernetes/pki/ca.key'), 'utf8')).toBe('kept');
  });

  it("of a cluster that has lost the kubelet's settings keeps its certificates: what it stores is worth nothing without them", async () => {
    await init();
    await put('/var/lib/etcd/member/snap/db');
    await put('/etc/kubernetes/pki/ca.key', 'kept');
    await rm(join(machine.root, '/var/lib/kubelet/config.yaml'));
    await init();
    expect(calls).toEqual([first, again]);
    expect(await readFile(join(machine.root, '/etc/kubernetes/pki/ca.key'), 'utf8')).toBe('kept');
  });

  it.each(made.filter((path) => /\/(?!super-)[a-z-]+\.conf$|\/manifests\//.test(path)))(
    'is gone on with where %s is missing',
    async (path) => {
      await init();
      await rm(join(machine.root, path));
      await init();
      expect(calls).toEqual([first, again]);
      await init();
      expect(calls).toHaveLength(2);
    },
  );

  it("is gone on with where the kubelet's settings were cut off", async () => {
    await init();
    await put('/var/lib/kubelet/config.yaml', '');
    await init();
    expect(calls).toEqual([first, again]);
  });

  it('leaves a super-administrator away that somebody took away', async () => {
    await init();
    await rm(join(machine.root, '/etc/kubernetes/super-admin.conf'));
    await init();
    expect(calls).toEqual([first]);
  });

  it.each([
    ['does not answer', 'BKE_KUBE_FAILED'],
    ['does not know the administrator yet', 'BKE_KUBE_FORBIDDEN'],
  ] as const)('is gone on with where the API server %s', async (_what, code) => {
    await begin();
    finish();
    cluster.failure = new BkeError(code, 'etcd is away');
    kubeadm = async () => {
      cluster.failure = undefined;
      return { exitCode: 0, stderr: '' };
    };
    await machine.run(async (scope) => {
      const wait: TaskScope['wait'] = async (asked) => {
        if (asked.for.startsWith('kubeadm')) return;
        const answer = await asked.probe(new AbortController().signal);
        if (!answer.ready) throw new BkeError('BKE_TIMEOUT', answer.cause);
      };
      const run: TaskScope['host']['run'] = async (argv) => {
        if (argv[0].endsWith('/kubeadm')) calls.push('kubeadm');
        return argv[0].endsWith('/kubeadm') ? { stdout: '', ...(await kubeadm()) } : machine.host.run(argv);
      };
      const host = new Proxy(scope.host, { get: (target, name) => (name === 'run' ? run : Reflect.get(target, name)) });
      await initCluster({ ...scope, host, wait }, { nodeName: 'h1', config: '', reach });
    });
    expect(calls).toEqual(['kubeadm']);
  });

  it('starts a kubelet that somebody stopped', async () => {
    await init();
    await machine.host.run(['systemctl', 'stop', 'kubelet.service']);
    machine.systemctlCalls();
    await init();
    expect(machine.systemctlCalls()).toContain('restart kubelet.service');
  });

  it("that fails tells kubeadm's own words", async () => {
    kubeadm = async () => ({
      exitCode: 1,
      stderr:
        'error execution phase preflight: [preflight] Some fatal errors occurred:\n\t[ERROR Port-10250]: Port 10250 is in use\n[preflight] If you know what you are doing, you can make a check non-fatal\nTo see the stack trace of this error execute with --v=5 or higher\n',
    });
    await expect(init()).rejects.toMatchObject({
      code: 'BKE_KUBEADM_FAILED',
      message: 'kubeadm init ended with exit code 1',
      details: [
        'error execution phase preflight: [preflight] Some fatal errors occurred:',
        expect.stringContaining('[ERROR Port-10250]: Port 10250 is in use'),
      ],
    });
  });
});

describe('a host with a Kubernetes', () => {
  it('of somebody else is refused', async () => {
    await put('/etc/kubernetes/manifests/etcd.yaml');
    await expect(checkHost(machine.host, 'v1.36.3')).rejects.toMatchObject({ code: 'BKE_KUBERNETES_FOUND' });
  });

  it('of another version is refused, before its kubelet is changed', async () => {
    await put('/etc/kubernetes/bke-kubeadm.yaml');
    await put(
      '/etc/kubernetes/manifests/kube-apiserver.yaml',
      'spec:\n    image: registry.k8s.io/kube-apiserver:v1.35.7\n',
    );
    await expect(checkHost(machine.host, 'v1.36.3')).rejects.toMatchObject({
      message: 'the bootstrap cluster is Kubernetes v1.35.7, and the bundle has v1.36.3',
    });
    await checkHost(machine.host, 'v1.35.7');
  });
});
