import { appendFile, mkdir, rm, stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Host, RunResult } from '../../../../../src/host/host.ts';
import { runProgram } from '../../../../../src/host/local/run.ts';
import { BkeError } from '../../../../../src/lib/errors.ts';
import {
  type BootstrapDataParameters,
  runBootstrapData,
} from '../../../../../src/tasks/node/cloud-config/bootstrap-data.ts';
import { undoAll } from '../../../../fakes/ledger.ts';
import { type TaskHost, taskHost } from '../../../../fakes/task-host.ts';

const sentinel = '/run/cluster-api/bootstrap-success.complete';
const state = '/var/lib/bke/bootstrap/state.json';
const token = 'abcdef.0123456789abcdef';

let machine: TaskHost;
/** What a script does; it gets its text. undefined: the system's own shell runs it. */
let shell: ((script: string) => Promise<number>) | undefined;
let kubeadm: string[];
let asked: number;

beforeEach(async () => {
  machine = await taskHost();
  kubeadm = [];
  asked = 0;
  shell = async () => {
    await machine.put('/var/lib/kubelet/config.yaml', 'x');
    await machine.put(sentinel, 'success\n');
    return 0;
  };
  await machine.put('/usr/lib/systemd/system/kubelet.service', '[Service]\n');
  await machine.host.run(['systemctl', 'restart', 'kubelet.service']);
  machine.systemctlCalls();
});
afterEach(() => machine.remove());

/** The fake host, with a shell and a kubeadm. */
function host(): Host {
  const answer = (exitCode: number): RunResult => ({ exitCode, stdout: '', stderr: '' });
  return {
    name: 'fake',
    files: machine.host.files,
    close: () => machine.host.close(),
    upload: (...words) => machine.host.upload(...words),
    run: async (argv, options) => {
      if (argv[0] === '/bin/sh' && shell !== undefined) return answer(await shell(await machine.text(argv[4] ?? '')));
      if (argv[0] === '/bin/sh')
        return runProgram(['/bin/sh', ...argv.slice(1, 4), ...argv.slice(4).map((word) => machine.at(word))], options);
      if (argv[0] !== '/usr/local/bin/kubeadm') return machine.host.run(argv, options);
      kubeadm.push(argv.slice(1).join(' '));
      for (const path of ['/etc/kubernetes/manifests', '/etc/kubernetes/pki', '/var/lib/kubelet']) {
        await rm(machine.at(path), { recursive: true, force: true });
        await mkdir(machine.at(path));
      }
      return answer(0);
    },
  };
}

const data = (more = ''): string => `## template: jinja
#cloud-config
write_files:
- path: /etc/kubernetes/pki/ca.key
  owner: root:root
  permissions: '0600'
  content: |
    -----BEGIN RSA PRIVATE KEY-----
    c2VjcmV0LW9mLXRoZS10ZXN0
    -----END RSA PRIVATE KEY-----
- path: /run/kubeadm/kubeadm.yaml
  permissions: '0640'
  content: |
    ---
    kind: InitConfiguration
    nodeRegistration:
      name: '{{ ds.meta_data.local_hostname }}'
- path: /etc/environment
  append: true
  content: "SITE=a\\n"
- path: /run/cluster-api/placeholder
${more}runcmd:
- kubeadm init --config /run/kubeadm/kubeadm.yaml && echo success > ${sentinel}
`;

const run = (change: Partial<BootstrapDataParameters> = {}): Promise<string[]> =>
  machine.run((scope) =>
    runBootstrapData(
      { ...scope, host: host() },
      { data: data(), metadata: { hostname: 'cp1', address: '10.0.0.11', instanceID: 'claim-1' }, ...change },
      async () => {
        asked += 1;
        return { well: asked > 1, cause: 'it answers 500' };
      },
    ),
  );

async function failure(change: Partial<BootstrapDataParameters> = {}): Promise<BkeError> {
  const thrown: unknown = await run(change).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof BkeError) return thrown;
  throw new Error('it succeeded', { cause: thrown });
}

