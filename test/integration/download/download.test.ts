// download.sh against a release server, under each shell that is here.
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DownloadBench, fakeBke, findProgram, script, shells } from './bench.ts';

if (shells.length < 3)
  process.stderr.write(`download skipped: of bash, dash and busybox only ${shells.join(', ')} is here\n`);
const needed = 'sh id uname mkdir rm df tail head tr grep sha256sum readlink ln cp mv chmod sync timeout cat'.split(
  ' ',
);

describe.each(shells.map((shell) => ({ name: shell.join(' '), shell })))('under $name', ({ shell }) => {
  test('it installs, updates a program that runs, keeps the one before, and does nothing twice', async () => {
    await using bench = await DownloadBench.start();
    bench.served.set('v0.1.0/bke-linux-amd64', fakeBke('0.1.0', 'sleep 30'));
    bench.release('0.1.0', { amd64: fakeBke('0.1.0', 'sleep 30') });
    const first = await bench.run({ shell });
    expect(first).toEqual({
      exitCode: 0,
      stderr: `Fetching bke v0.1.0 for amd64 from ${bench.url}\nbke v0.1.0 is in ${bench.target}/bke.\n`,
    });
    expect(bench.left()).toEqual(['bke']);
    expect(statSync(join(bench.target, 'bke')).mode & 0o7777).toBe(0o755);
    const running = spawn(join(bench.target, 'bke'), { stdio: 'ignore' });
    bench.release('0.2.0', { amd64: fakeBke('0.2.0') });
    const second = await bench.run({ shell, text: `umask 077\n${script}` });
    running.kill();
    expect(second).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('The one before (v0.1.0) is') });
    expect(bench.left()).toEqual(['bke', 'bke.old']);
    expect([bench.text(), bench.text('bke.old')]).toEqual([fakeBke('0.2.0'), fakeBke('0.1.0', 'sleep 30')]);
    expect(statSync(join(bench.target, 'bke')).mode & 0o7777).toBe(0o755);
    const before = bench.requests.length;
    expect(await bench.run({ shell })).toEqual({
      exitCode: 0,
      stderr: `bke v0.2.0 is in ${bench.target}/bke already.\n`,
    });
    expect(bench.requests.slice(before)).toEqual(['latest', 'v0.2.0/sha256sums.txt']);
    expect(bench.left()).toEqual(['bke', 'bke.old']);
    // Back to an earlier one, and a version without its v.
    expect(await bench.run({ shell, env: { BKE_VERSION: '0.1.0' } })).toMatchObject({ exitCode: 0 });
    expect([bench.text(), bench.text('bke.old')]).toEqual([fakeBke('0.1.0', 'sleep 30'), fakeBke('0.2.0')]);
  });

  test('a wrong checksum, a page in place of a version and a program that does not start change nothing', async () => {
    await using bench = await DownloadBench.start();
    await bench.run({ shell });
    const good = bench.text();
    bench.release('0.2.0', { amd64: fakeBke('0.2.0') });
    bench.served.set('v0.2.0/bke-linux-amd64', fakeBke('0.2.0', 'evil'));
    const fails = async (message: string | RegExp): Promise<void> => {
      const { exitCode, stderr } = await bench.run({ shell });
      expect(stderr).toMatch(message);
      expect(stderr).toMatch(/^Error: .*\n {2}\S.*\n$/m);
      expect(exitCode).toBe(1);
      expect([bench.left(), bench.text()]).toEqual([['bke'], good]);
    };
    await fails(
      /v0\.2\.0\/bke-linux-amd64 is not what sha256sums\.txt says: expected [0-9a-f]{64}, got [0-9a-f]{64}\n.*do not use it/,
    );
    bench.release('0.2.0', {
      amd64: '#!/bin/sh\necho "libstdc++.so.6: cannot open shared object file" >&2; exit 127\n',
    });
    await fails(/bke v0\.2\.0 does not start here \(exit 127\): libstdc.*cannot open.*\n.*glibc 2\.28/);
    bench.release('0.2.0', { amd64: fakeBke('0.3.0') });
    await fails("the server's v0.2.0 says that it is v0.3.0");
    bench.release('0.2.0', { arm64: fakeBke('0.2.0') });
    await fails('sha256sums.txt has no line for bke-linux-amd64');
    bench.served.set('v0.2.0/sha256sums.txt', '<html>  bke-linux-amd64\n');
    await fails('has no SHA-256');
    bench.served.set('latest', '<!DOCTYPE html><title>Log in</title>\n');
    await fails('is no version');
    bench.served.set('latest', 'v9.9.9\n');
    await fails(/v9\.9\.9\/sha256sums\.txt is not there \(404\)\n.*BKE_VERSION/);
  });

  test('a part of the script runs nothing', async () => {
    await using bench = await DownloadBench.start();
    const marks = join(bench.directory, 'ran');
    const spy = `#!/bin/sh\necho "$0" >>${marks}\n`;
    const names = ['uname', 'id', 'mkdir', 'curl', 'wget', 'rm', 'df', 'head', 'mv', 'ln', 'chmod'];
    const path = bench.programs('spies', [], Object.fromEntries(names.map((name) => [name, spy])));
    const end = script.trimEnd().length;
    const cuts = [...Array.from({ length: 24 }, (_, index) => Math.floor((end * index) / 24)), end - 2, end - 1];
    await Promise.all(cuts.map((cut) => bench.run({ shell, env: { PATH: path }, text: script.slice(0, cut) })));
    expect(existsSync(marks)).toBe(false);
    expect([bench.requests, bench.left()]).toEqual([[], []]);
    await bench.run({ shell, env: { PATH: path } });
    expect(readFileSync(marks, 'utf8')).toContain('uname');
  });
});

