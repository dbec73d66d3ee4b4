// bke killed at every single effect of every kind of change: the next run finishes what it began, and a reset undoes it.
import { utimes, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { Change } from '../../../../src/host/changes/change.ts';
import { openLedger } from '../../../../src/host/ledger/ledger.ts';
import { digestOf } from '../../../../src/lib/digest.ts';
import { makeTar } from '../../../fakes/archives.ts';
import { FakeCrash, FakeHost } from '../../../fakes/fake-host.ts';
import { type Snapshot, snapshot } from '../../../fakes/snapshot.ts';

/** `npm run test:soak` tries every effect, a plain run every third. */
const step = process.env['BKE_SOAK'] === undefined ? 3 : 1;
const limit = { timeout: 240_000 };
const hosts: FakeHost[] = [];

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.dispose();
});

const package1 = gzipSync(
  await makeTar([
    { name: 'pkg/', type: 'directory' },
    { name: 'pkg/bin/tool', mode: 0o755, content: 'the tool\n' },
    { name: 'pkg/bin/again', type: 'link', linkname: 'pkg/bin/tool' },
    { name: 'pkg/current', type: 'symlink', linkname: 'bin/tool' },
  ]),
);
const unitText = '[Service]\nExecStart=/bin/one\n[Install]\nWantedBy=multi-user.target\n';

const lists: Readonly<Record<string, readonly Change[]>> = {
  'a file that replaces an original, twice': [
    { kind: 'file', path: '/etc/there.conf', mode: 0o600, content: { text: 'ours' } },
    {
      kind: 'file',
      path: '/etc/there.conf',
      mode: 0o644,
      content: { text: 'ours again' },
      owner: { user: 'daemon', group: 1 },
    },
  ],
  'a new file in new directories and a link': [
    {
      kind: 'file',
      path: '/opt/a/b/new.conf',
      mode: 0o644,
      content: { source: '/package.tgz', digest: digestOf(package1) },
    },
    { kind: 'link', path: '/usr/local/bin/tool', target: '/opt/a' },
    { kind: 'link', path: '/etc/there.link', target: '/opt/a' },
  ],
  'an archive and the link that switches to it': [
    {
      kind: 'archive',
      source: '/package.tgz',
      digest: digestOf(package1),
      destination: '/usr/local/libexec/bke/pkg-1',
      strip: 1,
    },
    { kind: 'link', path: '/usr/local/libexec/bke/pkg', target: 'pkg-1' },
  ],
  'a new unit': [{ kind: 'unit', name: 'one.service', text: unitText, enabled: true, running: true, restartKey: 'a' }],
  'a unit that was there, enabled and running': [
    { kind: 'unit', name: 'there.service', text: unitText, enabled: false, running: true },
    { kind: 'unit', name: 'there.service', text: `${unitText}# 2\n`, enabled: true, running: true },
  ],
  'a user': [{ kind: 'user', name: 'etcd' }],
  'kernel values and modules': [
    { kind: 'module', name: 'br_netfilter' },
    { kind: 'sysctl', name: 'net.ipv4.ip_forward', value: '1' },
    { kind: 'sysctl', name: 'net.ipv4.ip_local_reserved_ports', value: '40443-40444' },
  ],
  'lines of /etc/hosts': [
    { kind: 'hosts-entry', address: '10.0.0.5', names: ['registry.site'] },
    { kind: 'hosts-entry', address: '10.0.0.6', names: ['localhost'] },
  ],
  'a zone and a directory': [
    { kind: 'directory', path: '/var/lib/etcd', mode: 0o700 },
    { kind: 'zone', path: '/var/lib/etcd' },
    { kind: 'zone', path: '/etc/cni/net.d' },
  ],
};

async function makeHost(): Promise<FakeHost> {
  const host = await FakeHost.make();
  hosts.push(host);
  await writeFile(host.at('/package.tgz'), package1);
  await writeFile(host.at('/etc/there.conf'), 'the original\n', { mode: 0o640 });
  await utimes(host.at('/etc/there.conf'), 1_600_000_000, 1_600_000_000.5);
  await writeFile(
    host.at('/etc/systemd/system/there.service'),
    '[Service]\nExecStart=/bin/there\n[Install]\nWantedBy=multi-user.target\n',
  );
  await host.system.run(['systemctl', 'enable', 'there.service']);
  await host.system.run(['systemctl', 'restart', 'there.service']);
  return host;
}

