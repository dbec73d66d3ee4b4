// What is wrong with a key file, in one sentence each (the ones that work log in to a real sshd in test/integration/ssh/login.test.ts).
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPrivateKey } from '../../../../src/host/ssh/private-key.ts';
import type { SshOptions, SshPrivateKey, SshTarget } from '../../../../src/host/ssh/target.ts';

let directory: string;
const at = (name: string): string => join(directory, name);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bke-keys-'));
  const keygen = (...args: string[]): Buffer => execFileSync('ssh-keygen', ['-q', ...args]);
  const openssl = (...args: string[]): Buffer => execFileSync('openssl', args, { stdio: 'pipe' });
  keygen('-t', 'ed25519', '-N', '', '-f', at('k1'));
  openssl('genpkey', '-algorithm', 'ed25519', '-out', at('k2'));
  openssl('genpkey', '-algorithm', 'rsa', '-out', at('k3'));
  writeFileSync(at('k4'), '');
  keygen('-t', 'ed25519', '-N', 'secret', '-f', at('k5'));
  keygen('-t', 'ed25519', '-N', 'secret', '-Z', 'chacha20-poly1305@openssh.com', '-f', at('k6'));
  openssl('rsa', '-in', at('k3'), '-traditional', '-aes256', '-passout', 'pass:secret', '-out', at('pkcs1-encrypted'));
  openssl('pkcs8', '-topk8', '-in', at('k2'), '-passout', 'pass:secret', '-out', at('pkcs8-encrypted'));
  openssl('genpkey', '-algorithm', 'x25519', '-out', at('x25519'));
  openssl('pkey', '-in', at('k3'), '-pubout', '-out', at('k3.pem.pub'));
  writeFileSync(at('blank'), ' \n\n');
  writeFileSync(at('text'), 'hello world\n');
  writeFileSync(at('damaged'), readFileSync(at('k1'), 'utf8').replace(/\n.{20}/, '\n'), { mode: 0o600 });
  writeFileSync(at('damaged-pem'), readFileSync(at('k3'), 'utf8').replace(/\n.{20}/, '\n'), { mode: 0o600 });
  writeFileSync(at('putty'), 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n', { mode: 0o600 });
  writeFileSync(at('huge'), Buffer.alloc(200_000, 'x'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const target: SshTarget = {
  name: 'w1',
  address: '10.0.0.5',
  port: 22,
  user: 'root',
  auth: {},
  hostKeys: [],
  knownHostsFiles: [],
};
const load = (source: SshPrivateKey, options: SshOptions = {}): ReturnType<typeof loadPrivateKey> =>
  loadPrivateKey(target, source, options);

describe('a key that cannot be used', () => {
  test.each([
    ['k4', 'is empty'],
    ['blank', 'is empty'],
    ['k1.pub', 'is a public key'],
    ['k3.pem.pub', 'is a public key'],
    ['k6', 'is encrypted with chacha20-poly1305@openssh.com, which bke does not read'],
    ['text', 'is not a private key in any form bke knows'],
    ['damaged', 'is damaged, or in a form that bke does not read'],
    ['damaged-pem', 'is damaged'],
    ['putty', 'is a PuTTY key'],
    ['x25519', 'is of type x25519, which SSH does not use'],
  ])('%s: %s', async (file, sentence) => {
    const start = performance.now();
    await expect(load({ file: at(file), passphrase: 'secret' })).rejects.toMatchObject({
      code: 'BKE_SSH_KEY_INVALID',
      exitCode: 3,
      host: 'w1',
      message: `the private key ${at(file)} ${sentence}`,
    });
    expect(performance.now() - start).toBeLessThan(1000);
  });

  test('missing, a directory, far too large', async () => {
    await expect(load({ file: at('missing') })).rejects.toMatchObject({
      code: 'BKE_SSH_KEY_INVALID',
      message: expect.stringContaining('ENOENT'),
    });
    await expect(load({ file: directory })).rejects.toMatchObject({
      code: 'BKE_SSH_KEY_INVALID',
      message: expect.stringContaining('EISDIR'),
    });
    await expect(load({ file: at('huge') })).rejects.toMatchObject({
      code: 'BKE_SSH_KEY_INVALID',
      message: expect.stringContaining('far too large'),
    });
  });

  test('open to others', async () => {
    writeFileSync(at('open'), readFileSync(at('k1'), 'utf8'), { mode: 0o600 });
    chmodSync(at('open'), 0o644);
    await expect(load({ file: at('open') })).rejects.toMatchObject({
      code: 'BKE_SECRET_EXPOSED',
      message: `${at('open')} holds a secret, but has the mode 0644: others may reach it`,
    });
  });
});

describe('a key that is encrypted', () => {
  const files = ['k5', 'pkcs1-encrypted', 'pkcs8-encrypted'];

  test.each(files)('%s opens with its passphrase, given or asked for once', async (file) => {
    expect((await load({ file: at(file), passphrase: 'secret' })).isPrivateKey()).toBe(true);
    const asked: string[] = [];
    const ask = (question: string): Promise<string> => {
      asked.push(question);
      return Promise.resolve('secret');
    };
    expect((await load({ file: at(file) }, { askPassphrase: ask })).isPrivateKey()).toBe(true);
    expect(asked).toEqual([`Passphrase of ${at(file)} for w1`]);
  });

  test.each(files)('%s without one, or with a wrong one, names the field at once', async (file) => {
    await expect(load({ file: at(file) })).rejects.toMatchObject({
      code: 'BKE_SSH_KEY_PASSPHRASE',
      hint: expect.stringContaining('ssh.passphraseFile'),
    });
    const error: unknown = await load({ file: at(file), passphrase: 'CANARY-7391' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'BKE_SSH_KEY_PASSPHRASE',
      message: `the passphrase given does not open ${at(file)}`,
    });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('CANARY');
  });
});

test('the text of a key works as well as its file, and a passphrase too many does no harm', async () => {
  chmodSync(at('k1'), 0o600);
  expect(
    (await load({ contents: () => Promise.resolve(readFileSync(at('k1'), 'utf8')), passphrase: 'unused' })).type,
  ).toBe('ssh-ed25519');
  expect((await load({ contents: readFileSync(at('k2'), 'utf8') })).type).toBe('ssh-ed25519');
  await expect(load({ contents: '' })).rejects.toMatchObject({ message: 'the private key ssh.privateKey is empty' });
});
