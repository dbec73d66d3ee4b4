// Logging in by a running SSH agent, real ssh-agent and real sshd.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../../src/host/ssh/connect.ts';
import { TestAccount, TestSshd, makeKey, waitFor } from './sshd.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bke-agent-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

class TestAgent implements Disposable {
  readonly socket: string;
  readonly #child: ReturnType<typeof spawn>;

  private constructor(socket: string, child: ReturnType<typeof spawn>) {
    this.socket = socket;
    this.#child = child;
  }

  static async start(name: string): Promise<TestAgent> {
    const socket = join(directory, name);
    const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
    await waitFor(() => statSync(socket, { throwIfNoEntry: false }) !== undefined);
    return new TestAgent(socket, child);
  }

  /** ssh-add */
  add(...args: string[]): void {
    const env = { ...process.env, SSH_AUTH_SOCK: this.socket, SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force' };
    execFileSync('ssh-add', ['-q', ...args], { env, stdio: 'pipe' });
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}

function fingerprint(file: string): string {
  return execFileSync('ssh-keygen', ['-lf', `${file}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? '';
}

function otherKey(name: string): string {
  const file = join(directory, name);
  makeKey(file, 'ed25519');
  return file;
}

test('one of its keys logs in', async () => {
  await using sshd = await TestSshd.start();
  using agent = await TestAgent.start('good');
  agent.add(otherKey('first'));
  agent.add(join(sshd.directory, 'root'));
  const host = await connect(sshd.target({ auth: { agentSocket: agent.socket } }));
  expect((await host.run(['echo', 'in'])).stdout).toBe('in\n');
  await host.close();
});

test('keys that the host does not know are named by fingerprint', async () => {
  await using sshd = await TestSshd.start();
  using agent = await TestAgent.start('strange');
  const file = otherKey('strange-key');
  agent.add(file);
  await expect(connect(sshd.target({ auth: { agentSocket: agent.socket } }))).rejects.toMatchObject({
    code: 'BKE_SSH_AUTH',
    message: expect.stringContaining('tried: agent'),
    hint: `One of the agent's keys (ssh-add -L) must be in ~/.ssh/authorized_keys of root: ssh-ed25519 ${fingerprint(file)}.`,
  });
});

test('with more keys than a server lets one try it leaves room for the password, and says what was left out', async () => {
  await using sshd = await TestSshd.start();
  using agent = await TestAgent.start('many');
  for (let index = 0; index < 9; index += 1) agent.add(otherKey(`many-${index}`));
  using account = new TestAccount({ password: 'right-4711', sudo: 'ALL=(ALL) NOPASSWD: ALL' });
  const target = sshd.target({ user: account.name });
  const host = await connect({ ...target, auth: { agentSocket: agent.socket, password: 'right-4711' } });
  await host.close();
  await expect(connect({ ...target, auth: { agentSocket: agent.socket } })).rejects.toMatchObject({
    code: 'BKE_SSH_AUTH',
    details: expect.arrayContaining(['only the first 6 of 9 keys of the SSH agent were tried']),
  });
});

test('one whose owner refuses to sign is named', async () => {
  await using sshd = await TestSshd.start();
  using agent = await TestAgent.start('asking');
  // -c: asks its owner each time, here by a program that always says no.
  agent.add('-c', join(sshd.directory, 'root'));
  await expect(connect(sshd.target({ auth: { agentSocket: agent.socket } }))).rejects.toMatchObject({
    code: 'BKE_SSH_AUTH',
    details: [expect.stringContaining('the SSH agent: ')],
  });
});

test('as the only way in, none, an empty, a dead and a silent one cost no login', async () => {
  await using sshd = await TestSshd.start();
  using empty = await TestAgent.start('empty');
  const silent = createServer(() => undefined).listen(join(directory, 'silent'));
  const cases: readonly (readonly [string, string])[] = [
    ['', 'no SSH agent is running here: SSH_AUTH_SOCK is not set'],
    [empty.socket, `the SSH agent at ${empty.socket} holds no key that can be used, or is locked`],
    [join(directory, 'nobody'), 'does not answer: Failed to connect to agent'],
    [join(directory, 'silent'), 'does not answer: no answer within 5 s'],
  ];
  for (const [agentSocket, message] of cases) {
    await expect(connect(sshd.target({ auth: { agentSocket } }))).rejects.toMatchObject({
      code: 'BKE_SSH_AGENT',
      exitCode: 3,
      host: 'w1',
      message: expect.stringContaining(message),
      hint: expect.stringMatching(/ssh-add.*--preserve-env=SSH_AUTH_SOCK/),
    });
  }
  silent.close();
  expect(sshd.log()).not.toContain('Connection from');
  // Beside a password it is a note.
  using account = new TestAccount({ password: 'right-4711' });
  await expect(
    connect(sshd.target({ user: account.name, auth: { agentSocket: '', password: 'wrong' } })),
  ).rejects.toMatchObject({
    code: 'BKE_SSH_AUTH',
    details: ['no SSH agent is running here: SSH_AUTH_SOCK is not set'],
  });
});
