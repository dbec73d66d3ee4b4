// Hosts behind bastions, real sshd all the way: each hop's key first, one login per bastion, and errors that name the hop.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../../src/host/ssh/connect.ts';
import type { SshTarget } from '../../../src/host/ssh/target.ts';
import { FakeSshServer } from '../../fakes/ssh-server.ts';
import { freePort } from '../free-port.ts';
import { TestAccount, TestSshd, waitFor } from './sshd.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bke-bastion-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function bastion(sshd: TestSshd, changes: Partial<SshTarget> = {}): SshTarget {
  return sshd.target({ name: 'bastion jump', field: 'ssh.bastion', ...changes });
}

function linesOf(sshd: TestSshd, part: string | RegExp): string[] {
  return sshd
    .log()
    .split('\n')
    .filter((line) => (typeof part === 'string' ? line.includes(part) : part.test(line)));
}

test('its own key is checked first, also in known_hosts, and both keys are given back to be recorded', async () => {
  await using jump = await TestSshd.start();
  await using sshd = await TestSshd.start();
  const file = join(directory, 'known_hosts');
  writeFileSync(file, [jump, sshd].map((server) => `[127.0.0.1]:${server.port} ${server.publicKey()}\n`).join(''));
  const through = sshd.target({
    hostKeys: [],
    knownHostsFiles: [file],
    bastion: bastion(jump, { hostKeys: [], knownHostsFiles: [file] }),
  });
  const known = await connect(through);
  expect((await known.run(['echo', 'in'])).stdout).toBe('in\n');
  await known.close();
  const stranger = bastion(jump, { hostKeys: [], auth: { password: 'CANARY-7391' } });
  await expect(connect(sshd.target({ bastion: stranger }))).rejects.toMatchObject({
    code: 'BKE_HOST_KEY_UNKNOWN',
    host: 'bastion jump',
  });
  // The host's own key is checked as well, before its credentials are used.
  await expect(connect(sshd.target({ hostKeys: [jump.fingerprint()], bastion: bastion(jump) }))).rejects.toMatchObject({
    code: 'BKE_HOST_KEY_CHANGED',
    host: 'w1',
  });
  const fresh = await connect(sshd.target({ hostKeys: [], bastion: bastion(jump, { hostKeys: [] }) }), {
    acceptNew: true,
  });
  expect(fresh.newHostKeys.map(({ target, key }) => [target.name, key.fingerprint])).toEqual([
    ['bastion jump', jump.fingerprint()],
    ['w1', sshd.fingerprint()],
  ]);
  await fresh.close();
  await waitFor(() => linesOf(jump, 'Disconnected from user').length >= 3);
  expect(linesOf(jump, /Failed|password/)).toEqual([]);
});

test('twenty hosts at once go through one login, which ends with the last of them', async () => {
  await using jump = await TestSshd.start({ config: ['MaxSessions 1', 'MaxStartups 2:100:2'] });
  await using sshd = await TestSshd.start({ config: ['MaxStartups 100'] });
  const hosts = await Promise.all(
    Array.from({ length: 20 }, (_, index) => connect(sshd.target({ name: `w${index}`, bastion: bastion(jump) }))),
  );
  const answers = await Promise.all(hosts.map((host) => host.run(['echo', host.name])));
  expect(answers.map(({ stdout }) => stdout.trim())).toEqual(hosts.map(({ name }) => name));
  expect(linesOf(jump, 'Accepted publickey')).toHaveLength(1);
  const [last, ...others] = hosts;
  await Promise.all(others.map((host) => host.close()));
  expect((await last?.run(['echo', 'still in']))?.stdout).toBe('still in\n');
  expect(linesOf(jump, 'Disconnected from user')).toEqual([]);
  await last?.close();
  await waitFor(() => linesOf(jump, 'Disconnected from user').length === 1);
});

test('a chain of three is gone through, and a hop that fails is named', async () => {
  await using first = await TestSshd.start();
  await using second = await TestSshd.start();
  await using sshd = await TestSshd.start();
  const outer = bastion(first, { name: 'bastion one' });
  const inner = bastion(second, { name: 'bastion two', bastion: outer });
  const host = await connect(sshd.target({ bastion: inner }));
  expect((await host.run(['echo', 'in'])).stdout).toBe('in\n');
  expect([first, second].map((jump) => linesOf(jump, 'Accepted publickey').length)).toEqual([1, 1]);
  await host.close();
  await second.stop();
  await expect(connect(sshd.target({ bastion: inner }), { deadlineMs: 1000 })).rejects.toMatchObject({
    code: 'BKE_SSH_UNREACHABLE',
    host: 'bastion two',
    message: expect.stringMatching(
      /^cannot reach bastion two .*: bastion one has no way to 127\.0\.0\.1 port \d+: .*refused/,
    ),
    hint: expect.stringContaining('Seen from bastion one'),
  });
});

