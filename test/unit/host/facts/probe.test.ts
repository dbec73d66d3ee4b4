// The probe on this machine, under every shell a host may have as /bin/sh: what it finds is what Node finds, and it changes nothing.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, hostname, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseFacts } from '../../../../src/host/facts/parse.ts';
import type { HostFacts } from '../../../../src/host/facts/schema.ts';

const probe = readFileSync(new URL('../../../../assets/host/probe.sh', import.meta.url), 'utf8');
const shells = [['dash'], ['bash', '--posix'], ['busybox', 'sh']].filter(
  ([name]) => existsSync(`/usr/bin/${name}`) || existsSync(`/bin/${name}`),
);

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bke-probe-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function run([name = '', ...options]: readonly string[], ...paths: string[]): HostFacts {
  const before = BigInt(Date.now()) * 1_000_000n;
  const output = execFileSync(name, [...options, '-c', probe, 'bke-probe', ...paths], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      LC_ALL: 'C',
      BKE_MODULES: 'overlay no_such-module',
      BKE_TOOLS: 'sh no-such-tool',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return parseFacts(output, { before, after: BigInt(Date.now() + 1) * 1_000_000n });
}

describe.each(shells)('under %s', (...shell) => {
  test('finds what is there', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const facts = run(shell, '/', join(directory, 'not/yet "there"'));
    server.close();
    expect(facts).toMatchObject({
      hostname: hostname(),
      kernel: release(),
      arch: process.arch === 'x64' ? 'amd64' : process.arch,
      cpus: cpus().length,
      uid: process.getuid?.(),
      memoryBytes: Math.floor(totalmem() / 1024) * 1024,
      tools: { sh: expect.stringMatching(/^\//) },
      disks: [
        { path: '/', mount: '/' },
        { path: join(directory, 'not/yet "there"'), readOnly: false },
      ],
      machineId: readFileSync('/etc/machine-id', 'utf8').trim(),
    });
    expect(Object.keys(facts.tools)).toEqual(['sh']);
    expect(['missing', 'unknown']).toContain(facts.modules['no_such-module']);
    expect(facts.disks[0]?.sizeBytes).toBeGreaterThan(facts.disks[0]?.freeBytes ?? 0);
    expect(facts.addresses).toContainEqual({
      link: 'lo',
      family: 'inet',
      address: '127.0.0.1',
      prefix: 8,
      scope: 'host',
    });
    expect(facts.links.map(({ name }) => name)).toContain('lo');
    expect(Object.keys(facts.sysctl)).toContain('net.ipv4.ip_forward');
    expect(facts.sysctl['kernel.pid_max']).toBe(readFileSync('/proc/sys/kernel/pid_max', 'utf8').trim());
    // This process and its parent share one clock.
    expect(Math.abs(facts.clock.offsetMs)).toBeLessThanOrEqual(facts.clock.uncertaintyMs + 2);
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    expect(facts.listeners).toContainEqual(
      expect.objectContaining({ protocol: 'tcp', address: '127.0.0.1', port, pid: process.pid }),
    );
  });

  test('keeps apart what follows a last line without its end', () => {
    const [name = '', ...options] = shell;
    const helpers = probe.slice(0, probe.indexOf('\nnow() {'));
    const lines = `printf 'a:b\\nc\\\\d' | under first; say second e; seq 600 | under third`;
    const output = execFileSync(name, [...options, '-c', `${helpers}\n${lines}`], { encoding: 'utf8' }).split('\n');
    expect(output.slice(0, 4)).toEqual(['first:a:b', 'first:c\\d', 'second:e', 'third:1']);
    expect(output.slice(-2)).toEqual(['third:500', '']);
  });

  test('changes nothing', () => {
    const state = (): string =>
      ['/proc/modules', '/proc/mounts', '/proc/net/ip_tables_names', '/proc/sys/net/ipv4/ip_forward']
        .map((file) => (existsSync(file) ? readFileSync(file, 'utf8').replaceAll(/ \d+ /g, ' ') : ''))
        .join('\n');
    const before = state();
    run(shell, '/');
    expect(state()).toBe(before);
  });
});
