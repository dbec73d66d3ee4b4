// Programs over a real sshd: what arrives is what was meant, whatever the account's shell and start-up files are.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../../src/host/ssh/connect.ts';
import type { SshHost } from '../../../src/host/ssh/ssh-host.ts';
import { TestAccount, TestSshd, ensurePackages } from './sshd.ts';

let sshd: TestSshd;
beforeAll(async () => {
  sshd = await TestSshd.start({ config: ['Banner /etc/issue.net', 'MaxStartups 50'] });
});
afterAll(() => sshd[Symbol.asyncDispose]());

const nopasswd = { sudo: 'ALL=(ALL) NOPASSWD: ALL', password: 'login-4711' };

async function withHost<T>(account: TestAccount, work: (host: SshHost) => Promise<T>): Promise<T> {
  const host = await connect(sshd.target({ user: account.name, auth: { password: 'login-4711' } }));
  try {
    return await work(host);
  } finally {
    await host.close();
  }
}

/** What every account must give, byte for byte. */
async function provesClean(host: SshHost): Promise<void> {
  const odd = 'a\'b"c$d`e\\f!g(h) i#j&k\nl ü\u{1F600}';
  expect(await host.run(['printf', '%s', odd])).toEqual({ exitCode: 0, stdout: odd, stderr: '' });
  expect(await host.run(['sh', '-c', 'echo out; echo err >&2; exit 7'])).toEqual({
    exitCode: 7,
    stdout: 'out\n',
    stderr: 'err\n',
  });
  expect(await host.run(['cat'], { input: 'line 1\nline 2' })).toEqual({
    exitCode: 0,
    stdout: 'line 1\nline 2',
    stderr: '',
  });
  expect((await host.run(['id', '-u'])).stdout).toBe('0\n');
  expect(
    (await host.run(['env'])).stdout
      .split('\n')
      .filter((line) => line !== '')
      .toSorted(),
  ).toEqual(['HOME=/root', 'LC_ALL=C', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']);
}

describe('login shells', () => {
  const shells = ['/bin/sh', '/bin/bash', '/usr/bin/tcsh', '/usr/bin/fish', '/usr/bin/zsh', '/bin/rbash'];
  beforeAll(() => ensurePackages('tcsh', 'fish', 'zsh'));

  test.each(shells.slice(0, 5))('%s', async (shell) => {
    using account = new TestAccount({ ...nopasswd, shell });
    await withHost(account, provesClean);
  });

  test.each(['/usr/sbin/nologin', '/bin/false', '/bin/rbash'])('%s is named as the reason', async (shell) => {
    using account = new TestAccount({ ...nopasswd, shell });
    await withHost(account, async (host) => {
      await expect(host.run(['true'])).rejects.toMatchObject({
        code: 'BKE_SSH_SHELL',
        host: 'w1',
        exitCode: 5,
        message: expect.stringContaining("the account's shell runs no command"),
      });
    });
  });
});

describe('start-up files', () => {
  test('that print, set variables, read input and change the language do no harm', async () => {
    const noise = [
      'echo hello',
      'echo oops >&2',
      'printf "bke ready 1\\n"',
      'export LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 http_proxy=http://127.0.0.1:9 ALL_PROXY=http://127.0.0.1:9 CDPATH=/tmp ENV=/nope BASH_ENV=/nope',
      'printf() { echo not me; }; export -f printf',
      'alias cat=false; set -o noclobber',
      'umask 077; cd /tmp; trap "echo bye" EXIT',
      'head -c 300000 /dev/zero | tr "\\0" x',
    ].join('\n');
    using account = new TestAccount({ ...nopasswd, files: { '.bashrc': noise, '.profile': noise } });
    await withHost(account, provesClean);
  });

  test('that exit at once are named, with what they printed', async () => {
    using account = new TestAccount({ ...nopasswd, files: { '.bashrc': 'echo "maintenance until noon"; exit 3' } });
    await withHost(account, async (host) => {
      await expect(host.run(['true'])).rejects.toMatchObject({
        code: 'BKE_SSH_SHELL',
        details: ['maintenance until noon'],
      });
    });
  });
});

describe('sudo', () => {
  const odd = 'a\'b"c$d`e\\f!g(h) i#j&k';

  test.each([odd, 'pässwörd-密码', '-starts with a dash', '  spaces  '])(
    'takes the password %s, and the payload has none of it',
    async (password) => {
      using account = new TestAccount({ password, sudo: 'ALL=(ALL) ALL' });
      const host = await connect(
        sshd.target({ user: account.name, auth: { password }, sudo: { password: () => Promise.resolve(password) } }),
      );
      const script = Array.from({ length: 500 }, (_, line) => `echo line ${line}`).join('\n');
      const { stdout, exitCode } = await host.run(['sh'], { input: script });
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout: Array.from({ length: 500 }, (_, line) => `line ${line}\n`).join(''),
      });
      const echoed = await host.run(['cat'], { input: 'x' });
      expect(echoed.stdout).toBe('x');
      await host.close();
    },
  );

  test('without a password of its own gets the one of the login', async () => {
    using account = new TestAccount({ password: odd, sudo: 'ALL=(ALL) ALL' });
    const host = await connect(sshd.target({ user: account.name, auth: { password: odd } }));
    expect((await host.run(['id', '-u'])).stdout).toBe('0\n');
    await host.close();
  });

  test('with a cached login (no prompt) sends no password anywhere', async () => {
    using account = new TestAccount({
      ...nopasswd,
      sudo: 'ALL=(ALL) ALL',
      sudoDefaults: ['Defaults:USER timestamp_type=global'],
    });
    await withHost(account, async (host) => {
      for (let run = 0; run < 3; run += 1)
        expect((await host.run(['cat'], { input: 'payload' })).stdout).toBe('payload');
    });
  });

  test('fails once and at once for a wrong password', async () => {
    const log = `${sshd.directory}/sudo.log`;
    using account = new TestAccount({
      ...nopasswd,
      sudo: 'ALL=(ALL) ALL',
      sudoDefaults: [`Defaults:USER logfile=${log}`],
    });
    const host = await connect(
      sshd.target({ user: account.name, auth: { password: 'login-4711' }, sudo: { password: 'wrong-one' } }),
    );
    const start = performance.now();
    const denied = { code: 'BKE_SUDO_DENIED', message: expect.stringContaining('the sudo password is wrong') };
    const runs = await Promise.allSettled(Array.from({ length: 8 }, () => host.run(['true'], { input: 'payload' })));
    expect(runs).toEqual(runs.map(() => ({ status: 'rejected', reason: expect.objectContaining(denied) })));
    await expect(host.run(['true'])).rejects.toMatchObject(denied);
    expect(performance.now() - start).toBeLessThan(10_000);
    await host.close();
    const failures = readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('incorrect password'));
    expect(failures).toEqual([expect.stringContaining('1 incorrect password attempt')]);
  });

  test('names ssh.sudo where no password is known, or asks once where there is somebody to ask', async () => {
    using account = new TestAccount({ ...nopasswd, sudo: 'ALL=(ALL) ALL' });
    const auth = { privateKey: { file: `${sshd.directory}/root` } };
    const alone = await connect(sshd.target({ user: account.name, auth }));
    await expect(alone.run(['true'])).rejects.toMatchObject({
      code: 'BKE_SUDO_PASSWORD_NEEDED',
      hint: expect.stringContaining('ssh.sudo'),
    });
    await alone.close();
    const asked: string[] = [];
    const host = await connect(sshd.target({ user: account.name, auth }), {
      askSudoPassword: (question) => {
        asked.push(question);
        return Promise.resolve('login-4711');
      },
    });
    const [first, second] = await Promise.all([host.run(['id', '-u']), host.run(['id', '-u'])]);
    expect([first.stdout, second.stdout]).toEqual(['0\n', '0\n']);
    expect(asked).toEqual([`sudo password of ${account.name} on w1`]);
    await host.close();
  });

  test('is refused in one sentence for an account without any right, and for requiretty', async () => {
    using stranger = new TestAccount({ password: nopasswd.password });
    await withHost(stranger, async (host) => {
      await expect(host.run(['true'])).rejects.toMatchObject({
        code: 'BKE_SUDO_DENIED',
        message: expect.stringContaining('may not become root'),
      });
    });
    using strict = new TestAccount({ ...nopasswd, sudoDefaults: ['Defaults:USER requiretty'] });
    await withHost(strict, async (host) => {
      await expect(host.run(['true'])).rejects.toMatchObject({
        code: 'BKE_SUDO_DENIED',
        hint: `Add to sudoers: Defaults:${strict.name} !requiretty`,
      });
    });
  });
});

