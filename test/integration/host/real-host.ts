// Applies and undoes a list of changes chosen by a seed on the host it runs on: the part of the end-to-end test that runs there, bundled into one file.
import { openLedger } from '../../../src/host/ledger/ledger.ts';
import type { Change, Scope } from '../../../src/host/changes/change.ts';
import { openLocalHost } from '../../../src/host/local/local-host.ts';

/** mulberry32: the same seed gives the same list on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function unit(name: string, line: string, key: string, running: boolean): Change {
  const text = `[Unit]\nDescription=${name}\n[Service]\nExecStart=/bin/sleep ${line}\n[Install]\nWantedBy=multi-user.target\n`;
  return { kind: 'unit', name, text, enabled: running, running, restartKey: key };
}

async function changesOf(seed: number, archiveDigest: string): Promise<Change[]> {
  const random = randomFrom(seed);
  const pick = <T>(...choices: [T, ...T[]]): T => choices[Math.floor(random() * choices.length)] ?? choices[0];
  const makers: (() => Change)[] = [
    () => ({
      kind: 'file',
      path: pick('/etc/motd', '/etc/bke/a.conf', '/opt/x/y z/f'),
      mode: pick(0o600, 0o644),
      content: { text: pick('1', '2', '3\n') },
    }),
    () => ({ kind: 'link', path: pick('/usr/local/bin/bke-link', '/etc/bke/l'), target: pick('/bin/true', 'a.conf') }),
    () => ({
      kind: 'directory',
      path: pick('/var/lib/bke-data', '/srv/bke/deep'),
      mode: pick(0o700, 0o755),
      owner: { user: 'daemon', group: 'daemon' },
    }),
    () =>
      unit(pick('bke-one.service', 'bke-two.service'), pick('1000', '2000'), pick('a', 'b'), pick(true, true, false)),
    () => ({ kind: 'user', name: pick('bke-etcd', 'bke-registry') }),
    () => ({ kind: 'sysctl', name: 'net.ipv4.ip_forward', value: pick('0', '1') }),
    () => ({ kind: 'sysctl', name: 'net.ipv4.ip_local_reserved_ports', value: pick('40443-40444', '30010,36443') }),
    () => ({
      kind: 'hosts-entry',
      address: pick('10.0.0.5', '10.0.0.6'),
      names: pick(['registry.site'], ['a.site', 'b.site']),
    }),
    () => ({ kind: 'zone', path: pick('/etc/cni/net.d', '/opt/zone') }),
    () => ({
      kind: 'archive',
      source: '/root/pkg.tar.gz',
      digest: archiveDigest,
      destination: '/usr/local/libexec/bke/pkg-1',
      strip: 1,
    }),
  ];
  return Array.from({ length: 16 }, () => (makers[Math.floor(random() * makers.length)] ?? makers[0])?.()).filter(
    (change) => change !== undefined,
  );
}

const [verb = '', seed = '1', dieAfterMs = ''] = process.argv.slice(2);
if (dieAfterMs !== '') setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(dieAfterMs));
const host = await openLocalHost();
const ledger = await openLedger(host, { operation: `real-${seed}`, command: `real-host ${verb}` });
const report: unknown[] = [];
if (verb === 'apply') {
  const scope: Scope = 'services';
  for (const change of await changesOf(Number(seed), await host.files.digest('/root/pkg.tar.gz'))) {
    report.push([change.kind, (await ledger.apply(scope, change)).changed]);
  }
} else {
  for (const resource of ledger.resources()) report.push([resource.key, await ledger.undo(resource)]);
  report.push(await ledger.remove());
}
await ledger.finish();
await ledger.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);
