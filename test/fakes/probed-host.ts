// Hosts that answer the probe with lines of a test's choice.
import type { HostShell } from '../../src/host/host.ts';

/** What a fit worker prints; lines of a test come before them, and the first of a key wins. */
function fitLines(name: string, index: number, now: () => number): string[] {
  const stamp = `${now()}000000`;
  return [
    `timeStart:${stamp}`,
    `hostname:${name}`,
    `machineId:${index.toString(16).padStart(32, '0')}`,
    `bootId:boot-${index}`,
    'arch:x86_64',
    'kernel:6.1.0-28-amd64',
    'uid:0',
    'libc:glibc 2.36',
    'libstdcxx:/usr/lib/libstdc++.so.6.0.30',
    'systemd:systemd 252 (252)',
    'systemdRunning:yes',
    'cpus:4',
    'memory:MemTotal: 8388608 kB',
    'cgroup:cgroup2fs',
    'controllers:cpuset cpu io memory pids',
    `address:2: eth0    inet 10.${index >> 8}.${index & 255}.5/24 scope global eth0`,
    'route:default via 10.9.9.1 dev eth0',
    'unit:Id=chronyd.service',
    'unit:LoadState=loaded',
    'unit:ActiveState=active',
    ...[
      'systemctl',
      'journalctl',
      'useradd',
      'groupadd',
      'mount',
      'umount',
      'ip',
      'df',
      'du',
      'losetup',
      'cp',
      'modprobe',
    ].map((tool) => `tool:${tool} /usr/bin/${tool}`),
    `timeEnd:${stamp}`,
  ];
}

export interface ProbedHost {
  readonly name: string;
  /** Makes ids and addresses. */
  readonly index: number;
  readonly lines?: readonly string[];
  /** How far its clock is ahead. */
  readonly aheadMs?: number;
  readonly onClose?: () => void;
}

export function probedHost({ name, index, lines = [], aheadMs = 0, onClose }: ProbedHost): HostShell {
  return {
    name,
    run: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const all = [...lines, ...fitLines(name, index, () => Date.now() + aheadMs), 'end:'];
      return { exitCode: 0, stdout: JSON.stringify(all), stderr: '' };
    },
    upload: () => Promise.reject(new Error('a check uploads nothing')),
    close: async () => onClose?.(),
  };
}
