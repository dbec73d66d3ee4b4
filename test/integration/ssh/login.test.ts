// Logging in to a real sshd: host keys first, then each credential once, and the true cause when it fails.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../../src/host/ssh/connect.ts';
import { knownHostsLine } from '../../../src/host/ssh/host-trust.ts';
import type { SshOptions, SshTarget } from '../../../src/host/ssh/target.ts';
import { freePort } from '../free-port.ts';
import { TestAccount, TestSshd, makeKey } from './sshd.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bke-login-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function logsIn(target: SshTarget, options?: SshOptions): Promise<void> {
  const host = await connect(target, options);
  expect((await host.run(['echo', 'in'])).stdout).toBe('in\n');
  await host.close();
}

/** Logins that sshd counted as failed; it may write that down a moment after it has answered. */
async function failedLogins(sshd: TestSshd): Promise<string[]> {
  await pause(300);
  return sshd
    .log()
    .split('\n')
    .filter((line) => /^Failed (?!none)/.test(line));
}

describe('host keys', () => {
  const known = (text: string): string => {
    const file = join(directory, 'known_hosts');
    writeFileSync(file, `${text}\n`);
    return file;
  };

  test('known ones are asked for first, whatever way they are written', async () => {
    await using sshd = await TestSshd.start({ keyTypes: ['ed25519', 'rsa', 'ecdsa'] });
    const name = `[127.0.0.1]:${sshd.port}`;
    for (const type of ['ed25519', 'rsa', 'ecdsa'] as const) {
      const file = known(`${name} ${sshd.publicKey(type)}`);
      await logsIn(sshd.target({ hostKeys: [], knownHostsFiles: [join(directory, 'missing'), file] }));
      execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'pipe' });
      expect(readFileSync(file, 'utf8')).toMatch(/^\|1\|/);
      const before = { text: readFileSync(file, 'utf8'), at: statSync(file).mtimeMs };
      await logsIn(sshd.target({ hostKeys: [], knownHostsFiles: [file] }));
      expect({ text: readFileSync(file, 'utf8'), at: statSync(file).mtimeMs }).toEqual(before);
      // A fingerprint says nothing about the type; the right key is found all the same.
      await logsIn(sshd.target({ hostKeys: [sshd.fingerprint(type)] }));
      await logsIn(sshd.target({ hostKeys: [`${sshd.publicKey(type)} a comment`] }));
      await logsIn(sshd.target({ hostKeys: [], knownHostsFiles: [known(`127.0.0.* ${sshd.publicKey(type)}`)] }));
    }
    expect(await failedLogins(sshd)).toEqual([]);
  });

  test('an unknown one stops before any credential, and says the three ways to accept it', async () => {
    await using sshd = await TestSshd.start();
    const target = sshd.target({
      hostKeys: [],
      knownHostsFiles: [known('other.example ssh-ed25519 AAAA')],
      auth: { password: 'CANARY-7391' },
    });
    const error = await connect(target).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'BKE_HOST_KEY_UNKNOWN',
      exitCode: 5,
      host: 'w1',
      message: expect.stringContaining(sshd.fingerprint()),
    });
    expect(error).toMatchObject({
      hint: expect.stringMatching(/ssh\.hostKeys.*log in once with ssh.*--accept-new-host-keys/),
    });
    expect(sshd.log()).not.toMatch(/root|password/);
  });

  test('an unknown one is accepted on request, and given back to be recorded', async () => {
    await using sshd = await TestSshd.start();
    const target = sshd.target({ hostKeys: [] });
    const host = await connect(target, { acceptNew: true });
    expect(host.newHostKeys.map(({ key }) => key.fingerprint)).toEqual([sshd.fingerprint()]);
    const line = host.newHostKeys.map((accepted) => knownHostsLine(accepted.target, accepted.key)).join('');
    await host.close();
    await logsIn({ ...target, knownHostsFiles: [known(line)] });
    const asked: string[] = [];
    const no = (_: SshTarget, key: { fingerprint: string }): Promise<boolean> => {
      asked.push(key.fingerprint);
      return Promise.resolve(false);
    };
    await expect(connect(target, { acceptNew: no })).rejects.toMatchObject({ code: 'BKE_HOST_KEY_UNKNOWN' });
    expect(asked).toEqual([sshd.fingerprint()]);
  });

  test('a changed one stops at once with both fingerprints and the command that clears it, also with accept-new', async () => {
    await using sshd = await TestSshd.start();
    const file = known(`[127.0.0.1]:${sshd.port} ${sshd.publicKey()}`);
    const old = sshd.fingerprint();
    await sshd.stop();
    await using again = await TestSshd.start({ directory: sshd.directory, port: sshd.port });
    const target = again.target({ hostKeys: [], knownHostsFiles: [file], auth: { password: 'CANARY-7391' } });
    const start = performance.now();
    const error = await connect(target, { acceptNew: true }).catch((thrown: unknown) => thrown);
    expect(performance.now() - start).toBeLessThan(3000);
    expect(error).toMatchObject({
      code: 'BKE_HOST_KEY_CHANGED',
      details: [`known: ssh-ed25519 ${old} (${file}:1)`, `shown: ssh-ed25519 ${again.fingerprint()}`],
      hint: expect.stringContaining(`ssh-keygen -f ${file} -R '[127.0.0.1]:${again.port}'`),
    });
    await expect(connect(again.target({ hostKeys: [old] }))).rejects.toMatchObject({
      code: 'BKE_HOST_KEY_CHANGED',
      hint: expect.stringContaining('ssh.hostKeys of w1'),
    });
    // A host known by one type that offers only another one is as suspicious.
    makeKey(join(directory, 'rsa'), 'rsa');
    const rsa = known(`[127.0.0.1]:${again.port} ${readFileSync(join(directory, 'rsa.pub'), 'utf8').trim()}`);
    await expect(connect({ ...target, knownHostsFiles: [rsa] }, { acceptNew: true })).rejects.toMatchObject({
      code: 'BKE_HOST_KEY_CHANGED',
    });
    execFileSync('ssh-keygen', ['-f', file, '-R', `[127.0.0.1]:${again.port}`], { stdio: 'pipe' });
    await expect(connect(target)).rejects.toMatchObject({ code: 'BKE_HOST_KEY_UNKNOWN' });
    expect(await failedLogins(again)).toEqual([]);
  });

  test('revoked keys and certificate authorities are named', async () => {
    await using sshd = await TestSshd.start();
    const name = `[127.0.0.1]:${sshd.port}`;
    const revoked = known(`${name} ${sshd.publicKey()}\n@revoked * ${sshd.publicKey()}`);
    await expect(
      connect(sshd.target({ hostKeys: [], knownHostsFiles: [revoked] }), { acceptNew: true }),
    ).rejects.toMatchObject({
      code: 'BKE_HOST_KEY_CHANGED',
      message: expect.stringContaining(`revoked in ${revoked}:2`),
    });
    const authority = known(`@cert-authority ${name} ${sshd.publicKey()}`);
    await expect(connect(sshd.target({ hostKeys: [], knownHostsFiles: [authority] }))).rejects.toMatchObject({
      code: 'BKE_HOST_KEY_UNKNOWN',
      details: [expect.stringContaining('@cert-authority')],
    });
  });
});