test('a wrong password for it costs one login, however many hosts are behind it', async () => {
  await using jump = await TestSshd.start();
  await using sshd = await TestSshd.start();
  using account = new TestAccount({ password: 'right-4711' });
  const wrong = bastion(jump, { user: account.name, auth: { password: 'CANARY-7391' } });
  const login = (): Promise<unknown> => connect(sshd.target({ bastion: wrong })).catch((thrown: unknown) => thrown);
  const errors = [...(await Promise.all([login(), login(), login()])), await login()];
  for (const error of errors) expect(error).toMatchObject({ code: 'BKE_SSH_AUTH', host: 'bastion jump' });
  await pause(300);
  expect(linesOf(jump, /^Failed (?!none)/)).toHaveLength(1);
  const keyOnly = bastion(jump, { user: account.name, auth: {} });
  await expect(connect(sshd.target({ bastion: keyOnly }))).rejects.toMatchObject({
    hint: expect.stringContaining('ssh.bastion.privateKeyFile'),
  });
});

test('one that forbids forwarding, or this host alone, is named with what to change', async () => {
  await using jump = await TestSshd.start({ config: ['AllowTcpForwarding no'] });
  await using picky = await TestSshd.start({ config: ['PermitOpen 127.0.0.1:1'] });
  await using sshd = await TestSshd.start();
  for (const server of [jump, picky]) {
    const start = performance.now();
    await expect(connect(sshd.target({ bastion: bastion(server) }))).rejects.toMatchObject({
      code: 'BKE_SSH_BASTION',
      host: 'w1',
      message: expect.stringContaining(
        `cannot reach w1: bastion jump forbids connections to 127.0.0.1 port ${sshd.port}`,
      ),
      hint: expect.stringMatching(/AllowTcpForwarding yes .* for root .*PermitOpen/),
    });
    expect(performance.now() - start).toBeLessThan(5000);
  }
});

test('one that goes away takes its hosts with it, named; the next login makes a new one', async () => {
  await using jump = await TestSshd.start();
  await using sshd = await TestSshd.start();
  const target = sshd.target({ bastion: bastion(jump) });
  const host = await connect(target);
  const work = host.run(['sleep', '20']);
  const broken = expect(work).rejects.toMatchObject({
    code: 'BKE_SSH_LOST',
    host: 'w1',
    message: expect.stringContaining(
      'the connection to w1 broke with the one to its bastion: the connection to bastion jump broke',
    ),
    hint: expect.stringContaining('Check that bastion jump is up'),
  });
  await pause(300);
  jump.cut();
  await broken;
  const again = await connect(target);
  expect((await again.run(['echo', 'back'])).stdout).toBe('back\n');
  await again.close();
  await host.close();
});

test('one that falls silent is noticed by keepalive, and a host behind it that does not answer in time', async () => {
  await using silent = await FakeSshServer.start({ forward: () => undefined });
  const fake = silent.target({ name: 'bastion jump' });
  const target = { ...fake, name: 'w1', bastion: fake };
  await expect(connect(target, { acceptNew: true, connectTimeoutMs: 500, deadlineMs: 500 })).rejects.toMatchObject({
    code: 'BKE_SSH_UNREACHABLE',
    message: expect.stringContaining(
      `no answer from 127.0.0.1 port ${silent.port} through bastion jump within 0.5 s while connecting`,
    ),
  });
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 200);
  const start = performance.now();
  await expect(connect(target, { acceptNew: true, signal: stop.signal })).rejects.toMatchObject({
    code: 'BKE_CANCELLED',
  });
  expect(performance.now() - start).toBeLessThan(1500);
  // A bastion that gives no sign of life is dropped and logged in to again within the host's time.
  const before = silent.logins;
  setTimeout(() => silent.freeze(), 200);
  await expect(connect(target, { acceptNew: true, keepaliveMs: 100, deadlineMs: 2000 })).rejects.toMatchObject({
    code: 'BKE_SSH_UNREACHABLE',
    message: expect.stringContaining('through bastion jump'),
  });
  expect(silent.logins - before).toBe(2);
});

test('nobody there behind it is the end after the deadline', async () => {
  await using jump = await TestSshd.start();
  const nobody = jump.target({ name: 'w1', port: await freePort(), bastion: bastion(jump) });
  await expect(connect(nobody, { deadlineMs: 1500 })).rejects.toMatchObject({
    code: 'BKE_SSH_UNREACHABLE',
    host: 'w1',
    message: expect.stringContaining('bastion jump has no way to 127.0.0.1'),
    hint: expect.stringContaining('nothing listens on port'),
  });
});