test('killed at any moment it leaves a whole program, and the next run leaves nothing else', async () => {
  await using bench = await DownloadBench.start();
  const one = fakeBke('0.1.0', `# ${'x'.repeat(200_000)}`);
  const two = fakeBke('0.2.0', `# ${'y'.repeat(200_000)}`);
  bench.release('0.1.0', { amd64: one });
  await bench.run();
  bench.release('0.2.0', { amd64: two });
  bench.slow = 10_000;
  const moments: string[] = [];
  for (let killAfter = 40; killAfter < 2500; killAfter += 240) {
    const { exitCode } = await bench.run({ killAfter });
    expect([one, two]).toContain(bench.text());
    moments.push(
      exitCode === 0 ? 'done' : bench.left().some((name) => name.startsWith('.bke-download')) ? 'part' : 'none',
    );
    if (exitCode === 0) break;
  }
  // It was really hit in the middle of the download.
  expect(moments).toContain('part');
  bench.slow = 0;
  await bench.run();
  expect(bench.left()).toEqual(['bke', 'bke.old']);
  expect(bench.text()).toBe(two);
});

describe('processors', () => {
  const uname = (machine: string, system = 'Linux'): Readonly<Record<string, string>> => ({
    uname: `#!/bin/sh\nif [ "$1" = -m ]; then echo ${machine}; else echo ${system}; fi\n`,
  });

  test.each([
    ['x86_64', 'amd64'],
    ['amd64', 'amd64'],
    ['aarch64', 'arm64'],
    ['arm64', 'arm64'],
  ])('%s gets %s', async (machine, architecture) => {
    await using bench = await DownloadBench.start();
    const path = bench.programs('fake', [], uname(machine));
    const { exitCode } = await bench.run({ shell: ['dash'], env: { PATH: `${path}:${process.env['PATH']}` } });
    expect(exitCode).toBe(0);
    expect(bench.requests.at(-1)).toBe(`v0.1.0/bke-linux-${architecture}`);
  });

  test.each([
    [
      'armv7l',
      'Linux',
      'there is no bke for this processor (armv7l)\n  bke exists for amd64 (x86_64) and arm64 (aarch64)',
    ],
    ['i686', 'Linux', 'there is no bke for this processor (i686)'],
    ['arm64', 'Darwin', 'bke is made for Linux, and this is Darwin'],
  ])('%s on %s is refused before anything is asked for', async (machine, system, message) => {
    await using bench = await DownloadBench.start();
    const path = bench.programs('fake', [], uname(machine, system));
    const result = await bench.run({ shell: ['dash'], env: { PATH: `${path}:${process.env['PATH']}` } });
    expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(message) });
    expect([bench.requests, bench.left()]).toEqual([[], []]);
  });
});

