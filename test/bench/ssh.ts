// `npm run bench:ssh`: how fast bke puts a file on a host, against the OpenSSH client on the same sshd in the same run. Bar: at least 0.8 times the same
// work. Run as root, with --no-addons, since the built binary has no native addon either.
import { execFileSync, spawn } from 'node:child_process';
import { createReadStream, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostShell } from '../../src/host/host.ts';
import { connect } from '../../src/host/ssh/connect.ts';
import { judge } from './judge.ts';
import { TestSshd } from '../integration/ssh/sshd.ts';

const megabytes = Number(process.env['BKE_BENCH_MB'] ?? 256);
const rounds = 5;
const bar = 0.8;

const directory = mkdtempSync(join(tmpdir(), 'bke-bench-'));
const source = join(directory, 'source');
const place = join(directory, 'place');
execFileSync('dd', ['if=/dev/urandom', `of=${source}`, 'bs=1M', `count=${megabytes}`], { stdio: 'ignore' });
const digest = `sha256:${execFileSync('sha256sum', [source], { encoding: 'utf8' }).slice(0, 64)}`;
await using sshd = await TestSshd.start();

/** @returns MB/s */
async function measure(work: () => Promise<void>): Promise<number> {
  rmSync(place, { force: true });
  execFileSync('sync');
  const start = performance.now();
  await work();
  return megabytes / ((performance.now() - start) / 1000);
}

function openSsh(command: string): Promise<void> {
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'IdentitiesOnly=yes',
  ].flatMap((option) => ['-o', option]);
  const input = openSync(source, 'r');
  const child = spawn(
    'ssh',
    [...options, '-i', join(sshd.directory, 'root'), '-p', String(sshd.port), 'root@127.0.0.1', command],
    {
      stdio: [input, 'ignore', 'inherit'],
    },
  );
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`ssh ended with ${code}`))));
  });
}

async function bke(): Promise<void> {
  let host: HostShell | undefined;
  try {
    host = await connect(sshd.target());
    await host.upload(createReadStream(source, { highWaterMark: 256 * 1024 }), place, {
      digest,
      mode: 0o755,
      sizeBytes: megabytes * 1024 * 1024,
    });
  } finally {
    await host?.close();
  }
}

const ways: readonly [string, () => Promise<void>][] = [
  ['bke: upload (written, synced, checked, renamed)', bke],
  ["ssh host 'cat > f'", () => openSsh(`cat > ${place}`)],
  [
    "ssh host 'cat > f && sync f && sha256sum f' (the same work)",
    () => openSsh(`cat > ${place} && sync ${place} && sha256sum ${place}`),
  ],
];
const figures = new Map<string, number[]>(ways.map(([name]) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  // In turn, so that what else the machine does hits all alike.
  for (const [name, work] of ways) figures.get(name)?.push(await measure(work));
}
rmSync(directory, { recursive: true });

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const [own = 0, plain = 0, same = 0] = ways.map(([name]) => median(figures.get(name) ?? []));
console.log(`${megabytes} MB, median of ${rounds}:`);
for (const [name] of ways)
  console.log(
    `  ${median(figures.get(name) ?? [])
      .toFixed(0)
      .padStart(5)} MB/s  ${name}`,
  );
console.log(`ratio to plain cat: ${(own / plain).toFixed(2)}`);
judge('ratio to the same work', own / same, { atLeast: bar });
