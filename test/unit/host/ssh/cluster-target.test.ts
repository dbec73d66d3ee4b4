import { describe, expect, test } from 'vitest';
import type { HostConfig, SshConfig } from '../../../../src/config/cluster/config.ts';
import { sshTargetOf } from '../../../../src/host/ssh/cluster-target.ts';
import type { SshTarget } from '../../../../src/host/ssh/target.ts';

const place = { path: '/site/cluster.yaml', home: '/home/me' };
const secrets = new Map([
  ['./ssh.pw', 'from a file'],
  ['./sudo.pw', 'for sudo'],
]);

function targetOf(ssh: Partial<SshConfig>, agentSocket?: string): SshTarget {
  const login: SshConfig = { user: 'ops', port: 2222, hostKeys: ['SHA256:a'], retain: true, ...ssh };
  const host: HostConfig = {
    name: 'w1',
    address: '192.0.2.9',
    nodeIP: '192.0.2.9',
    roles: ['worker'],
    labels: {},
    taints: [],
    ssh: login,
  };
  return sshTargetOf(host, { place, secrets, agentSocket });
}

describe('a host of cluster.yaml', () => {
  test('is reached by what its ssh says, and known hosts are looked for as OpenSSH does', () => {
    expect(targetOf({ passwordFile: './ssh.pw', sudo: { passwordFile: './sudo.pw' } })).toMatchObject({
      name: 'w1',
      field: 'ssh',
      address: '192.0.2.9',
      port: 2222,
      user: 'ops',
      hostKeys: ['SHA256:a'],
      auth: { password: 'from a file' },
      sudo: { password: 'for sudo' },
      knownHostsFiles: ['/home/me/.ssh/known_hosts', '/home/me/.ssh/known_hosts2', '/etc/ssh/ssh_known_hosts'],
    });
    expect(targetOf({ privateKeyFile: '~/.ssh/k' }).auth.privateKey?.file).toBe('/home/me/.ssh/k');
  });

  test('takes the agent of whoever runs bke, and tells that there is none by an empty socket', () => {
    expect(targetOf({ agent: true }, '/run/agent').auth).toEqual({ agentSocket: '/run/agent' });
    expect(targetOf({ agent: true }).auth).toEqual({ agentSocket: '' });
    expect(targetOf({ password: 'x' }, '/run/agent').auth).toEqual({ password: 'x' });
  });

  test('goes through its bastions; one without a login of its own takes that of the host', () => {
    const outer = { address: '198.51.100.1', user: 'root', port: 22, hostKeys: [], password: 'outer' };
    const inner = { address: '10.9.9.9', user: 'jump', port: 22, hostKeys: [], bastion: outer };
    const { bastion } = targetOf({ privateKeyFile: '/k', bastion: inner });
    expect(bastion).toMatchObject({
      name: 'bastion 10.9.9.9',
      field: 'ssh.bastion',
      user: 'jump',
      auth: { privateKey: { file: '/k' } },
      bastion: {
        name: 'bastion 198.51.100.1',
        field: 'ssh.bastion.bastion',
        user: 'root',
        auth: { password: 'outer' },
      },
    });
    expect(bastion?.sudo).toBeUndefined();
    // Two hosts behind the same bastion describe it alike, which is what they share its login by.
    expect(targetOf({ privateKeyFile: '/k', bastion: inner }).bastion).toEqual(bastion);
  });
});