const timeless = ['/proc', '/etc/passwd', '/etc/group', '/etc/shadow', '/etc/gshadow'];

function look(host: FakeHost, when: readonly string[] = timeless): Promise<Snapshot> {
  return snapshot(host.root, { timeless: when, without: ['/var/lib/bke'] });
}

function processes(host: FakeHost): Record<string, string | undefined> {
  return Object.fromEntries(
    [...host.system.units].filter(([, unit]) => unit.active !== 'inactive').map(([name, unit]) => [name, unit.runs]),
  );
}

async function applyAll(host: FakeHost, changes: readonly Change[]): Promise<void> {
  const ledger = await openLedger(host, { operation: 'op-apply', command: 'bke init' });
  for (const change of changes) await ledger.apply('services', change);
  await ledger.finish();
  await ledger.close();
}

/** What others put into the zones. */
async function fillZones(host: FakeHost): Promise<void> {
  for (const path of ['/var/lib/etcd', '/etc/cni/net.d']) {
    if ((await host.files.stat(path)) !== undefined) await writeFile(host.at(`${path}/member`), 'data');
  }
}

async function undoAll(host: FakeHost): Promise<void> {
  const ledger = await openLedger(host, { operation: 'op-undo', command: 'bke reset' });
  for (const resource of ledger.resources()) {
    const outcome = await ledger.undo(resource);
    expect([resource.key, outcome.result]).toEqual([resource.key, expect.stringMatching(/^(undone|already)$/)]);
  }
  await ledger.remove();
  await ledger.close();
}

/** Whether it died. */
async function dies(act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    return false;
  } catch (thrown) {
    if (!(thrown instanceof FakeCrash)) throw thrown;
    return true;
  }
}

/** Hosts at once: each alone mostly waits for its file system. */
const lanes = 4;

/** Tries `scenario` with a death at one effect after the other until nothing dies any more; returns about how many effects there are. */
async function atEveryEffect(scenario: (host: FakeHost, dieAt: number) => Promise<boolean>): Promise<number> {
  for (let first = 1; ; first += lanes * step) {
    const moments = Array.from({ length: lanes }, (_, lane) => first + lane * step);
    const died = await Promise.all(
      moments.map(async (dieAt) => {
        const host = await makeHost();
        const dead = await scenario(host, dieAt);
        await host.dispose();
        return dead;
      }),
    );
    const survivor = moments[died.indexOf(false)];
    if (survivor !== undefined) return survivor - 1;
  }
}

describe.each(Object.entries(lists))('%s', (_name, changes) => {
  test('killed while it is applied: undone at once, the host is what it was', limit, async () => {
    const effects = await atEveryEffect(async (host, dieAt) => {
      const was = [await look(host), processes(host)];
      await host.revive(dieAt);
      const died = await dies(() => applyAll(host, changes));
      await host.revive();
      await undoAll(host);
      expect([dieAt, await look(host), processes(host)]).toEqual([dieAt, ...was]);
      expect(await host.files.stat('/var/lib/bke')).toBeUndefined();
      return died;
    });
    expect(effects).toBeGreaterThan(20);
  });

  test('killed while it is applied: the next run ends as a clean run does, and can be undone', limit, async () => {
    const clean = await makeHost();
    await applyAll(clean, changes);
    const wanted = [await look(clean, ['']), processes(clean)];
    await atEveryEffect(async (host, dieAt) => {
      const was = [await look(host), processes(host)];
      await host.revive(dieAt);
      const died = await dies(() => applyAll(host, changes));
      await host.revive();
      await applyAll(host, changes.slice(-1));
      await applyAll(host, changes);
      expect([dieAt, await look(host, ['']), processes(host)]).toEqual([dieAt, ...wanted]);
      await undoAll(host);
      expect([dieAt, await look(host), processes(host)]).toEqual([dieAt, ...was]);
      return died;
    });
  });

  test('killed while it is undone: the next reset goes on, and the host is what it was', limit, async () => {
    await atEveryEffect(async (host, dieAt) => {
      const was = [await look(host), processes(host)];
      await applyAll(host, changes);
      await fillZones(host);
      await host.revive(dieAt);
      const died = await dies(() => undoAll(host));
      await host.revive();
      await undoAll(host);
      expect([dieAt, await look(host), processes(host)]).toEqual([dieAt, ...was]);
      expect(await host.files.stat('/var/lib/bke')).toBeUndefined();
      return died;
    });
  });
});
