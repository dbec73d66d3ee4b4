// Many programs and files over few channels; what is put on a host is whole, has the mode meant, or is not there at all.
import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type Socket, connect as connectTcp, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestOf } from '../../../src/lib/digest.ts';
import { connect } from '../../../src/host/ssh/connect.ts';
import type { SshHost } from '../../../src/host/ssh/ssh-host.ts';
import { TestAccount, TestSshd } from './sshd.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bke-transfer-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function put(host: SshHost, path: string, bytes: Buffer, mode = 0o644): Promise<void> {
  await host.upload(Readable.from(slices(bytes)), path, { digest: digestOf(bytes), mode, sizeBytes: bytes.length });
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

describe('few channels', () => {
  test.each([
    ['MaxSessions 1', 1],
    ['MaxSessions 2', 2],
    ['MaxSessions 10', 9],
  ])('%s: 20 programs at once and 30 uploads succeed', async (line, most) => {
    await using sshd = await TestSshd.start({ config: [line, 'MaxStartups 2:100:2'] });
    const host = await connect(sshd.target());
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => host.run(['echo', String(index)])));
    expect(answers.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 20 }, (_, index) => `${index}\n`));
    const files = Array.from({ length: 30 }, () => randomBytes(200_000));
    await Promise.all(files.map((bytes, index) => put(host, join(directory, `file-${index}`), bytes)));
    for (const [index, bytes] of files.entries())
      expect(readFileSync(join(directory, `file-${index}`)).equals(bytes)).toBe(true);
    await host.close();
    expect(sessionsAtOnce(sshd.log())).toBeLessThanOrEqual(most);
    // One login did it all.
    expect(sshd.log().match(/^Accepted publickey/gm)).toHaveLength(1);
  });

  test('MaxSessions 1: a program that overstays is ended through a second login', async () => {
    await using sshd = await TestSshd.start({ config: ['MaxSessions 1'] });
    const host = await connect(sshd.target());
    const mark = `85${Math.floor(Math.random() * 1e6)}`;
    await expect(host.run(['sleep', mark], { timeoutMs: 500 })).rejects.toMatchObject({ code: 'BKE_TIMEOUT' });
    await pause(200);
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(`sleep ${mark}`);
    expect((await host.run(['echo', 'alive'])).stdout).toBe('alive\n');
    await host.close();
  });

  test('MaxSessions 0 is named', async () => {
    await using sshd = await TestSshd.start({ config: ['MaxSessions 0'] });
    const host = await connect(sshd.target());
    await expect(host.run(['true'])).rejects.toMatchObject({
      code: 'BKE_SSH_SHELL',
      hint: expect.stringContaining('MaxSessions'),
    });
    await host.close();
  });

  test('MaxStartups 2:100:2: ten logins at once succeed', async () => {
    await using sshd = await TestSshd.start({ config: ['MaxStartups 2:100:2'] });
    const hosts = await Promise.all(Array.from({ length: 10 }, () => connect(sshd.target())));
    const answers = await Promise.all(hosts.map((host) => host.run(['echo', 'in'])));
    expect(answers.every(({ stdout }) => stdout === 'in\n')).toBe(true);
    await Promise.all(hosts.map((host) => host.close()));
  });

  /** The most sessions open at the same time, from sshd's log. */
  function sessionsAtOnce(log: string): number {
    let open = 0;
    let most = 0;
    for (const line of log.split('\n')) {
      if (line.startsWith('Starting session')) most = Math.max(most, ++open);
      if (line.startsWith('Close session')) open -= 1;
    }
    return most;
  }
});

