// Changes on a real host with systemd: applied, killed in the middle, applied again and undone, an independent scan finds no difference.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTar } from '../fakes/archives.ts';
import { bundled } from '../fakes/bundled.ts';
import { runCli } from '../fakes/cli.ts';
import { diffScans, scanMachine, startHosts, stopHosts, type TestHost } from '../testbed/index.ts';

/** Every seed with `npm run test:soak`, two of them else. */
const seeds = Array.from({ length: process.env['BKE_SOAK'] === undefined ? 2 : 20 }, (_, index) => index + 1);

let host: TestHost;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-changes-'));
  const entry = fileURLToPath(new URL('../integration/host/real-host.ts', import.meta.url));
  const program = bundled(entry);
  await writeFile(
    join(folder, 'pkg.tar.gz'),
    gzipSync(
      await makeTar([
        { name: 'pkg/bin/tool', mode: 0o755, content: '#!/bin/sh\n' },
        { name: 'pkg/current', type: 'symlink', linkname: 'bin/tool' },
      ]),
    ),
  );
  const [started] = await startHosts(['changes']);
  if (started === undefined) throw new Error('no host was started');
  host = started;
  await host.copyIn(process.execPath, '/root/node');
  await host.copyIn(program, '/root/real-host.mjs');
  await host.copyIn(join(folder, 'pkg.tar.gz'), '/root/pkg.tar.gz');
});

afterAll(async () => {
  await stopHosts();
  await rm(folder, { recursive: true, force: true });
});

test('a check of the host over SSH looks at it and changes nothing', async () => {
  const file = join(folder, 'cluster.yaml');
  const fields = `name: changes, address: ${host.address}, roles: [control-plane, worker]`;
  const ssh = `ssh: {privateKeyFile: ${host.privateKeyFile}, hostKeys: ["${host.hostKey.fingerprint}"]}`;
  await writeFile(
    file,
    `apiVersion: bke.io/v1alpha1\nkind: Cluster\nmetadata: {name: looked-at}\nspec:\n  kubernetesVersion: v1.36.3\n  settings: {kubelet: {failCgroupV1: false}, ignoreChecks: [disk-space]}\n  hosts: [{${fields}, ${ssh}}]\n`,
  );
  const before = await scanMachine(host);
  const { code, stdout, stderr } = await runCli(['host', 'check', '-f', file, '-o', 'json'], { env: { HOME: folder } });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).items).toMatchObject([{ name: 'changes', state: 'ready', facts: { hostname: 'changes' } }]);
  expect(diffScans(before, await scanMachine(host))).toEqual([]);
});

function script(verb: string, seed: number, dieAfterMs?: number): Promise<string> {
  return host.output([
    '/root/node',
    '/root/real-host.mjs',
    verb,
    String(seed),
    ...(dieAfterMs === undefined ? [] : [String(dieAfterMs)]),
  ]);
}

test.each(seeds)('seed %i: applied, filled by others and undone, nothing differs', async (seed) => {
  const before = await scanMachine(host);
  const applied: [string, boolean][] = JSON.parse(await script('apply', seed));
  expect(applied.some(([, changed]) => changed)).toBe(true);
  await host.output(
    'for d in /etc/cni/net.d /opt/zone; do mkdir -p $d/deep 2>/dev/null && echo x > $d/deep/f; done; true',
  );
  await host.output(
    'test -d /opt/zone && grep -q zone:/opt/zone /var/lib/bke/ledger/ledger.jsonl || rm -rf /opt/zone; grep -q zone:/etc/cni /var/lib/bke/ledger/ledger.jsonl || rm -rf /etc/cni',
  );
  const undone = await script('undo', seed);
  expect(undone).not.toMatch(/"result":"(left|kept)"/);
  expect(diffScans(before, await scanMachine(host))).toEqual([]);
});

test.each(seeds)(
  'seed %i: killed at many moments while it is applied and undone, the host comes back',
  async (seed) => {
    const before = await scanMachine(host);
    for (const dieAfterMs of [40, 90, 150, 220, 300, 420, 600, 900]) {
      await host.exec(['/root/node', '/root/real-host.mjs', 'apply', String(seed + 100), String(dieAfterMs + seed)]);
      if (dieAfterMs % 100 !== 0)
        await host.exec(['/root/node', '/root/real-host.mjs', 'undo', String(seed), String(dieAfterMs)]);
    }
    await script('apply', seed + 100);
    expect(await script('undo', seed)).not.toMatch(/"result":"(left|kept)"/);
    expect(diffScans(before, await scanMachine(host))).toEqual([]);
  },
);
