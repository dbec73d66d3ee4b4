// What the readers of a host make of what the kernel and systemd print.
import { describe, expect, it } from 'vitest';
import { clusterAuthorities, homeFolders, pointsAt } from '../../../../src/host/state/kubeconfigs.ts';
import { fstabMountPoints, isNetworkMount } from '../../../../src/host/state/mount-table.ts';
import { parseMountInfo } from '../../../../src/host/state/mounts.ts';
import {
  lineage,
  parseCgroups,
  parseProcessStat,
  hostRoots,
  podProcessReason,
  type ProcessInfo,
  shimNamespace,
} from '../../../../src/host/state/processes.ts';
import { parseSshConnection } from '../../../../src/host/state/session.ts';

const everywhere = { cgroups: [] };

function processOf(more: Partial<ProcessInfo>): ProcessInfo {
  return { pid: 7, parent: 1, startTicks: '5', state: 'S', command: 'x', args: [], cgroups: [], ...more };
}

describe('processes', () => {
  it('reads a stat line with spaces and parentheses in the name', () => {
    const rest = Array.from({ length: 17 }, (_, index) => String(index)).join(' ');
    expect(parseProcessStat(`42 (a) b (c)) S 7 ${rest} 999 1`)).toEqual({
      pid: 42,
      parent: 7,
      startTicks: '999',
      state: 'S',
      command: 'a) b (c)',
    });
    expect([parseProcessStat(''), parseProcessStat('42 (x')]).toEqual([undefined, undefined]);
  });

  it('reads control groups of both versions, a colon in a name included', () => {
    expect(parseCgroups('9:name=systemd:/a:b\n8:pids:/a:b\n0::/c\n')).toEqual(['/a:b', '/c']);
  });

  it.each([
    ['/kubepods/burstable/podu/c', true],
    ['/kubepods.slice/kubepods-besteffort.slice/cri-containerd-1.scope', true],
    ['/k8s.io/abc', true],
    ['/system.slice/kubelet.service', false],
    ['/default/c', false],
    ['/kubepods-like/c', false],
    ['/mykubepods/c', false],
    ['/user.slice/k8s.io.scope', false],
    ['/docker/kind1/kubelet/kubepods/podx/c', false],
    ['/machine.slice/m1.scope/payload/kubepods.slice/c', false],
    ['/system.slice/docker-0a.scope/k8s.io/c', false],
  ])("a process in %s is a pod's: %s", (path, own) => {
    expect(podProcessReason(processOf({ cgroups: [path] }), everywhere) !== undefined).toBe(own);
  });

  it('does not count the pod the whole host runs in', () => {
    const roots = hostRoots([processOf({ pid: 1, cgroups: ['/kubepods/podx/h/init.scope'] })], 7);
    expect(
      podProcessReason(processOf({ cgroups: ['/kubepods/podx/h/system.slice/a.service'] }), roots),
    ).toBeUndefined();
    expect(podProcessReason(processOf({ cgroups: ['/kubepods/podx/h/kubepods/pody'] }), roots)).toBeDefined();
  });

  it('knows shims by program and namespace, wherever they run', () => {
    const shim = (namespace: string): ProcessInfo =>
      processOf({
        executable: '/usr/local/bin/containerd-shim-runc-v2',
        args: ['x', '-namespace', namespace, '-id', 'a'],
      });
    expect([shimNamespace(shim('k8s.io')), shimNamespace(shim('moby'))]).toEqual(['k8s.io', 'moby']);
    expect(podProcessReason(shim('k8s.io'), everywhere)).toBeDefined();
    expect(podProcessReason(shim('moby'), everywhere)).toBeUndefined();
    expect(podProcessReason({ ...shim('moby'), cgroups: ['/kubepods/x'] }, everywhere)).toBeUndefined();
    expect(
      podProcessReason(processOf({ executable: '/bin/sleep', args: ['-namespace', 'k8s.io'] }), everywhere),
    ).toBeUndefined();
  });

  it("knows K3s's own programs by where they run from, and shims among them by the namespace they serve", () => {
    const program = '/var/lib/rancher/k3s/data/0a1b/bin/containerd';
    const reason = (more: Partial<ProcessInfo>): string | undefined => podProcessReason(processOf(more), everywhere);
    expect(reason({ executable: program })).toBe("one of K3s's own programs");
    expect(reason({ executable: '/opt/var/lib/rancher/k3s/data/x' })).toBeUndefined();
    expect(reason({ executable: '/var/lib/rancher/k3s/data-of-mine/x' })).toBeUndefined();
    const shim = (namespace: string) => ({
      executable: `${program}-shim-runc-v2`,
      args: ['x', '-namespace', namespace],
    });
    expect(reason(shim('k8s.io'))).toBe('container shim of namespace k8s.io');
    expect(reason(shim('mine'))).toBeUndefined();
  });

  it('leaves what runs in a container or machine on the host to whoever runs that', () => {
    const roots = hostRoots([processOf({ pid: 1 }), processOf({ pid: 7, pidNamespace: 'pid:[1]' })], 7);
    const programs = [
      { executable: '/usr/bin/containerd-shim-runc-v2', args: ['x', '-namespace', 'k8s.io'] },
      { executable: '/var/lib/rancher/k3s/data/0a1b/bin/containerd' },
    ];
    for (const program of programs) {
      expect(podProcessReason(processOf({ ...program, pidNamespace: 'pid:[1]' }), roots)).toBeDefined();
      expect(podProcessReason(processOf({ ...program, pidNamespace: 'pid:[2]' }), roots)).toBeUndefined();
    }
  });

  it('follows a process up to the first, and stops at a loop', () => {
    const chain = [
      processOf({ pid: 3, parent: 2 }),
      processOf({ pid: 2, parent: 1 }),
      processOf({ pid: 1, parent: 0 }),
    ];
    expect([...lineage(chain, 3)]).toEqual([3, 2, 1]);
    expect([...lineage([processOf({ pid: 3, parent: 3 })], 3)]).toEqual([3]);
  });
});