describe('servers', () => {
  const fetchers = ['curl', 'wget'] as const;

  test.each(fetchers)('%s: each fault is named with its mend', async (fetcher) => {
    await using bench = await DownloadBench.start();
    const PATH = bench.programs('few', [...needed, fetcher]);
    const fails = async (env: Readonly<Record<string, string | undefined>>, message: RegExp): Promise<void> => {
      const { exitCode, stderr } = await bench.run({ shell: ['dash'], env: { PATH, ...env } });
      expect(stderr).toMatch(message);
      expect([exitCode, bench.left()]).toEqual([1, []]);
    };
    await fails(
      { BKE_CA_FILE: undefined },
      /cannot trust the server of https:\/\/localhost.*: .*certificate.*\n.*BKE_CA_FILE/,
    );
    await fails(
      { BKE_DOWNLOAD_URL: bench.url.replace('localhost', '127.0.0.1') },
      /cannot trust the server .*\n.*name in the address/,
    );
    await fails(
      { BKE_DOWNLOAD_URL: 'https://localhost:1' },
      /cannot reach the server of https:\/\/localhost:1: .*(?:refused|connect).*\n.*firewall/,
    );
    await fails({ BKE_DOWNLOAD_URL: 'https://no-such-host.invalid/bke' }, /cannot find the server of .*\n.*DNS/);
    await fails({ BKE_VERSION: 'v7.0.0' }, /v7\.0\.0\/sha256sums\.txt is not there \(404\)\n.*BKE_DOWNLOAD_URL/);
    expect((await bench.run({ shell: ['dash'], env: { PATH } })).stderr).toContain('bke v0.1.0 is in');
  });

  test('what cannot be right is refused before anything is asked for', async () => {
    await using bench = await DownloadBench.start();
    const http = bench.url.replace('https', 'http');
    const cases: readonly (readonly [Readonly<Record<string, string | undefined>>, RegExp])[] = [
      [{ BKE_DOWNLOAD_URL: undefined }, /names no server\n.*BKE_DOWNLOAD_URL=https/],
      [{ BKE_DOWNLOAD_URL: 'ftp://host/x' }, /neither an address/],
      [{ BKE_DOWNLOAD_URL: http }, /is not encrypted.*\n.*BKE_ALLOW_HTTP=1/],
      [{ BKE_CA_FILE: '/no/such/ca' }, /CA certificate \/no\/such\/ca .* cannot be read/],
      [{ BKE_VERSION: 'v1.0/../../x' }, /"v1.0\/..\/..\/x" is no version/],
      [{ BKE_INSTALL_DIR: 'here' }, /no absolute path/],
      [{ PATH: bench.programs('none', needed) }, /neither curl nor wget is here\n.*carry bke-linux-amd64/],
    ];
    for (const [env, message] of cases) {
      const { exitCode, stderr } = await bench.run({ shell: ['dash'], env });
      expect(stderr).toMatch(message);
      expect(exitCode).toBe(1);
    }
    expect(bench.requests).toEqual([]);
    const busybox = findProgram('busybox');
    if (busybox === undefined) process.stderr.write('download skipped: the wget of busybox is not here\n');
    else {
      const path = bench.programs('small', needed);
      symlinkSync(busybox, join(path, 'wget'));
      expect((await bench.run({ shell: ['dash'], env: { PATH: path } })).stderr).toContain(
        'this wget cannot check who the server is',
      );
    }
  });

  test('a folder on this machine does without a network', async () => {
    await using bench = await DownloadBench.start();
    const folder = join(bench.directory, 'stick');
    for (const [path, text] of bench.served) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    for (const url of [folder, `file://${folder}/`]) {
      expect(
        await bench.run({ env: { BKE_DOWNLOAD_URL: url, PATH: bench.programs(`no-net-${url.length}`, needed) } }),
      ).toMatchObject({ exitCode: 0 });
    }
    expect(bench.requests).toEqual([]);
    const missing = await bench.run({ env: { BKE_DOWNLOAD_URL: '/no/such/folder' } });
    expect(missing).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/latest is not there\n.*must have latest/),
    });
  });
});

