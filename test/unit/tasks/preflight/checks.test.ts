import { describe, expect, it } from 'vitest';
import type { HostNeeds, KubernetesNeeds } from '../../../../src/tasks/preflight/check.ts';
import type { Machine } from '../../../../src/tasks/preflight/machine.ts';
import { checks, inspectHost, refuseFindings } from '../../../../src/tasks/preflight/run.ts';
import { fitMachine as fit } from '../../../fakes/machine.ts';

const needs: HostNeeds = {
  ports: [{ port: 40_443, use: 'image registry' }],
  space: [
    { path: '/data', bytes: 600, use: 'the bundle' },
    { path: '/usr/local', bytes: 300, use: 'the programs' },
  ],
  tools: [],
  reachable: ['/data'],
  runtime: true,
};

const inspect = (change: Partial<Machine>, ignored: readonly string[] = []) =>
  inspectHost({ machine: { ...fit, ...change }, needs }, ignored).map(
    ({ check, severity, message }) => `${check} ${severity}: ${message}`,
  );

describe('checks before anything is changed', () => {
  it('find nothing on a host that is fit', () => {
    expect(inspect({})).toEqual([]);
  });

  it.each<[string, Partial<Machine>, string]>([
    ['root', { root: false }, 'root error: bke does not run as root'],
    [
      'the architecture',
      { architecture: 'riscv64' },
      'platform error: the processor is riscv64; bke has programs for amd64 and arm64',
    ],
    [
      'an old C library',
      { glibc: { kind: 'glibc', version: '2.17' } },
      'libraries error: glibc is 2.17, bke needs 2.28 or newer',
    ],
    [
      'another C library',
      { glibc: { kind: 'other', version: undefined } },
      'libraries error: the C library is not glibc, which bke needs',
    ],
    [
      'an old C++ library',
      { glibcxx: '3.4.9' },
      'libraries error: libstdc++ has symbols up to GLIBCXX_3.4.9, bke needs GLIBCXX_3.4.25 (GCC 8)',
    ],
    [
      'no systemd',
      { systemd: { running: false, version: undefined } },
      'systemd error: systemd is not running as the first process',
    ],
    [
      'an old systemd',
      { systemd: { running: true, version: 219 } },
      'systemd error: systemd is 219, bke needs 239 or newer',
    ],
    [
      'a host name no node can have',
      { hostname: 'Node_01' },
      'hostname error: the host name "Node_01" is no valid node name',
    ],
    [
      'a clock that was never set',
      { now: new Date(0) },
      'clock error: the clock says 1970-01-01T00:00:00.000Z: it was never set',
    ],
    ['no control groups', { cgroup: 'none' }, 'cgroup error: no control groups are mounted below /sys/fs/cgroup'],
    ['missing programs', { missingTools: ['mount', 'df'] }, 'tools error: missing: mount, df'],
    [
      'a busy port, with its program',
      { listeners: [{ port: 40_443, address: '*', pid: 77, program: 'nc', ours: false }] },
      'ports error: port 40443 (image registry) is in use by nc (pid 77)',
    ],
    [
      'a busy port of nobody that can be seen',
      { listeners: [{ port: 40_443, address: '127.0.0.1', pid: undefined, program: undefined, ours: false }] },
      'ports error: port 40443 (image registry) is in use by an unknown program on 127.0.0.1:40443',
    ],
    [
      'a full disk, with all that is wanted on it',
      {
        free: new Map(['/data', '/usr/local'].map((path) => [path, { fileSystem: '/', bytes: 899, readOnly: false }])),
      },
      'disk-space error: / has 899 B free, and 900 B (900 bytes) are needed: the bundle in /data, the programs in /usr/local',
    ],
    [
      'a directory that lets nobody through',
      { directories: [{ path: '/data', mode: 0o700, type: 'directory' }] },
      'data-dir error: /data (mode 0700) lets nobody but its owner through',
    ],
    [
      'a link on the way',
      { directories: [{ path: '/data', mode: 0o777, type: 'link' }] },
      'data-dir error: /data is no directory but a link',
    ],
    [
      'a foreign runtime',
      { runtimes: [{ what: 'docker.service (active)', ours: false }] },
      'container-runtime error: docker.service (active) is not of bke',
    ],
  ])('find %s', (_, change, finding) => {
    expect(inspect(change)).toEqual([finding]);
  });

  it.each([
    ['Node_01', 'node-01'],
    ['NODE1', 'node1'],
    ['localhost', 'host-1'],
    ['a.', 'a'],
    ['x'.repeat(64), 'x'.repeat(63)],
    ['12345', 'host-12345'],
    ['-a', 'a'],
  ])('find the host name %s, and show %s instead', (hostname, better) => {
    expect(inspectHost({ machine: { ...fit, hostname }, needs })).toEqual([
      {
        check: 'hostname',
        severity: 'error',
        message: `the host name ${JSON.stringify(hostname)} is no valid node name`,
        hint: `Set another, e.g.: hostnamectl set-hostname ${better}`,
      },
    ]);
  });

  const kubernetes = (change: Partial<KubernetesNeeds>): KubernetesNeeds => ({
    kind: 'kubeadm',
    controlPlane: true,
    file: 'cluster.yaml',
    vxlan: true,
    version: 'v1.36.3',
    failCgroupV1: undefined,
    networks: [{ cidr: '10.0.0.0/16', use: 'pods', given: 'b.yaml:4:5: spec.network.podCIDR' }],
    ...change,
  });
  const forCluster = (change: Partial<Machine>, wanted: Partial<KubernetesNeeds> = {}) => {
    const subject = {
      machine: { ...fit, networks: [], ...change },
      needs: { ...needs, kubernetes: kubernetes(wanted) },
    };
    return inspectHost(subject).map(({ check, severity, message }) => `${check} ${severity}: ${message}`);
  };

  it('find nothing on a host that can carry a cluster', () => {
    expect(forCluster({})).toEqual([]);
    expect(forCluster({ cpus: 1, memoryBytes: 1e9 }, { controlPlane: false, nodeIP: '10.0.0.5' })).toEqual([]);
  });

  it('find a host without a service that time servers could be set of', () => {
    const check = (change: Partial<Machine>): string[] =>
      inspectHost({
        machine: { ...fit, networks: [], ...change },
        needs: { ...needs, setsTime: true, kubernetes: kubernetes({}) },
      }).map(({ check: name, severity }) => `${name} ${severity}`);
    expect(check({ timeServices: ['ntpd'], clockSynchronized: true })).toEqual(['time-service error']);
    expect(check({ timeServices: ['chronyd'] })).toEqual([]);
  });

  it.each<[string, Partial<Machine>, Partial<KubernetesNeeds>, RegExp]>([
    ['few processors', { cpus: 1 }, {}, /^cpu error: this host has 1 processor/],
    ['few processors for K3s', { cpus: 1 }, { kind: 'k3s' }, /^cpu warning/],
    ['little memory', { memoryBytes: 1e9 }, {}, /^memory error: this host has 954 MiB of memory, .* needs 1\.7 GiB$/],
    ['little memory for K3s', { memoryBytes: 1e9 }, { kind: 'k3s' }, /^memory warning/],
    ['swap', { swap: ['/swap.img'] }, {}, /^swap warning: swap is on \(\/swap\.img\)/],
    [
      'little memory of a worker',
      { memoryBytes: 5e8 },
      { controlPlane: false },
      /^memory warning: .*, and a worker needs 900 MiB$/,
    ],
    ['no default route for K3s', { defaultRoute: false }, { kind: 'k3s' }, /^default-route error/],
    ['no default route', { defaultRoute: false }, {}, /^default-route warning/],
    ['no identity', { machineId: undefined }, {}, /^machine-id error: \/etc\/machine-id is missing or empty$/],
    ['an identity that is none', { machineId: 'uninitialized' }, {}, /^machine-id error/],
    ['a clock that nobody keeps', { timeServices: [], clockSynchronized: false }, {}, /^time-service warning/],
    [
      'a kernel without overlay',
      { modules: { overlay: 'missing' } },
      {},
      /^kernel error: the kernel has no module overlay$/,
    ],
    ['a kernel without VXLAN', { modules: { vxlan: 'missing' } }, {}, /^kernel error: the kernel has no module vxlan$/],
    [
      'a kernel without any netfilter',
      { modules: { ip_tables: 'missing', nf_tables: 'missing' } },
      {},
      /^kernel error: .* nf_tables or ip_tables$/,
    ],
    [
      'memory that is not counted',
      { controllers: ['cpu', 'cpuset', 'pids'] },
      {},
      /^kernel error: control groups have no controller memory$/,
    ],
    [
      'an address that is not there',
      {},
      { nodeIP: '10.9.9.9' },
      /^node-address error: 10\.9\.9\.9 is no address of this host$/,
    ],
    [
      'a resolver on loopback',
      { nameservers: ['127.0.0.53'] },
      {},
      /^resolver warning: the only name server is 127\.0\.0\.53, .* in a loop/,
    ],
    [
      'SELinux without the policy of containers',
      { selinux: { mode: 'enforcing' } },
      {},
      /^selinux error: .* container-selinux is not installed$/,
    ],
    [
      'a rule set that lets nobody in',
      { dropsInput: true },
      {},
      /^firewall warning: the firewall drops what no rule of it takes/,
    ],
    [
      'addresses that are taken',
      { networks: fit.networks },
      {},
      /^networks error: 10\.0\.0\.0\/16 for pods \(b\.yaml:4:5: spec\.network\.podCIDR\) overlaps with 10\.0\.0\.5\/24, the network of eth0$/,
    ],
    ['old control groups', { cgroup: '1' }, {}, /^cgroup error: control groups are v1: kubelet v1\.36\.3 refuses/],
    ['old control groups that are wanted', { cgroup: 'hybrid' }, { failCgroupV1: false }, /^cgroup warning/],
  ])('find %s on a host for a cluster', (_, change, wanted, finding) => {
    const found = forCluster(change, wanted);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(finding);
  });

  it.each<[string, Partial<Machine>, Partial<KubernetesNeeds>]>([
    ['a clock of a container', { container: true, timeServices: [], clockSynchronized: undefined }, {}],
    ['a clock that is kept right by something else', { timeServices: [] }, {}],
    ['a module that is not needed', { modules: { vxlan: 'missing', ip_tables: 'missing' } }, { vxlan: false }],
    ['modules of which nothing is known', { modules: { overlay: 'unknown', br_netfilter: 'builtin' } }, {}],
    ['a name server on loopback beside another', { nameservers: ['127.0.0.1', '10.0.0.1'] }, {}],
    ['no name server', { nameservers: [] }, {}],
    ['SELinux with its policy', { selinux: { mode: 'enforcing', policyPackage: 'container-selinux-2.229' } }, {}],
    ['SELinux that only warns', { selinux: { mode: 'permissive' } }, {}],
  ])('have nothing against %s', (_, change, wanted) => {
    expect(forCluster(change, wanted)).toEqual([]);
  });

  it.each([
    [
      'a link whose network has the block in it',
      { cidr: '10.0.0.1/8', what: 'the network of eth0', address: '10.0.0.1' },
      { cidr: '10.244.0.0/16' },
    ],
    [
      'a route into the block',
      { cidr: '10.244.5.0/24', what: 'a route by 10.0.0.9 on eth0' },
      { cidr: '10.244.0.0/16' },
    ],
  ])('warn of %s, which only makes machines there unreachable for pods', (_, network, { cidr }) => {
    const networks = [{ cidr, use: 'pods', given: 'spec.network.podCIDR' }];
    expect(forCluster({ networks: [network] }, { networks })).toEqual([
      `networks warning: 10.244.0.0/16 for pods (spec.network.podCIDR) overlaps with ${network.cidr}, ${network.what}: pods reach no machine there`,
    ]);
  });

  it('tell of everything that others left or run on one host at once, with its programs, and nothing of what is ours', () => {
    const busy = [6443, 10_250, 2379];
    const listeners = busy.map((port, index) => ({ port, address: '*', pid: 70 + index, program: 'nc', ours: false }));
    const own = { port: 10_256, address: '*', pid: 7, program: 'kube-proxy', ours: true };
    const runtimes = [
      { what: 'docker.service (active)', ours: false },
      { what: 'containerd.service (active)', ours: false },
      { what: 'what a cluster left in /etc/kubernetes/manifests', ours: false },
      { what: 'kubelet.service (failed)', ours: true },
    ];
    const ports = [...busy, 10_256].map((port) => ({ port, use: 'x', fixed: true }));
    const findings = inspectHost({
      machine: { ...fit, networks: [], listeners: [...listeners, own], runtimes },
      needs: { ...needs, ports, kubernetes: kubernetes({}) },
    });
    expect(() => refuseFindings(findings, 'w1')).toThrow(
      expect.objectContaining({
        code: 'BKE_PREFLIGHT_FAILED',
        exitCode: 4,
        message: '6 problems found before anything was changed',
        details: [
          'ports: port 6443 (x) is in use by nc (pid 70)',
          'ports: port 10250 (x) is in use by nc (pid 71)',
          'ports: port 2379 (x) is in use by nc (pid 72)',
          '  -> Stop that program.',
          'container-runtime: docker.service (active) is not of bke',
          'container-runtime: containerd.service (active) is not of bke',
          'container-runtime: what a cluster left in /etc/kubernetes/manifests is not of bke',
          expect.stringMatching(/^ {2}-> bke never stops or removes what others installed/),
        ],
      }),
    );
  });

  it('leave old control groups to a kubelet that takes them', () => {
    expect(forCluster({ cgroup: '1' }, { version: 'v1.34.2+k3s1' })).toEqual([]);
  });

  it('let our own services keep their ports', () => {
    expect(inspect({ listeners: [{ port: 40_443, address: '*', pid: 7, program: 'registry', ours: true }] })).toEqual(
      [],
    );
  });

  it('warn, and do not refuse, where things work but a person should know', () => {
    expect(inspect({ cgroup: '1', firewalls: ['firewalld'] }).map((finding) => finding.slice(0, 20))).toEqual([
      'cgroup warning: cont',
      'firewall warning: fi',
    ]);
    expect(() => refuseFindings(inspectHost({ machine: { ...fit, cgroup: '1' }, needs }), 'boot')).not.toThrow();
  });

  it('tell everything at once, with one mend under what shares it', () => {
    const runtimes = ['docker.service (active)', 'kubelet.service (failed)'].map((what) => ({ what, ours: false }));
    const findings = inspectHost({ machine: { ...fit, root: false, runtimes }, needs });
    expect(() => refuseFindings(findings, 'boot')).toThrow(
      expect.objectContaining({
        code: 'BKE_PREFLIGHT_FAILED',
        host: 'boot',
        message: '3 problems found before anything was changed',
        details: [
          'root: bke does not run as root',
          '  -> Run the same command with sudo.',
          'container-runtime: docker.service (active) is not of bke',
          'container-runtime: kubelet.service (failed) is not of bke',
          expect.stringMatching(/^ {2}-> bke never stops or removes what others installed/),
        ],
      }),
    );
  });

  it('leave out what is ignored by name, and take no name that is none', () => {
    expect(inspect({ root: false }, ['root'])).toEqual([]);
    expect(() => inspect({}, ['roots'])).toThrow('there is no check named roots');
  });

  it('have names that are all different', () => {
    expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length);
  });
});
