// Many hosts at once: what is wrong between them, what is told together, and that a thousand take no time.
import { describe, expect, it } from 'vitest';
import { BkeError } from '../../../../src/lib/errors.ts';
import { clusterConfig } from '../../../../src/config/cluster/config.ts';
import type { ClusterFile } from '../../../../src/config/cluster/file.ts';
import { clusterHostNeeds } from '../../../../src/tasks/preflight/cluster-needs.ts';
import type { HostNeeds, NamedSubject } from '../../../../src/tasks/preflight/check.ts';
import { groupFindings, groupLines } from '../../../../src/tasks/preflight/groups.ts';
import type { Machine } from '../../../../src/tasks/preflight/machine.ts';
import { checkPhases, type HostToLookAt } from '../../../../src/tasks/preflight/many-hosts.ts';
import { inspectHosts } from '../../../../src/tasks/preflight/run.ts';
import { fitMachine } from '../../../fakes/machine.ts';
import { record } from '../../../fakes/operation.ts';
import { probedHost } from '../../../fakes/probed-host.ts';

const file: ClusterFile = {
  apiVersion: 'bke.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'prod' },
  spec: {
    kubernetesVersion: 'v1.36.3',
    network: { podCIDR: '172.20.0.0/14', serviceCIDR: '172.31.0.0/16' },
    hosts: [
      { name: 'cp1', address: '10.0.0.5', roles: ['control-plane'] },
      { name: 'w1', address: '10.0.1.5', roles: ['worker'] },
    ],
  },
};
const config = clusterConfig(file);
const [controlPlane, worker] = config.hosts.map((host) => clusterHostNeeds(config, host));
if (controlPlane === undefined || worker?.kubernetes === undefined) throw new Error('no hosts');
/** A worker at an address. */
const { kubernetes, ...plain } = worker;
const needsOf = (nodeIP: string): HostNeeds => ({ ...plain, kubernetes: { ...kubernetes, nodeIP } });

/** Machines of their own, but for what a test says. */
function subjects(...changes: Partial<Machine>[]): NamedSubject[] {
  return changes.map((change, index) => ({
    host: `w${index + 1}`,
    machine: {
      ...fitMachine,
      hostname: `w${index + 1}`,
      machineId: String(index).padStart(32, '0'),
      bootId: `boot-${index}`,
      networks: [],
      runtimes: [],
      ...change,
    },
    needs: needsOf('10.0.0.5'),
  }));
}

function told(all: readonly NamedSubject[], ignored: readonly string[] = []): string[] {
  return groupLines(groupFindings(inspectHosts(all, ignored))).filter((line) => !line.startsWith(' '));
}

const minute = 60_000;
const clock = (offsetMs: number, uncertaintyMs = 10): Partial<Machine> => ({ clock: { offsetMs, uncertaintyMs } });