describe('deadlines', () => {
  test.each(['root', 'sudo'])('a program that overstays is ended with its children (%s)', async (kind) => {
    using account = new TestAccount(nopasswd);
    const host = await connect(
      kind === 'root' ? sshd.target() : sshd.target({ user: account.name, auth: { password: nopasswd.password } }),
    );
    const mark = `86${Math.floor(Math.random() * 1e6)}`;
    await expect(
      host.run(['sh', '-c', `echo working; sleep ${mark} & sleep ${mark}; wait`], { timeoutMs: 700 }),
    ).rejects.toMatchObject({
      code: 'BKE_TIMEOUT',
      exitCode: 6,
      details: ['working'],
    });
    await pause(200);
    expect(running(mark)).toEqual([]);
    // The connection goes on.
    expect((await host.run(['echo', 'alive'])).stdout).toBe('alive\n');
    await host.close();
  });

  test('a program that ignores TERM is killed', async () => {
    const host = await connect(sshd.target());
    const mark = `87${Math.floor(Math.random() * 1e6)}`;
    await expect(host.run(['sh', '-c', `trap "" TERM; sleep ${mark}`], { timeoutMs: 500 })).rejects.toMatchObject({
      code: 'BKE_TIMEOUT',
    });
    await pause(200);
    expect(running(mark)).toEqual([]);
    await host.close();
  });

  test('an abort ends it as well, and a program waiting for input', async () => {
    const host = await connect(sshd.target());
    const stop = new AbortController();
    const endless = new Readable({ read: () => undefined });
    const work = host.run(['cat'], { input: endless, signal: stop.signal });
    setTimeout(() => stop.abort(), 500);
    await expect(work).rejects.toMatchObject({ code: 'BKE_CANCELLED', exitCode: 130 });
    expect(endless.destroyed).toBe(true);
    await host.close();
  });

  test('a background program that keeps the output open does not hold the answer up', async () => {
    const host = await connect(sshd.target());
    const start = performance.now();
    expect((await host.run(['sh', '-c', 'sleep 20 & echo started'])).stdout).toBe('started\n');
    expect(performance.now() - start).toBeLessThan(5000);
    await host.close();
  });

  function running(mark: string): string[] {
    return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(`sleep ${mark}`));
  }
});