describe('upload', () => {
  test.each(['022', '077', '000'])(
    'mode and owner are as meant under umask %s, as root and through sudo',
    async (umask) => {
      await using sshd = await TestSshd.start();
      const setup = `umask ${umask}\necho hello\n`;
      using account = new TestAccount({
        password: 'CANARY-7391',
        sudo: 'ALL=(ALL) ALL',
        files: { '.bashrc': setup, '.profile': setup },
      });
      const sudo = await connect(sshd.target({ user: account.name, auth: { password: 'CANARY-7391' } }));
      const bytes = randomBytes(1_000_000);
      for (const mode of [0o600, 0o755, 0o644]) {
        const path = join(directory, `it's a "file" $x ${mode.toString(8)}`);
        await put(sudo, path, bytes, mode);
        const { mode: found, uid, gid } = statSync(path);
        expect({ mode: found & 0o7777, uid, gid }).toEqual({ mode, uid: 0, gid: 0 });
        expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(
          createHash('sha256').update(bytes).digest('hex'),
        );
        expect(readFileSync(path).includes('CANARY')).toBe(false);
      }
      await sudo.close();
    },
  );

  test('survives new keys being agreed on in the middle', async () => {
    await using sshd = await TestSshd.start({ config: ['RekeyLimit 1M'] });
    const host = await connect(sshd.target());
    const bytes = randomBytes(20_000_000);
    await put(host, join(directory, 'a'), bytes);
    expect(readFileSync(join(directory, 'a')).equals(bytes)).toBe(true);
    expect((await host.run(['head', '-c', '5000000', join(directory, 'a')], { maxOutputBytes: 10 })).exitCode).toBe(0);
    await host.close();
  });

  test('replaces what is there by rename, also a link, and works for an empty file', async () => {
    await using sshd = await TestSshd.start();
    const host = await connect(sshd.target());
    const [path, other] = [join(directory, 'a'), join(directory, 'b')];
    writeFileSync(other, 'untouched');
    symlinkSync(other, path);
    await put(host, path, Buffer.from('new'));
    expect([readFileSync(path, 'utf8'), readFileSync(other, 'utf8')]).toEqual(['new', 'untouched']);
    const inode = statSync(path).ino;
    await put(host, path, Buffer.alloc(0));
    expect(readFileSync(path, 'utf8')).toBe('');
    expect(statSync(path).ino).not.toBe(inode);
    expect(readdirSync(directory).toSorted()).toEqual(['a', 'b']);
    await host.close();
  });

  test('what is not what was meant is not put in place', async () => {
    await using sshd = await TestSshd.start();
    const host = await connect(sshd.target());
    const path = join(directory, 'a');
    writeFileSync(path, 'old');
    const digest = digestOf('something else');
    await expect(host.upload(Readable.from([Buffer.from('xyz')]), path, { digest, mode: 0o644 })).rejects.toMatchObject(
      {
        code: 'BKE_DIGEST_MISMATCH',
        message: expect.stringContaining(`expected ${digest}, got ${digestOf('xyz')}`),
      },
    );
    const broken = Readable.from(
      (async function* () {
        yield randomBytes(100_000);
        await pause(20);
        throw new Error('source broke');
      })(),
    );
    await expect(host.upload(broken, path, { digest, mode: 0o644 })).rejects.toThrow('source broke');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(directory)).toEqual(['a']);
    await host.close();
  });

  test('a full disk is named with the bytes needed, before and in the middle, and nothing stays', async () => {
    const mount = join(directory, 'small');
    mkdirSync(mount);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'bke-test', mount]);
    try {
      await using sshd = await TestSshd.start();
      const host = await connect(sshd.target());
      const bytes = Buffer.alloc(5_000_000, 'x');
      const path = join(mount, 'big');
      await expect(put(host, path, bytes)).rejects.toMatchObject({
        code: 'BKE_DISK_FULL',
        message: expect.stringMatching(/MiB are free, 4\.8 MiB \(5000000 bytes\) are needed/),
      });
      await expect(
        host.upload(Readable.from(slices(bytes)), path, { digest: digestOf(bytes), mode: 0o644 }),
      ).rejects.toMatchObject({ code: 'BKE_DISK_FULL', host: 'w1' });
      expect(readdirSync(mount)).toEqual([]);
      await put(host, path, Buffer.alloc(500_000));
      await host.close();
    } finally {
      execFileSync('umount', [mount]);
    }
  });

  test('a missing directory, a directory in its place and a read-only one are named', async () => {
    await using sshd = await TestSshd.start();
    const host = await connect(sshd.target());
    const bytes = Buffer.alloc(3_000_000);
    await expect(put(host, join(directory, 'no/a'), bytes)).rejects.toMatchObject({
      code: 'BKE_COMMAND_FAILED',
      message: expect.stringContaining(`${directory}/no does not exist`),
    });
    mkdirSync(join(directory, 'dir'));
    await expect(put(host, join(directory, 'dir'), bytes)).rejects.toMatchObject({
      message: expect.stringContaining('there is a directory of that name'),
    });
    await expect(put(host, '/proc/a', bytes)).rejects.toMatchObject({ code: 'BKE_COMMAND_FAILED' });
    await host.close();
  });

  test('a connection cut in the middle leaves nothing in place', async () => {
    await using sshd = await TestSshd.start();
    const sockets: Socket[] = [];
    const relay = createServer((near) => {
      const far = connectTcp(sshd.port, '127.0.0.1');
      sockets.push(near, far);
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => relay.once('listening', resolve));
    const address = relay.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const host = await connect(sshd.target({ port: address.port }));
    const endless = new Readable({
      read() {
        setTimeout(() => this.push(Buffer.alloc(10_000)), 2);
      },
    });
    const work = host.upload(endless, join(directory, 'a'), { digest: digestOf('x'), mode: 0o644 });
    const failure = expect(work).rejects.toMatchObject({ code: 'BKE_SSH_LOST', exitCode: 5 });
    await waitFor(() => readdirSync(directory).length === 1);
    for (const socket of sockets) socket.destroy();
    relay.close();
    await failure;
    await waitFor(() => readdirSync(directory).length === 0);
    expect(existsSync(join(directory, 'a'))).toBe(false);
    await host.close();
  });
});

