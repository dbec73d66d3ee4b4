// The plan of a reset: what goes, what stays and why, and when it does not begin.
import { describe, expect, it } from 'vitest';
import type { Change, Scope } from '../../../../src/host/changes/change.ts';
import type { LedgerResource } from '../../../../src/host/ledger/ledger.ts';
import { kubernetesPaths, sharedFolders } from '../../../../src/host/state/known-paths.ts';
import { parseMountInfo } from '../../../../src/host/state/mounts.ts';
import type { ProcessInfo } from '../../../../src/host/state/processes.ts';
import type { FoundPath, HostState } from '../../../../src/host/state/state.ts';
import { kubeletUnit } from '../../../../src/tasks/bootstrap-cluster/kubeadm/paths.ts';
import { k3sUnit } from '../../../../src/tasks/bootstrap-cluster/k3s/paths.ts';
import { planReset } from '../../../../src/tasks/reset/plan.ts';
import { planLines, plannedItems } from '../../../../src/tasks/reset/plan-text.ts';
import { type PlanInput, type ResetFlags, resetScopes } from '../../../../src/tasks/reset/reset-plan.ts';

const self = 100;
const flags: ResetFlags = { all: true, mount: true, purgeVolumes: false };

function processOf(pid: number, more: Partial<ProcessInfo>): ProcessInfo {
  return { pid, parent: 1, startTicks: '1', state: 'S', command: 'x', args: [], cgroups: ['/'], ...more };
}

const clean: HostState = {
  units: [],
  processes: [processOf(1, {}), processOf(self, { command: 'bke' })],
  foreignContainers: [],
  k3sContainers: [],
  mounts: parseMountInfo('1 0 8:1 / / rw - ext4 /dev/sda rw'),
  realPaths: new Map(),
  fstab: new Set(),
  network: {
    links: [],
    namespaces: [],
    rules: [],
    podNetworks: new Set(['cbr0']),
    nftTables: [],
    sets: [],
    virtualServers: [],
    routes: [],
    policyRules: [],
  },
  cgroups: [],
  paths: [],
  unreachable: [],
  kubeconfigs: [],
  session: undefined,
  packagedKubelet: false,
};

function found(path: string, entries: readonly string[] = []): FoundPath {
  const known = [...kubernetesPaths, ...sharedFolders].find((entry) => entry.path === path);
  if (known === undefined) throw new Error(`${path} is not known`);
  return { ...known, entries };
}

function resource(
  change: Change,
  scopes: readonly Scope[] = ['node'],
  sharedWith: readonly Scope[] = [],
): LedgerResource {
  const path = 'path' in change ? change.path : 'name' in change ? change.name : change.kind;
  const version = { change, before: null, applied: null };
  return {
    key: `${change.kind}:${path}`,
    description: `${change.kind} ${path}`,
    undo: { action: 'remove', what: `${change.kind} ${path}` },
    scopes,
    sharedWith,
    record: { first: null, last: change, applied: null, versions: [version] },
  };
}

function input(
  state: Partial<HostState>,
  resources: readonly LedgerResource[] = [],
  given: Partial<ResetFlags> = {},
): PlanInput {
  return {
    flags: { ...flags, ...given },
    state: { ...clean, ...state },
    unrecorded: { byName: false, proofs: [], answered: [], hosts: [], user: undefined, unproven: [] },
    ledger: { otherMachine: false, selected: resources, all: resources, givenBack: [], earlierMounts: [] },
  };
}

function whats(plan: ReturnType<typeof planReset>): string[] {
  return plan.items.map(({ action, what }) => `${action} ${what}`);
}

describe('scopes', () => {
  it('follow the flags', () => {
    expect(resetScopes({ ...flags, all: false, mount: false })).toEqual(['node', 'bootstrap-cluster']);
    expect(resetScopes({ ...flags, mount: false })).toEqual(['node', 'bootstrap-cluster', 'enrol']);
    expect(resetScopes(flags)).toEqual(['node', 'bootstrap-cluster', 'enrol', 'services']);
  });
});