describe('output and input', () => {
  test('large output keeps its end, large input arrives whole, an unread input does no harm', async () => {
    const host = await connect(sshd.target());
    const { stdout, dropped } = await host.run(['seq', '1', '400000'], { maxOutputBytes: 1000 });
    expect(stdout).toHaveLength(1000);
    expect(stdout.endsWith('399999\n400000\n')).toBe(true);
    // What seq prints is 2 688 895 bytes long.
    expect(dropped).toEqual({ stdout: 2_687_895, stderr: 0 });
    expect(await host.run(['echo', 'x'], { maxOutputBytes: 2 })).toEqual({ exitCode: 0, stdout: 'x\n', stderr: '' });
    const chunks = Readable.from(Array.from({ length: 300 }, () => Buffer.alloc(100_000, 'x')));
    expect((await host.run(['wc', '-c'], { input: chunks })).stdout.trim()).toBe('30000000');
    expect((await host.run(['true'], { input: Buffer.alloc(5_000_000) })).exitCode).toBe(0);
    await host.close();
  });

  test('an input that breaks is no success', async () => {
    const host = await connect(sshd.target());
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        await pause(10);
        throw new Error('the disk went away');
      })(),
    );
    await expect(host.run(['cat'], { input: broken })).rejects.toThrow('the disk went away');
    await host.close();
  });

  test('exit codes, a missing program and a missing directory', async () => {
    const host = await connect(sshd.target());
    expect((await host.run(['no-such-program'])).exitCode).toBe(127);
    expect((await host.run(['sh', '-c', 'kill -9 $$'])).exitCode).toBe(137);
    await expect(host.run(['pwd'], { cwd: '/nowhere' })).rejects.toMatchObject({
      code: 'BKE_COMMAND_FAILED',
      details: ["cd: can't cd to /nowhere"],
    });
    expect((await host.run(['pwd'], { cwd: '/usr/lib' })).stdout).toBe('/usr/lib\n');
    expect((await host.run(['printenv', 'A'], { env: { A: "b 'c'\nd" } })).stdout).toBe("b 'c'\nd\n");
    await host.close();
  });
});

test('nothing of these tests is left', () => {
  expect(existsSync('/etc/sudoers.d')).toBe(true);
  expect(readFileSync('/etc/passwd', 'utf8')).not.toMatch(/^bket/m);
});