describe('secrets', () => {
  test('are in no process list, log, error or environment of the host', async () => {
    const canary = `CANARY-${randomBytes(6).toString('hex')}`;
    await using sshd = await TestSshd.start({ config: ['LogLevel DEBUG3'] });
    using account = new TestAccount({
      password: canary,
      sudo: 'ALL=(ALL) ALL',
      sudoDefaults: [`Defaults:USER logfile=${sshd.directory}/sudo.log`],
      files: { '.bashrc': 'set -x' },
    });
    const host = await connect(sshd.target({ user: account.name, auth: { password: canary } }));
    const seen: string[] = [];
    const stop = new AbortController();
    // Every process of this machine, which is both ends here, with its environment.
    const watch = (async () => {
      while (!stop.signal.aborted) {
        const { stdout } = await promisify(execFile)('ps', ['axeww'], { maxBuffer: 64 * 1024 * 1024 });
        seen.push(stdout);
        await pause(20);
      }
    })();
    const errors: unknown[] = [];
    const fails = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => errors.push(error));
    await host.run(['sleep', '0.5']);
    await fails(host.run(['sh', '-c', 'tr -d . ; sleep 9'], { input: canary.replace('-', '.-.'), timeoutMs: 1000 }));
    await fails(host.run(['pwd'], { cwd: '/nowhere' }));
    await fails(host.upload(Readable.from([Buffer.from('x')]), '/nowhere/x', { digest: digestOf('x'), mode: 0o600 }));
    stop.abort();
    await watch;
    await host.close();
    await fails(connect(sshd.target({ user: account.name, auth: { password: `${canary}x` } })));
    // The first error shows the last lines of the program, from which the secret was taken out.
    expect(errors).toMatchObject([{ code: 'BKE_TIMEOUT', details: ['[secret]'] }, {}, {}, { code: 'BKE_SSH_AUTH' }]);
    expect(errors.map((error) => JSON.stringify(everything(error))).filter((text) => text.includes(canary))).toEqual(
      [],
    );
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.some((list) => list.includes('sleep 0.5'))).toBe(true);
    expect(seen.filter((list) => list.includes(canary))).toEqual([]);
    expect(sshd.log()).not.toContain(canary);
    expect(readFileSync(join(sshd.directory, 'sudo.log'), 'utf8')).not.toContain(canary);
  });

  /** All of an error, its causes included. */
  function everything(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    return Object.fromEntries(
      Object.getOwnPropertyNames(error).map((name) => [name, everything(Reflect.get(error, name))]),
    );
  }
});

async function waitFor(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 100) throw new Error('it did not come about within 5 s');
    await pause(50);
  }
}
