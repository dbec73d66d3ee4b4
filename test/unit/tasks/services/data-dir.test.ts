import { describe, expect, it } from 'vitest';
import { dataDirOverlap } from '../../../../src/tasks/services/data-dir.ts';

describe('a data directory', () => {
  it.each(['/var/lib/bke/services', '/var/lib/bke/services/site', '/var/lib/bkedata', '/srv/bke', '/opt/bke', '/data'])(
    'may be %s',
    (path) => {
      expect(dataDirOverlap(path)).toBeUndefined();
    },
  );

  it.each([
    '/var/lib/bke/ledger',
    '/var/lib/bke/pki',
    '/var/lib/bke/lock',
    '/var/lib/bke/operations/x',
    '/etc/bke/services',
    '/etc/systemd/system',
    '/etc/systemd/system/x',
    '/var/lib/containerd',
    '/var/lib/containerd/x',
    '/var/lib/kubelet/x',
    '/var/lib/etcd/member',
    '/etc/kubernetes',
    '/etc/cni/net.d/x',
    '/opt/cni/bin',
    '/opt/local-path-provisioner/bke',
    '/usr/local/libexec/bke',
    '/var/log/pods',
    '/var/lib/rancher/k3s/storage',
  ])('may not lie in %s', (path) => {
    expect(dataDirOverlap(path)).toContain(path);
  });

  it.each(['/var/lib/bke', '/var/lib', '/etc', '/opt/cni', '/usr/local/libexec', '/var/lib/rancher', '/'])(
    'may not hold what is in %s',
    (path) => {
      expect(dataDirOverlap(path)).toMatch(/ (holds|is in) /);
    },
  );
});