describe('a plan', () => {
  it('is empty for a clean host', () => {
    expect(planReset(input({}), self)).toMatchObject({ items: [], kept: [], refusals: [], heldBack: [] });
  });

  it.each([k3sUnit, kubeletUnit])(
    "stops %s, a bootstrap cluster's, before everything else, with or without a record",
    (name) => {
      const running = { name, active: 'active', enabled: 'enabled' };
      const paths = [found('/etc/kubernetes/kubelet.conf')];
      expect(whats(planReset(input({ units: [running], paths }), self))[0]).toBe(`stop ${name} (active)`);
      const unit: Change = { kind: 'unit', name, text: '', enabled: true, running: true };
      expect(whats(planReset(input({ units: [running], paths }, [resource(unit)]), self))[0]).toBe(
        `stop ${name} (active)`,
      );
    },
  );

  it("leaves names that could be the user's own alone where nothing shows that Kubernetes was here", () => {
    const paths = [
      found('/etc/kubernetes/pki/ca.crt'),
      found('/etc/cni/net.d/10-flannel.conflist'),
      found('/var/lib/etcd/member', ['snap']),
      found('/etc/kubernetes', ['pki']),
      found('/etc/systemd/system/kubelet.service'),
    ];
    expect(whats(planReset(input({ paths }), self))).toEqual([]);
  });

  it('goes on with what an earlier one was about to take, though nothing shows any more that Kubernetes was here', () => {
    const paths = [{ ...found('/etc/cni'), kind: 'folder' as const, remembered: true as const }];
    expect(whats(planReset(input({ paths }), self))).toEqual(['remove /etc/cni']);
  });

  it('leaves an empty directory that the ledger has given back', () => {
    const proof = { ...found('/etc/kubernetes/kubelet.conf'), mark: 'proof' as const };
    const paths = [proof, { ...found('/var/lib/kubelet'), kind: 'folder' as const }];
    const { ledger, ...rest } = input({ paths });
    expect(whats(planReset({ ...rest, ledger }, self))).toContain('remove /var/lib/kubelet');
    const given = { ...rest, ledger: { ...ledger, givenBack: ['/var/lib/kubelet'] } };
    expect(whats(planReset(given, self))).toEqual(['remove /etc/kubernetes/kubelet.conf']);
  });

  it('takes them as soon as one thing shows it, and folders only when nothing else is in them', () => {
    const paths = [
      found('/etc/kubernetes/pki/ca.crt'),
      found('/etc/kubernetes/kubelet.conf'),
      found('/etc/kubernetes/pki', ['ca.crt']),
      found('/etc/kubernetes', ['kubelet.conf', 'mine', 'pki']),
    ];
    const plan = planReset(input({ paths }), self);
    expect(whats(plan)).toEqual([
      'remove /etc/kubernetes/pki/ca.crt',
      'remove /etc/kubernetes/kubelet.conf',
      'remove /etc/kubernetes/pki',
    ]);
    expect(plan.kept.map(({ what }) => what)).toEqual(['/etc/kubernetes: mine']);
  });

  it('leaves to the ledger what the ledger answers for', () => {
    const zone = resource({ kind: 'zone', path: '/etc/kubernetes' });
    const paths = [found('/etc/kubernetes/admin.conf'), found('/var/lib/etcd/member', ['snap'])];
    expect(whats(planReset(input({ paths }, [zone]), self))).toEqual([
      'remove /var/lib/etcd/member',
      'remove zone /etc/kubernetes',
    ]);
  });

  it("ends pods' processes but never itself or what started it", () => {
    const pod = ['/kubepods/podx/c'];
    const processes = [
      processOf(1, {}),
      processOf(7, { cgroups: pod, command: 'app' }),
      processOf(self, { parent: 1 }),
    ];
    expect(whats(planReset(input({ processes }), self))).toEqual(['end 1 process: app (7)']);
    const inside = [processOf(1, {}), processOf(50, { cgroups: pod }), processOf(self, { parent: 50, cgroups: pod })];
    const plan = planReset(input({ processes: inside }), self);
    expect(whats(plan)).toEqual([]);
    expect(plan.refusals.map(({ hint }) => hint)).toEqual(['Run bke on the host itself.']);
  });

  it("unmounts from the last to the first below Kubernetes' directories only, and leaves the user's own", () => {
    const mounts = parseMountInfo(
      [
        '1 0 8:1 / / rw - ext4 /dev/sda rw',
        '2 1 8:2 / /var/lib/kubelet rw - ext4 /dev/sdb rw',
        '3 2 0:5 / /var/lib/kubelet/pods/a/v rw - tmpfs t rw',
        '4 2 8:1 /keep /var/lib/kubelet/pods/b\\040c rw - ext4 /dev/sda rw',
        '5 4 8:1 /keep /var/lib/kubelet/pods/b\\040c rw - ext4 /dev/sda rw',
        '6 1 8:3 / /var/lib/kubelet-other/v rw - ext4 /dev/sdc rw',
        '7 2 8:4 / /var/lib/kubelet/mine rw - ext4 /dev/sdd rw',
        '8 1 0:4 net:[1] /run/netns/cni-1 rw - nsfs nsfs rw',
        '9 1 0:4 net:[2] /run/netns/mine rw - nsfs nsfs rw',
      ].join('\n'),
    );
    const plan = planReset(input({ mounts, fstab: new Set(['/var/lib/kubelet/mine']) }), self);
    expect(whats(plan)).toEqual([
      'unmount /run/netns/cni-1 (nsfs from nsfs)',
      'unmount /var/lib/kubelet/pods/b c (ext4 from /dev/sda)',
      'unmount /var/lib/kubelet/pods/b c (ext4 from /dev/sda)',
      'unmount /var/lib/kubelet/pods/a/v (tmpfs from t)',
    ]);
    expect(plan.items.map(({ passing = false }) => passing)).toEqual([true, false, false, true]);
    const bound = parseMountInfo('3 2 0:5 /mine /var/lib/kubelet/pods/a/v rw - overlay o rw');
    expect(planReset(input({ mounts: bound }), self).items.map(({ passing }) => passing)).toEqual([undefined]);
  });

  it('unmounts below zones that are undone, not below those another scope still needs', () => {
    const mounts = parseMountInfo(
      '2 1 8:2 / /data/a/m rw - ext4 /dev/sdb rw\n3 1 8:2 / /data/b/m rw - ext4 /dev/sdb rw',
    );
    const resources = [
      resource({ kind: 'zone', path: '/data/a' }, ['services']),
      resource({ kind: 'zone', path: '/data/b' }, ['node', 'services'], ['services']),
    ];
    expect(whats(planReset(input({ mounts }, resources), self))).toEqual([
      'unmount /data/a/m (ext4 from /dev/sdb)',
      'remove zone /data/a',
      'release the claim on 1 thing that services still needs',
    ]);
  });

  it('keeps volume data and says what it is, until it is asked for', () => {
    const volume: FoundPath = {
      path: '/opt/local-path-provisioner',
      kind: 'tree',
      what: 'volume data',
      entries: ['pvc-1', 'pvc-2'],
    };
    const kept = planReset(input({ paths: [volume] }), self);
    expect([whats(kept), kept.kept[0]?.what]).toEqual([[], '/opt/local-path-provisioner: pvc-1, pvc-2']);
    const purged = planReset(input({ paths: [volume] }, [], { purgeVolumes: true }), self);
    expect(whats(purged)).toEqual(['remove /opt/local-path-provisioner: pvc-1, pvc-2']);
  });

  it("holds containerd back while others' containers run in it", () => {
    const resources = [
      resource({ kind: 'zone', path: '/var/lib/containerd' }),
      resource({
        kind: 'archive',
        source: '/s',
        digest: 'sha256:0',
        destination: '/usr/local/libexec/bke/containerd-2.3.7',
      }),
      resource({ kind: 'link', path: '/usr/local/bin/containerd-shim-runc-v2', target: '/x' }),
      resource({ kind: 'unit', name: 'containerd.service', text: '', enabled: true, running: true }),
      resource({ kind: 'zone', path: '/etc/cni/net.d' }),
      resource({ kind: 'directory', path: '/usr/local/libexec/bke', mode: 0o755 }),
      resource({ kind: 'directory', path: '/etc/bke', mode: 0o755 }),
      resource({ kind: 'link', path: '/usr/local/bin/crictl', target: '/x' }),
    ];
    const units = [{ name: 'containerd.service', active: 'active', enabled: 'enabled', fragment: '/x' }];
    const plan = planReset(input({ units, foreignContainers: ['mine/a'] }, resources), self);
    expect(whats(plan)).toEqual(['remove directory /etc/bke', 'remove link /usr/local/bin/crictl']);
    expect(plan.heldBack.map(({ why }) => why)).toEqual([expect.stringContaining('mine/a')]);
    expect(plan.selection.mountTops).not.toContain('/var/lib/containerd');
    const alone = planReset(input({ units }, resources), self);
    expect(whats(alone)).toContain('stop containerd.service (active)');
    expect([alone.heldBack, alone.selection.mountTops.includes('/var/lib/containerd')]).toEqual([[], true]);
  });

  it('stops only units whose turn it is', () => {
    const units = [
      'kubelet.service',
      'bke-registry.service',
      'bke-agent.service',
      'containerd.service',
      'docker.service',
    ].map((name) => ({
      name,
      active: 'active',
      enabled: 'enabled',
    }));
    const paths = ['bke-registry.service', 'bke-agent.service'].map((name): FoundPath => {
      return { path: `/etc/systemd/system/${name}`, kind: 'file', what: 'bke unit', entries: [] };
    });
    const stopped = (given: Partial<ResetFlags>): readonly string[] =>
      planReset(input({ units, paths }, [], given), self).selection.units;
    // A unit of that name whose file is not marked as bke's.
    expect(planReset(input({ units }), self).selection.units).toEqual(['kubelet.service']);
    expect(stopped({ all: false, mount: false })).toEqual(['kubelet.service']);
    expect(stopped({ all: false })).toEqual(['kubelet.service', 'bke-registry.service']);
    expect(stopped({})).toEqual(['kubelet.service', 'bke-registry.service', 'bke-agent.service']);
  });

  it("refuses where somebody's containers run in K3s's own containerd", () => {
    const { refusals } = planReset(input({ k3sContainers: ['mine/a', 'mine/b'] }), self);
    expect(refusals).toEqual([
      {
        what: "containers in K3s's containerd: mine/a, mine/b",
        why: "they are not Kubernetes' and would lose what they run on",
        hint: 'End them first: k3s ctr -n mine tasks list',
      },
    ]);
  });

  it("refuses where a link that goes carries the session or somebody else's port", () => {
    const links = [
      { index: 1, name: 'cni0', kind: 'bridge' },
      { index: 2, name: 'eth1', kind: '', master: 'cni0' },
    ];
    const session = { client: '10.0.0.9', server: '10.0.0.2', port: 22, links: ['eth1'] };
    const refused = (state: Partial<HostState>): string[] =>
      planReset(input({ network: { ...clean.network, links }, ...state }), self).refusals.map(({ hint }) => hint);
    expect(refused({ session })).toEqual([expect.stringContaining('console')]);
    expect(refused({})).toEqual(['Take it off first: ip link set eth1 nomaster']);
  });
});