describe('bootstrap data on a host', () => {
  it('is written, run and proven, and then there is nothing to do any more', async () => {
    await machine.put('/etc/environment', 'LANG=C\n');
    const changed = await run({ kubeProxy: { mode: 'nftables', conntrack: { maxPerCore: 0 } } });
    expect(changed).toEqual([
      'zone /var/lib/bke/bootstrap',
      'zone /run/cluster-api',
      'hosts-entry',
      'file /etc/kubernetes/pki/ca.key',
      'file /run/kubeadm/kubeadm.yaml',
      'file /etc/environment',
      'file /run/cluster-api/placeholder',
    ]);
    expect((await stat(machine.at('/etc/kubernetes/pki/ca.key'))).mode & 0o777).toBe(0o600);
    expect(await machine.text('/etc/hosts')).toContain('10.0.0.11 cp1 # bke: cp1\n');
    expect(await machine.text('/etc/environment')).toBe('LANG=C\nSITE=a\n');
    expect(await machine.text('/run/kubeadm/kubeadm.yaml')).toBe(
      "---\nkind: InitConfiguration\nnodeRegistration:\n  name: 'cp1'\n---\n" +
        'apiVersion: "kubeproxy.config.k8s.io/v1alpha1"\nkind: "KubeProxyConfiguration"\nmode: "nftables"\nconntrack:\n  maxPerCore: 0\n',
    );
    expect(asked).toBe(2);
    expect((await stat(machine.at('/var/lib/bke/bootstrap'))).mode & 0o777).toBe(0o700);
    await expect(machine.text('/var/lib/bke/bootstrap/runcmd.sh')).rejects.toThrow('ENOENT');

    // A reboot empties /run.
    await rm(machine.at('/run/cluster-api'), { recursive: true });
    shell = () => Promise.reject(new Error('run again'));
    expect(await run()).toEqual([]);
    expect(machine.systemctlCalls()).toEqual([]);
  });

  it('runs its commands in one shell, each whatever the others did', async () => {
    let script = '';
    shell = async (given) => {
      script = given;
      await machine.put(sentinel, 'success\n');
      return 1;
    };
    const more = `runcmd: ["false", [echo, "it's", $HOME], "kubeadm init"]\n`;
    const changed = await run({ data: `#cloud-config\n${more}` });
    expect(script).toBe("#!/bin/sh\nfalse\n'echo' 'it'\\''s' '$HOME'\nkubeadm init\n");
    expect(changed).toContain('warning: a command after kubeadm ended with exit code 1: ');
  });

  it('is not held up by what its commands leave running', async () => {
    shell = undefined;
    const commands = [
      `echo "$#" "$HOME" "$BKE_OF_THE_TEST"; cat`,
      `sleep 60 & echo $! >${machine.at('/tmp/pid')}`,
      `echo success >${machine.at(sentinel)}`,
    ];
    vi.stubEnv('BKE_OF_THE_TEST', 'inherited');
    try {
      await run({ data: `#cloud-config\n${JSON.stringify({ runcmd: commands })}` });
    } finally {
      vi.unstubAllEnvs();
      process.kill(Number(await machine.text('/tmp/pid')));
    }
    expect(await machine.text('/var/lib/bke/bootstrap/runcmd.log')).toBe('0 /root \n');
  });

  it('tells why it failed without a secret, clears what it left, and succeeds the next time', async () => {
    shell = async () => {
      await machine.put('/etc/kubernetes/manifests/etcd.yaml', 'x');
      await machine.put('/etc/kubernetes/manifests/keepalived.yaml', 'kind: Pod\n');
      await machine.put('/var/lib/etcd/member/snap/db', 'x');
      await appendFile(
        machine.at('/var/lib/bke/bootstrap/runcmd.log'),
        `token ${token}\nkey c2VjcmV0LW9mLXRoZS10ZXN0\nerror: timed out\nTo see the stack trace of this error execute with --v=5 or higher\n`,
      );
      return 1;
    };
    const error = await failure();
    expect([error.code, error.message]).toEqual([
      'BKE_BOOTSTRAP_FAILED',
      'the host did not become a node: runcmd ended with exit code 1',
    ]);
    expect(error.details).toEqual(['token [secret]', 'key [secret]', 'error: timed out']);
    expect((await stat(machine.at('/var/lib/bke/bootstrap/runcmd.log'))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await machine.text(state))).toMatchObject({ progress: 'begun' });

    shell = async () => {
      await machine.put(sentinel, 'success\n');
      return 0;
    };
    await run();
    expect(kubeadm).toEqual([
      'reset --force --cri-socket=unix:///run/containerd/containerd.sock --skip-phases=remove-etcd-member',
    ]);
    await expect(machine.text('/var/lib/etcd/member/snap/db')).rejects.toThrow('ENOENT');
    expect(await machine.text('/etc/kubernetes/manifests/keepalived.yaml')).toBe('kind: Pod\n');
    expect(await machine.text('/etc/kubernetes/pki/ca.key')).toContain('PRIVATE KEY');
    expect(await machine.text('/etc/environment')).toBe('SITE=a\n');
    expect(JSON.parse(await machine.text(state))).toMatchObject({ progress: 'done' });
  });

  it('lets a member of etcd leave its cluster before it joins again', async () => {
    const join = `#cloud-config\nruncmd: [kubeadm join]\n`;
    shell = async () => {
      await machine.put('/etc/kubernetes/manifests/etcd.yaml', 'x');
      return 1;
    };
    await failure({ data: join });
    await failure({ data: join });
    expect(kubeadm).toEqual(['reset --force --cri-socket=unix:///run/containerd/containerd.sock']);
  });

  it('knows a success that was not recorded any more', async () => {
    shell = () => Promise.reject(new BkeError('BKE_CANCELLED', 'cut off'));
    expect((await failure()).code).toBe('BKE_CANCELLED');
    await machine.put(sentinel, 'success\n');
    expect(await run()).toEqual([]);
    expect(JSON.parse(await machine.text(state))).toMatchObject({ progress: 'done' });
  });

  it('records a success at once, even where the commands after it never end', async () => {
    shell = async () => {
      await machine.put(sentinel, 'success\n');
      await expect.poll(() => machine.text(state)).toContain('"done"');
      throw new BkeError('BKE_TIMEOUT', 'too long');
    };
    const error = await failure();
    expect([error.code, error.message]).toEqual(['BKE_TIMEOUT', 'runcmd did not end within 1200 s']);
    expect(await run()).toEqual([]);
  });

  it('touches no host that has another Kubernetes', async () => {
    await machine.put('/var/lib/etcd/member/snap/db', 'x');
    expect((await failure()).code).toBe('BKE_KUBERNETES_FOUND');
    await expect(machine.text('/var/lib/bke/ledger/ledger.jsonl')).rejects.toThrow('ENOENT');
  });

  it('is refused whole before anything is changed', async () => {
    expect((await failure({ data: data('packages: [x]\n') })).code).toBe('BKE_BOOTSTRAP_DATA_INVALID');
    await expect(machine.text('/var/lib/bke/ledger/ledger.jsonl')).rejects.toThrow('ENOENT');
  });

  it('never makes a node over', async () => {
    await run();
    expect((await failure({ data: data('bootcmd: [x]\n') })).code).toBe('BKE_NODE_EXISTS');
  });

  it('starts a kubelet that somebody stopped', async () => {
    await run();
    await machine.host.run(['systemctl', 'stop', 'kubelet.service']);
    machine.systemctlCalls();
    await run();
    expect(machine.systemctlCalls()).toContain('restart kubelet.service');
  });

  it('leaves nothing behind when it is undone', async () => {
    const hosts = await machine.text('/etc/hosts');
    await machine.put('/etc/environment', 'LANG=C\n');
    await run();
    await undoAll(machine.host);
    expect([await machine.text('/etc/hosts'), await machine.text('/etc/environment')]).toEqual([hosts, 'LANG=C\n']);
    for (const path of [sentinel, state, '/run/kubeadm', '/etc/kubernetes/pki']) {
      await expect(stat(machine.at(path))).rejects.toThrow('ENOENT');
    }
  });
});