describe('credentials', () => {
  test('keys in every common form log in', async () => {
    await using sshd = await TestSshd.start();
    const openssl = (...args: string[]): Buffer => execFileSync('openssl', args, { stdio: 'pipe' });
    const at = (name: string): string => join(directory, name);
    makeKey(at('k1'), 'ed25519');
    openssl('genpkey', '-algorithm', 'ed25519', '-out', at('k2'));
    openssl('genpkey', '-algorithm', 'rsa', '-out', at('k3'));
    openssl('rsa', '-in', at('k3'), '-traditional', '-out', at('k3-pkcs1'));
    openssl('genpkey', '-algorithm', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384', '-out', at('k7'));
    openssl('ec', '-in', at('k7'), '-out', at('k7-sec1'));
    openssl('pkcs8', '-topk8', '-in', at('k2'), '-passout', 'pass:open sesame', '-out', at('k2-encrypted'));
    openssl(
      'rsa',
      '-in',
      at('k3'),
      '-traditional',
      '-aes256',
      '-passout',
      'pass:open sesame',
      '-out',
      at('k3-encrypted'),
    );
    execFileSync('ssh-keygen', ['-q', '-t', 'ecdsa', '-b', '521', '-N', 'open sesame', '-f', at('k8')]);
    writeFileSync(at('k1-crlf'), `\uFEFF\r\n${readFileSync(at('k1'), 'utf8').trim().replaceAll('\n', '\r\n')}`);
    const files = ['k1', 'k1-crlf', 'k2', 'k3', 'k3-pkcs1', 'k7', 'k7-sec1', 'k2-encrypted', 'k3-encrypted', 'k8'];
    for (const file of files) {
      execFileSync('chmod', ['600', at(file)]);
      writeFileSync(join(sshd.directory, 'authorized_keys'), publicLine(file));
      await logsIn(sshd.target({ auth: { privateKey: { file: at(file), passphrase: 'open sesame' } } }));
    }
    expect(await failedLogins(sshd)).toEqual([]);

    function publicLine(file: string): string {
      if (file === 'k1-crlf') return readFileSync(at('k1.pub'), 'utf8');
      if (!file.startsWith('k2'))
        return execFileSync('ssh-keygen', ['-y', '-P', 'open sesame', '-f', at(file)], { encoding: 'utf8' });
      // ssh-keygen reads no PKCS#8 form of ed25519; the public part comes from openssl then.
      const der = openssl('pkey', '-in', at('k2'), '-pubout', '-outform', 'DER');
      const blob = Buffer.concat([
        Buffer.from([0, 0, 0, 11]),
        Buffer.from('ssh-ed25519'),
        Buffer.from([0, 0, 0, 32]),
        der.subarray(-32),
      ]);
      return `ssh-ed25519 ${blob.toString('base64')}\n`;
    }
  });

  test('a wrong password costs one login, and the message lists what was offered and tried', async () => {
    await using sshd = await TestSshd.start({ config: ['KbdInteractiveAuthentication yes'] });
    using account = new TestAccount({ password: 'right-4711' });
    const error = await connect(sshd.target({ user: account.name, auth: { password: 'CANARY-7391' } })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'BKE_SSH_AUTH',
      exitCode: 5,
      host: 'w1',
      message: `cannot log in to w1 (${account.name}@127.0.0.1 port ${sshd.port}): the server offers publickey, password and keyboard-interactive; tried: password`,
    });
    expect(await failedLogins(sshd)).toHaveLength(1);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('CANARY');
  });

  test('keyboard-interactive gets the same password, once', async () => {
    await using sshd = await TestSshd.start({
      config: ['PasswordAuthentication no', 'KbdInteractiveAuthentication yes'],
    });
    using account = new TestAccount({ password: 'a\'b"c$d`e\\f!g(h) i#j&k', sudo: 'ALL=(ALL) NOPASSWD: ALL' });
    const auth = { password: 'a\'b"c$d`e\\f!g(h) i#j&k' };
    await logsIn(sshd.target({ user: account.name, auth }));
    await expect(connect(sshd.target({ user: account.name, auth: { password: 'wrong' } }))).rejects.toMatchObject({
      code: 'BKE_SSH_AUTH',
      message: expect.stringContaining('tried: keyboard-interactive'),
    });
    expect(await failedLogins(sshd)).toHaveLength(1);
  });

  test('an expired password is named, not changed and not answered twice', async () => {
    await using sshd = await TestSshd.start({
      config: ['PasswordAuthentication no', 'KbdInteractiveAuthentication yes'],
    });
    using account = new TestAccount({ password: 'right-4711' });
    execFileSync('chage', ['-d', '0', account.name]);
    const login = connect(sshd.target({ user: account.name, auth: { password: 'right-4711' } }));
    await expect(login).rejects.toMatchObject({
      code: 'BKE_SSH_AUTH',
      message: expect.stringContaining('the password has expired, the server asks for a new one'),
      hint: expect.stringContaining(`ssh -p ${sshd.port} ${account.name}@127.0.0.1`),
    });
    expect(await failedLogins(sshd)).toEqual([]);
  });

  test('a key and then a password, where the server asks for both', async () => {
    await using sshd = await TestSshd.start({ config: ['AuthenticationMethods publickey,password'] });
    using account = new TestAccount({ password: 'right-4711', sudo: 'ALL=(ALL) NOPASSWD: ALL' });
    const { privateKey } = sshd.target().auth;
    await logsIn(sshd.target({ user: account.name, auth: { privateKey, password: 'right-4711' } }));
    await expect(connect(sshd.target({ user: account.name, auth: { privateKey } }))).rejects.toMatchObject({
      code: 'BKE_SSH_AUTH',
      details: ['a first method was accepted, the server asks for a second one'],
    });
    await using asking = await TestSshd.start({
      config: ['AuthenticationMethods publickey,keyboard-interactive', 'KbdInteractiveAuthentication yes'],
    });
    const key = { file: join(asking.directory, 'root') };
    const user = account.name;
    await logsIn(asking.target({ user, auth: { privateKey: key, password: 'right-4711' } }));
    // Without one, what the server wants next is named, and nothing is answered.
    await expect(connect(asking.target({ user, auth: { privateKey: key } }))).rejects.toMatchObject({
      code: 'BKE_SSH_AUTH',
      message: expect.stringContaining('the server asks for what bke cannot answer: "Password:"'),
    });
    expect(await failedLogins(asking)).toEqual([]);
  });

  test('no method that fits costs no attempt', async () => {
    await using sshd = await TestSshd.start({ config: ['PasswordAuthentication no'] });
    await expect(connect(sshd.target({ auth: { password: 'x' } }))).rejects.toMatchObject({
      code: 'BKE_SSH_AUTH',
      message: expect.stringContaining('the server offers publickey; tried: nothing that fits'),
    });
    await expect(connect(sshd.target({ auth: {} }))).rejects.toMatchObject({ code: 'BKE_SSH_AUTH' });
    expect(await failedLogins(sshd)).toEqual([]);
  });
});