describe('mounts', () => {
  const mounts = parseMountInfo(
    [
      '1 0 8:1 / / rw - ext4 /dev/sda rw',
      '2 1 0:5 / /data rw - nfs4 s:/x rw',
      '3 2 0:6 / /data/in rw - tmpfs t rw',
      '4 1 0:7 / /f rw - fuse.sshfs s rw',
      '5 1 0:8 / /f rw - ext4 /dev/sdb rw',
    ].join('\n'),
  );

  it('knows file systems whose answers come from elsewhere', () => {
    expect(mounts.map(isNetworkMount)).toEqual([false, true, false, true, false]);
  });

  it('reads mount points of fstab with their escapes', () => {
    const text = '# /x /commented\nUUID=1 / ext4 x 0 1\n/dev/b /my\\040disk/ ext4 x\nsw none swap sw\n\n';
    expect([...fstabMountPoints(text)]).toEqual(['/', '/my disk']);
  });
});

describe('units, sessions and kubeconfigs', () => {
  it('reads SSH_CONNECTION', () => {
    expect(parseSshConnection('10.0.0.9 4000 10.0.0.2 22')).toEqual({
      client: '10.0.0.9',
      server: '10.0.0.2',
      port: 22,
    });
    expect([parseSshConnection(''), parseSshConnection('a b c d')]).toEqual([undefined, undefined]);
  });

  it('tells whose cluster a kubeconfig leads to', () => {
    const config = (...authorities: string[]): string =>
      `clusters:\n${authorities.map((data) => `- cluster: {certificate-authority-data: ${data}}\n`).join('')}`;
    const ours = new Set(['b3Vycw==']);
    expect(pointsAt(config('b3Vycw=='), ours)).toBe('only');
    expect(pointsAt(config('b3Vycw==', 'b3RoZXI='), ours)).toBe('some');
    expect(pointsAt(config('b3RoZXI='), ours)).toBe('none');
    expect(
      ['', 'a: [', 'clusters: 3', 'clusters: []', 'clusters:\n- cluster: {insecure: true}'].map((text) =>
        pointsAt(text, ours),
      ),
    ).toEqual(Array.from({ length: 5 }, () => 'none'));
    expect(clusterAuthorities(config('b3Vycw=='))).toEqual(['b3Vycw==']);
  });

  it('finds homes once each and never the root of the file system', () => {
    expect(homeFolders('root:x:0:0::/root:/bin/sh\nd:x:1:1::/:/x\na:x:2:2::/home/a:/x\nb:x:3:3::/home/a:/x\n')).toEqual(
      ['/root', '/home/a'],
    );
  });
});