describe('a plan in words', () => {
  it('is grouped, gives reasons, and shortens what is long', () => {
    const resources = Array.from({ length: 20 }, (_, index) =>
      resource({ kind: 'file', path: `/etc/bke/${index}`, mode: 0o644, content: { text: '' } }),
    );
    const lines = planLines('h1', planReset(input({ paths: [found('/etc/kubernetes/admin.conf')] }, resources), self));
    expect(lines.slice(0, 5)).toEqual([
      'Reset of h1, 21 things to take away or put back:',
      'Files:',
      '  remove /etc/kubernetes/admin.conf (cluster credentials)',
      'Recorded changes, the last one first:',
      '  remove file /etc/bke/0',
    ]);
    expect(lines.at(-1)).toBe('  … and 5 more, see --dry-run');
  });

  it('is whole for a dry run, each with what would be done', () => {
    const units = [{ name: 'kubelet.service', active: 'active', enabled: 'enabled' }];
    expect(plannedItems(planReset(input({ units, paths: [found('/run/flannel', ['x'])] }), self))).toEqual([
      { action: 'run', what: 'stop kubelet.service (active) (it runs Kubernetes)' },
      { action: 'remove', what: '/run/flannel (flannel state)' },
    ]);
    const value = resource({ kind: 'sysctl', name: 'a', value: '1' });
    const back = { ...value, undo: { action: 'change', what: 'kernel value a back to 0' } } as const;
    expect(plannedItems(planReset(input({}, [back]), self))).toEqual([
      { action: 'change', what: 'kernel value a back to 0' },
    ]);
  });
});