describe('hosts compared with each other', () => {
  it('are well where each is its own', () => {
    expect(told(subjects({}, {}, {}))).toEqual([]);
  });

  it('must not have one name', () => {
    expect(told(subjects({ hostname: 'node' }, {}, { hostname: 'node' }))).toEqual([
      '2 hosts (w1, w3): hostname: the host name node is that of several hosts: w1, w3',
    ]);
    expect(told(subjects({ hostname: 'node' }, { hostname: 'node' }), ['hostname'])).toEqual([]);
  });

  it('are told a name that no node can have alone, with the name of the file as its mend', () => {
    const findings = inspectHosts(subjects({ hostname: 'localhost' }, { hostname: 'localhost' }));
    expect(findings.map(({ host, check, hint }) => [host, check, hint])).toEqual([
      ['w1', 'hostname', 'Set another, e.g.: hostnamectl set-hostname w1'],
      ['w2', 'hostname', 'Set another, e.g.: hostnamectl set-hostname w1'],
    ]);
  });

  it('must not be clones, and are not taken for one machine then', () => {
    const machineId = 'f'.repeat(32);
    expect(told(subjects({ machineId }, { machineId }, {}))).toEqual([
      '2 hosts (w1, w2): machine-id: /etc/machine-id is the same on w1, w2: cloned?',
    ]);
  });

  it('must not be one machine by two addresses, whose name and identity need not be told then', () => {
    const same = { machineId: 'f'.repeat(32), bootId: 'one', hostname: 'w1' };
    expect(told(subjects(same, same))).toEqual(['2 hosts (w1, w2): same-machine: w1, w2 are one and the same machine']);
  });

  it.each<[string, Partial<Machine>[], string[]]>([
    ['agree', [clock(0), clock(2000), clock(-2000)], []],
    [
      'have one that is odd',
      [clock(20), clock(-10 * minute), clock(0)],
      ['w2: clock: the clock is 10m00s behind those of this machine and 2 hosts, which agree'],
    ],
    [
      'are odd alike',
      [clock(0), clock(0), clock(0), clock(minute + 30), clock(minute - 30)],
      ['2 hosts (w4, w5): clock: the clock is 1m00s ahead of those of this machine and 3 hosts, which agree'],
    ],
    [
      'agree, and this machine is odd',
      [clock(365 * 24 * 60 * minute), clock(365 * 24 * 60 * minute + 100)],
      ['this machine: clock: the clock is 365d00h behind those of 2 hosts, which agree'],
    ],
    [
      'are two, of which nobody knows who is right',
      [clock(-10 * minute)],
      [
        'this machine: clock: the clocks do not agree, and it cannot be told which is right. Against this machine: w1 is 10m00s behind it',
      ],
    ],
    ['cannot be read well over a slow link', [clock(8000, 9000), clock(0), clock(0)], []],
    [
      'were never set, beside others',
      [{ ...clock(-50 * 365 * 24 * 60 * minute), now: new Date(0) }, clock(0)],
      ['w1: clock: the clock says 1970-01-01T00:00:00.000Z: it was never set'],
    ],
  ])('whose clocks %s', (_, changes, lines) => {
    expect(told(subjects(...changes))).toEqual(lines);
  });

  it('are told together where they are alike, errors first', () => {
    const groups = groupFindings(
      inspectHosts(subjects(...Array.from({ length: 12 }, (_, index) => ({ swap: ['/swap.img'], root: index !== 3 })))),
    );
    expect(groupLines(groups)).toEqual([
      'w4: root: bke does not run as root',
      '  -> Run the same command with sudo.',
      expect.stringMatching(
        /^12 hosts \(w1, w2, w3, w4, w5, w6, w7, w8 and 4 more\): swap: swap is on \(\/swap\.img\)/,
      ),
      expect.stringMatching(/^ {2}-> Whoever wants none turns it off/),
    ]);
  });
});

describe('what a cluster needs of a host', () => {
  it('is its ports, by its role', () => {
    const ports = (needs: HostNeeds) => needs.ports.map(({ port, protocol }) => `${port}${protocol ?? ''}`);
    expect(ports(controlPlane)).toEqual([
      '6443',
      '10248',
      '10249',
      '10250',
      '10256',
      '10257',
      '10259',
      '2379',
      '2380',
      '2381',
      '8472udp',
    ]);
    expect(ports(worker)).toEqual(['10248', '10249', '10250', '10256', '8472udp']);
  });

  it('is room for etcd where it runs', () => {
    expect(controlPlane.space.map(({ path }) => path)).toContain('/var/lib/etcd');
    expect(worker.space.map(({ path }) => path)).not.toContain('/var/lib/etcd');
  });

  it('is said to a firewall', () => {
    const [firewall] = inspectHosts(subjects({ firewalls: ['ufw'] }));
    expect(firewall?.hint).toMatch(
      /^Other hosts must reach 10250\/tcp \(kubelet\), 8472\/udp \(network of pods\), and all from the addresses of pods:/,
    );
  });
});