describe('the folder of the program', () => {
  test.skipIf(process.getuid?.() !== 0)('of an ordinary user is ~/.local/bin, and PATH is told', async () => {
    await using bench = await DownloadBench.start();
    const home = join(bench.directory, 'home');
    mkdirSync(home);
    chownSync(home, 65534, 65534);
    const env = { HOME: home, BKE_INSTALL_DIR: undefined };
    const { exitCode, stderr } = await bench.run({ env, user: 65534 });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`${home}/.local/bin is not in PATH. Call it as ${home}/.local/bin/bke, or: export PATH="`);
    expect(bench.left(join(home, '.local/bin'))).toEqual(['bke']);
    const denied = await bench.run({ env: { HOME: home, BKE_INSTALL_DIR: '/usr/local/sbin' }, user: 65534 });
    expect(denied).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/cannot write to \/usr\/local\/sbin: Permission denied\n {2}Run this as root/),
    });
    const homeless = await bench.run({ env: { HOME: undefined, BKE_INSTALL_DIR: undefined }, user: 65534 });
    expect(homeless.stderr).toContain('HOME is not set');
  });

  test("keeps a program that is no bke, a link and somebody's bke.old", async () => {
    await using bench = await DownloadBench.start();
    const program = join(bench.target, 'bke');
    mkdirSync(bench.target);
    writeFileSync(program, '#!/bin/sh\necho something else\n', { mode: 0o755 });
    expect(await bench.run()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/bin\/bke is there, and is no bke that runs here\n.*mv /),
    });
    expect(bench.text()).toContain('something else');
    writeFileSync(program, fakeBke('0.0.9'), { mode: 0o755 });
    writeFileSync(`${program}.old`, 'mine');
    expect(await bench.run()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('bke.old is there') });
    expect([bench.text(), bench.text('bke.old')]).toEqual([fakeBke('0.0.9'), 'mine']);
    const elsewhere = join(bench.directory, 'linked');
    mkdirSync(elsewhere);
    symlinkSync(program, join(elsewhere, 'bke'));
    expect(await bench.run({ env: { BKE_INSTALL_DIR: elsewhere } })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/is a link to .* \(bke v0\.0\.9\) and stays as it is/),
    });
    expect(bench.left(elsewhere)).toEqual(['bke']);
  });

  test.skipIf(process.getuid?.() !== 0)('that is full, read-only or without execution is named', async () => {
    await using bench = await DownloadBench.start();
    bench.release('0.2.0', { amd64: fakeBke('0.2.0', `# ${'x'.repeat(300_000)}`) });
    const mount = (name: string, options: string): string => {
      const folder = join(bench.directory, name);
      mkdirSync(folder);
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'bke-download', folder]);
      return folder;
    };
    const cases: readonly (readonly [string, RegExp])[] = [
      [mount('full', 'size=100k'), /no space left in .*full: 0 MiB free, bke needs about 130\n {2}Make room/],
      [mount('read-only', 'ro'), /cannot write to .*read-only: Read-only file system\n {2}Mount it writable/],
      [
        mount('noexec', 'noexec'),
        /programs cannot be started in .*noexec: Permission denied\n {2}Is it mounted noexec/,
      ],
    ];
    try {
      for (const [folder, message] of cases) {
        for (const fetcher of ['curl', 'wget']) {
          const PATH = bench.programs(`${folder.split('/').at(-1)}-${fetcher}`, [...needed, fetcher]);
          const { exitCode, stderr } = await bench.run({ shell: ['dash'], env: { BKE_INSTALL_DIR: folder, PATH } });
          expect(stderr).toMatch(message);
          expect([exitCode, bench.left(folder)]).toEqual([1, []]);
        }
      }
      // Nothing is started from /tmp, and nothing has to be.
      const TMPDIR = cases[2]?.[0] ?? '';
      expect((await bench.run({ env: { TMPDIR } })).exitCode).toBe(0);
    } finally {
      for (const [folder] of cases) execFileSync('umount', [folder]);
    }
  });

  test('another bke that comes first in PATH is told', async () => {
    await using bench = await DownloadBench.start();
    const other = bench.programs('other', [], { bke: fakeBke('0.0.1') });
    chmodSync(join(other, 'bke'), 0o755);
    const { stderr } = await bench.run({ env: { PATH: `${other}:${bench.target}:${process.env['PATH']}` } });
    expect(stderr).toContain(`Note: ${other}/bke comes before it in PATH.`);
  });
});