describe('network faults', () => {
  test('a port where nothing listens is tried again, then named', async () => {
    const port = await freePort();
    const target = {
      name: 'w9',
      address: '127.0.0.1',
      port,
      user: 'root',
      auth: {},
      hostKeys: [],
      knownHostsFiles: [],
    };
    await expect(connect(target, { deadlineMs: 1500 })).rejects.toMatchObject({
      code: 'BKE_SSH_UNREACHABLE',
      message: expect.stringMatching(/cannot reach w9 .*ECONNREFUSED.*\(tried [2-9] times\)/),
      hint: expect.stringContaining('is sshd running there'),
    });
  });

  test('a host that comes up meanwhile is reached', async () => {
    await using sshd = await TestSshd.start();
    await sshd.stop();
    const login = logsIn(sshd.target(), { deadlineMs: 20_000 });
    await using again = await TestSshd.start({
      port: sshd.port,
      keyTypes: [],
      directory: sshd.directory,
      config: [`HostKey ${sshd.directory}/host_ed25519`],
    });
    expect(again.port).toBe(sshd.port);
    await login;
  });

  test('something that is no SSH server, a silent one and an abort end in time', async () => {
    const server = createServer((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(400))).listen(
      0,
      '127.0.0.1',
    );
    await new Promise((resolve) => server.once('listening', resolve));
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const target = { name: 'w9', address: '127.0.0.1', user: 'root', auth: {}, hostKeys: [], knownHostsFiles: [] };
    await expect(
      connect({ ...target, port: portOf(server) }, { connectTimeoutMs: 1000, deadlineMs: 1000 }),
    ).rejects.toMatchObject({
      code: 'BKE_SSH_PROTOCOL',
      message: expect.stringContaining('no SSH server, it says: HTTP/1.1 400 Bad Request'),
    });
    await expect(
      connect({ ...target, port: portOf(silent) }, { connectTimeoutMs: 500, deadlineMs: 600 }),
    ).rejects.toMatchObject({
      code: 'BKE_SSH_UNREACHABLE',
      message: expect.stringContaining('while agreeing on keys'),
    });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 200);
    const start = performance.now();
    await expect(connect({ ...target, port: portOf(silent) }, { signal: stop.signal })).rejects.toMatchObject({
      code: 'BKE_CANCELLED',
    });
    expect(performance.now() - start).toBeLessThan(1500);
    await expect(connect({ ...target, port: 22, address: 'no-such-host.invalid' })).rejects.toMatchObject({
      code: 'BKE_SSH_UNREACHABLE',
      hint: expect.stringContaining('does not resolve'),
    });
    server.close();
    silent.close();
  });
});

function portOf(server: ReturnType<typeof createServer>): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