const hostOf = (name: string, index: number, change: Partial<HostToLookAt> = {}): HostToLookAt => ({
  name,
  needs: needsOf(`10.${index >> 8}.${index & 255}.5`),
  open: async () => probedHost({ name, index }),
  ...change,
});
const many = (hosts: readonly HostToLookAt[]) => checkPhases({ hosts, ignored: [], now: () => new Date() });

describe('looking at hosts', () => {
  it('lets one that is out of reach fail alone, with its cause', async () => {
    const off = hostOf('w2', 2, {
      open: async () => {
        throw new BkeError('BKE_SSH_UNREACHABLE', 'cannot reach w2', { host: 'w2' });
      },
    });
    const { phases, found } = many([hostOf('w1', 1), off, hostOf('w3', 3)]);
    const { result } = await record(phases);
    expect(result.hosts.map(({ host, state, error }) => [host, state, error?.code])).toEqual([
      ['w1', 'done', undefined],
      ['w2', 'failed', 'BKE_SSH_UNREACHABLE'],
      ['w3', 'done', undefined],
      [undefined, 'done', undefined],
    ]);
    expect([...found.facts.keys()].toSorted()).toEqual(['w1', 'w3']);
    expect(found.findings).toEqual([]);
  });

  it('closes what it opened, also where the answer is of no use', async () => {
    let closed = 0;
    const onClose = (): void => void (closed += 1);
    const odd = hostOf('w2', 2, { open: async () => probedHost({ name: 'w2', index: 2, lines: ['no key'], onClose }) });
    const well = hostOf('w1', 1, { open: async () => probedHost({ name: 'w1', index: 1, onClose }) });
    const { result } = await record(many([well, odd]).phases);
    expect(closed).toBe(2);
    expect(result.hosts[1]).toMatchObject({ host: 'w2', error: { code: 'BKE_HOST_FACTS' } });
  });

  it('tells warnings as notes, and errors as what the operation failed with', async () => {
    const lines = ['swap:Filename Type Size', 'swap:/swap.img file 1024', 'arch:riscv64'];
    const hosts = [1, 2].map((index) =>
      hostOf(`w${index}`, index, { open: async () => probedHost({ name: `w${index}`, index, lines }) }),
    );
    const { result, events } = await record(many(hosts).phases);
    expect(events.filter(({ type }) => type === 'note')).toEqual([
      expect.objectContaining({ level: 'warning', message: expect.stringMatching(/^2 hosts \(w1, w2\): swap: /) }),
    ]);
    expect(result.errors).toEqual([
      expect.objectContaining({
        code: 'BKE_PREFLIGHT_FAILED',
        message: '1 problem found; nothing was changed',
        details: ['2 hosts (w1, w2): platform: the processor is riscv64; bke has programs for amd64 and arm64'],
      }),
    ]);
    expect(result.changed).toBe(false);
  });

  it('is quick on a thousand, never more at once than wanted', async () => {
    let open = 0;
    let most = 0;
    const hosts = Array.from({ length: 1000 }, (_, index) =>
      hostOf(`w${index}`, index, {
        open: async () => {
          open += 1;
          most = Math.max(most, open);
          // A few are clones of another, and a few are wrong by an hour.
          const lines = index < 4 ? [`machineId:${'a'.repeat(32)}`] : [];
          const aheadMs = index % 250 === 7 ? 60 * minute : 0;
          return probedHost({ name: `w${index}`, index, lines, aheadMs, onClose: () => void (open -= 1) });
        },
      }),
    );
    const { phases, found } = many(hosts);
    const began = performance.now();
    await record(phases, { concurrency: 50 });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(most).toBe(50);
    expect(groupLines(groupFindings(found.findings)).filter((line) => !line.startsWith(' '))).toEqual([
      '4 hosts (w0, w1, w2, w3): machine-id: /etc/machine-id is the same on w0, w1, w2, w3: cloned?',
      '4 hosts (w7, w257, w507, w757): clock: the clock is 1h00m ahead of those of this machine and 996 hosts, which agree',
    ]);
  });
});
