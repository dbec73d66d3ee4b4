import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostKeyOf, knownHostsLine, loadTrust } from '../../../../src/host/ssh/host-trust.ts';
import { entryMatches, lookupName, parseKnownHosts } from '../../../../src/host/ssh/known-hosts.ts';
import { keyBlob } from '../../../../src/lib/ssh-public-key.ts';
import type { SshTarget } from '../../../../src/host/ssh/target.ts';

let directory: string;
let key: string;
let other: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bke-known-'));
  key = makeKey('a');
  other = makeKey('b');
});
afterAll(() => rmSync(directory, { recursive: true }));

function makeKey(name: string): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(directory, name)]);
  return readFileSync(join(directory, `${name}.pub`), 'utf8')
    .split(' ')
    .slice(0, 2)
    .join(' ');
}

function target(changes: Partial<SshTarget> = {}): SshTarget {
  return {
    name: 'w1',
    address: '10.0.0.5',
    port: 22,
    user: 'root',
    auth: {},
    hostKeys: [],
    knownHostsFiles: [join(directory, 'known_hosts')],
    ...changes,
  };
}

function keyOf(line: string): ReturnType<typeof hostKeyOf> {
  const blob = keyBlob(line.split(' ')[0], line.split(' ')[1]);
  if (blob === undefined) throw new Error('no key');
  return hostKeyOf(blob);
}

async function verdict(text: string, changes: Partial<SshTarget> = {}, shown = key): Promise<string> {
  writeFileSync(join(directory, 'known_hosts'), text);
  return (await loadTrust(target(changes))).judge(keyOf(shown)).kind;
}

describe('known_hosts', () => {
  test.each([
    ['10.0.0.5 KEY', {}, 'known'],
    ['10.0.0.5 KEY', { port: 2222 }, 'known'],
    ['10.0.0.5 OTHER', { port: 2222 }, 'unknown'],
    ['[10.0.0.5]:2222 KEY', { port: 2222 }, 'known'],
    ['[10.0.0.5]:2222 KEY', {}, 'unknown'],
    ['[10.0.0.5]:2222 OTHER\n10.0.0.5 KEY', { port: 2222 }, 'known'],
    ['w1.example,10.0.0.5 KEY a comment', {}, 'known'],
    ['*.example KEY', { address: 'W1.Example' }, 'known'],
    ['10.0.0.? KEY', {}, 'known'],
    ['10.0.0.*,!10.0.0.5 KEY', {}, 'unknown'],
    ['10.0.0.5 OTHER', {}, 'changed'],
    ['10.0.0.5 OTHER\n10.0.0.5 KEY', {}, 'known'],
    ['10.0.0.5 KEY\n@revoked * KEY', {}, 'revoked'],
    ['@cert-authority 10.0.0.5 KEY', {}, 'unknown'],
    ['@something 10.0.0.5 KEY', {}, 'unknown'],
    ['# 10.0.0.5 KEY', {}, 'unknown'],
    ['10.0.0.5 1024 35 1234567', {}, 'unknown'],
    ['10.0.0.5 ssh-rsa AAAAC3NzaC1lZDI1NTE5', {}, 'unknown'],
    ['\t 10.0.0.5\tKEY \r', {}, 'known'],
    ['fd00::5 KEY', { address: 'FD00::5' }, 'known'],
    ['', {}, 'unknown'],
  ])('%j with %j: %s', async (text, changes, kind) => {
    expect(await verdict(text.replaceAll('KEY', key).replaceAll('OTHER', other), changes)).toBe(kind);
  });

  test('hashed names as ssh-keygen writes them', async () => {
    const file = join(directory, 'hashed');
    writeFileSync(file, `10.0.0.5 ${key}\n[10.0.0.6]:2222 ${key}\n`);
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'pipe' });
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain('10.0.0');
    expect(await verdict(text)).toBe('known');
    expect(await verdict(text, { address: '10.0.0.6', port: 2222 })).toBe('known');
    expect(await verdict(text, { address: '10.0.0.7' })).toBe('unknown');
    expect(await verdict(text, {}, other)).toBe('changed');
  });

  test('the line given to record is the one that is found', async () => {
    for (const changes of [{}, { port: 2222 }, { address: 'fd00::1' }, { address: 'Host.Example', port: 10022 }]) {
      expect(await verdict(`${knownHostsLine(target(changes), keyOf(key))}\n`, changes)).toBe('known');
    }
  });

  test('an unreadable file is told, a missing one is fine', async () => {
    const trust = await loadTrust(target({ knownHostsFiles: [join(directory, 'missing'), directory] }));
    expect(trust.judge(keyOf(key))).toEqual({
      kind: 'unknown',
      note: expect.stringContaining(`${directory} could not be read`),
    });
  });

  test('no text makes the parser fail, and no line of it vouches for a name it does not hold', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (lines) => {
        for (const entry of parseKnownHosts(lines.join('\n'), 'f'))
          expect(entryMatches(entry, 'no.such.name')).toBe(entry.names.includes('*'));
      }),
    );
  });

  test('wildcards mean what a regular expression of them means', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), minLength: 1, maxLength: 8 });
    const names = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 10 });
    fc.assert(
      fc.property(letters, names, (pattern, name) => {
        const [entry] = parseKnownHosts(`${pattern} ${key}`, 'f');
        const expected = new RegExp(
          `^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`,
        ).test(name);
        expect(entry !== undefined && entryMatches(entry, name)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  test('a hostile pattern is matched in no time', () => {
    const [entry] = parseKnownHosts(`${'a*'.repeat(2000)}b ${key}`, 'f');
    const start = performance.now();
    expect(entry !== undefined && entryMatches(entry, 'a'.repeat(3000))).toBe(false);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('ssh.hostKeys', () => {
  test('fingerprints and key lines in their usual forms', async () => {
    const { fingerprint } = keyOf(key);
    for (const pin of [fingerprint, `${fingerprint}=`, ` ${fingerprint} `, key, `${key} root@w1`, `10.0.0.5 ${key}`]) {
      expect(await verdict(`10.0.0.5 ${other}`, { hostKeys: [pin] })).toBe('known');
    }
    // Nothing else counts where there are any.
    expect(await verdict(`10.0.0.5 ${key}`, { hostKeys: [keyOf(other).fingerprint] })).toBe('changed');
    expect(await verdict('', { hostKeys: [keyOf(other).fingerprint, fingerprint] })).toBe('known');
  });

  test.each(['', 'SHA256:short', 'MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48', 'ssh-ed25519 AAAA', 'yes'])(
    '%j is refused with its index',
    async (pin) => {
      await expect(loadTrust(target({ hostKeys: [key, pin] }))).rejects.toMatchObject({
        code: 'BKE_SSH_HOST_KEYS_INVALID',
        exitCode: 3,
        message: expect.stringContaining('ssh.hostKeys[1] of w1'),
        hint: expect.stringContaining('ssh-keygen -lf'),
      });
    },
  );
});

test('the name looked up is the one OpenSSH writes', () => {
  expect([
    lookupName('W1', 22),
    lookupName('W1', 2222),
    lookupName('fd00::1', 22),
    lookupName('fd00::1', 2222),
  ]).toEqual(['w1', '[w1]:2222', 'fd00::1', '[fd00::1]:2222']);
});
