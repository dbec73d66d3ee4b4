// What a real sshd can't be told to do: servers that fall silent, refuse, or break off at the worst moment.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerChannel } from 'ssh2';
import { describe, expect, test } from 'vitest';
import { connect } from '../../../../src/host/ssh/connect.ts';
import { digestOf } from '../../../../src/lib/digest.ts';
import { FakeSshServer } from '../../../fakes/ssh-server.ts';

// The fake runs programs as the user of the test; only root needs no sudo there.
const asRoot = process.getuid?.() === 0;
const rootTest: typeof rootOnly = asRoot ? test : rootOnly;

function rootOnly(name: string, _work: () => Promise<void>): void {
  test(name, (context) => context.skip('programs over the fake SSH server run as root without sudo only for root'));
}

const quick = { acceptNew: true, deadlineMs: 3000 };

describe('a peer that dies', () => {
  rootTest('while a program runs is noticed by keepalive', async () => {
    await using server = await FakeSshServer.start();
    const host = await connect(server.target(), { ...quick, keepaliveMs: 100 });
    const work = host.run(['sleep', '5']);
    setTimeout(() => server.freeze(), 200);
    const start = performance.now();
    await expect(work).rejects.toMatchObject({
      code: 'BKE_SSH_LOST',
      host: 'w1',
      message: expect.stringContaining('Keepalive timeout'),
    });
    expect(performance.now() - start).toBeLessThan(3000);
    await expect(host.run(['true'])).rejects.toMatchObject({ code: 'BKE_SSH_LOST' });
    await host.close();
  });

  rootTest('in the middle of an upload is named, and the file is not in place', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'bke-faults-'));
    await using server = await FakeSshServer.start();
    const host = await connect(server.target(), quick);
    const slow = new Readable({
      read() {
        setTimeout(() => this.push(Buffer.alloc(50_000)), 1);
      },
    });
    const work = expect(
      host.upload(slow, join(directory, 'a'), { digest: digestOf('x'), mode: 0o644 }),
    ).rejects.toMatchObject({ code: 'BKE_SSH_LOST' });
    await pause(300);
    server.cut();
    await work;
    expect(slow.destroyed).toBe(true);
    await pause(500);
    expect(readdirSync(directory)).toEqual([]);
    rmSync(directory, { recursive: true });
    await host.close();
  });

  test('before the login is tried again and then named as unreachable', async () => {
    await using server = await FakeSshServer.start({ authenticate: () => server.cut() });
    await expect(connect(server.target({ auth: {} }), { ...quick, deadlineMs: 1500 })).rejects.toMatchObject({
      code: 'BKE_SSH_UNREACHABLE',
    });
    expect(server.attempts.length).toBeGreaterThan(1);
    expect(new Set(server.attempts)).toEqual(new Set(['none']));
  });

  test('after a password was sent is not tried again', async () => {
    await using server = await FakeSshServer.start({
      authenticate: (context) => {
        if (context.method === 'none') context.reject(['password']);
        else server.cut();
      },
    });
    await expect(connect(server.target(), quick)).rejects.toMatchObject({ code: 'BKE_SSH_AUTH', host: 'w1' });
    expect(server.attempts).toEqual(['none', 'password']);
  });
});

describe('a server that refuses', () => {
  test('every login offers no method: one attempt, named', async () => {
    await using server = await FakeSshServer.start({ authenticate: (context) => context.reject([]) });
    await expect(connect(server.target(), quick)).rejects.toMatchObject({
      code: 'BKE_SSH_AUTH',
      message: expect.stringContaining('the server offers nothing; tried: nothing that fits'),
    });
    expect(server.attempts).toEqual(['none']);
  });

  test('an expired password is not waited for', async () => {
    await using server = await FakeSshServer.start({
      authenticate: (context) => {
        if (context.method === 'password') context.requestChange('change it', () => undefined);
        else context.reject(['password']);
      },
    });
    await expect(connect(server.target(), quick)).rejects.toMatchObject({
      code: 'BKE_SSH_AUTH',
      details: [expect.stringContaining('expired')],
    });
  });

  test('a second question is not answered by the password again', async () => {
    const answers: string[][] = [];
    await using server = await FakeSshServer.start({
      authenticate: (context) => {
        if (context.method !== 'keyboard-interactive') {
          context.reject(['keyboard-interactive']);
          return;
        }
        context.prompt([{ prompt: 'Password: ', echo: false }], (first) => {
          answers.push(first);
          context.prompt([{ prompt: 'Verification code: ', echo: false }], (second) => {
            answers.push(second);
            context.reject(['keyboard-interactive']);
          });
        });
      },
    });
    await expect(connect(server.target(), quick)).rejects.toMatchObject({
      code: 'BKE_SSH_AUTH',
      message: expect.stringContaining('the server asks for what bke cannot answer: "Verification code:"'),
    });
    expect(answers).toEqual([['CANARY-7391']]);
  });

  test.each([
    [[{ prompt: '(root@h) Verification code: ', echo: false }], '"Verification code:"'],
    [
      [
        { prompt: 'Password: ', echo: false },
        { prompt: 'Token\u001B[2J: ', echo: true },
      ],
      String.raw`"Password:" and "Token\u001b[2J:"`,
    ],
  ])('a question that is not for a password (%#) is named and not answered', async (prompts, named) => {
    const answers: string[][] = [];
    await using server = await FakeSshServer.start({
      authenticate: (context) => {
        if (context.method === 'keyboard-interactive') {
          context.prompt(prompts, 'Second step', 'Look at your phone', (given) => answers.push(given));
        } else context.reject(['keyboard-interactive']);
      },
    });
    await expect(connect(server.target(), quick)).rejects.toMatchObject({
      code: 'BKE_SSH_AUTH',
      message: expect.stringContaining(`the server asks for what bke cannot answer: ${named}`),
      details: ['the server said: "Look at your phone"'],
      hint: expect.stringContaining('no one-time codes'),
    });
    expect(answers).toEqual([]);
    expect(server.attempts).toEqual(['none', 'keyboard-interactive']);
  });

  rootTest('a channel now and then: everything succeeds, one after the other', async () => {
    let refused = 0;
    await using server = await FakeSshServer.start({
      acceptSession: (open) => {
        if (open >= 1) refused += 1;
        return open < 1;
      },
    });
    const host = await connect(server.target(), quick);
    const started = performance.now();
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => host.run(['echo', String(index)])));
    const elapsedMs = performance.now() - started;
    expect(answers.map(({ stdout }) => stdout.trim())).toEqual(Array.from({ length: 12 }, (_, index) => String(index)));
    expect(server.mostSessions).toBe(1);
    // No storm: of the first nine, eight learn that there is one slot only; after that at most one asks again every 50 ms.
    expect(refused).toBeLessThanOrEqual(8 + elapsedMs / 50);
    await host.close();
  });

  test('waiting for a channel can be cancelled', async () => {
    await using server = await FakeSshServer.start({ acceptSession: (open) => open < 1, exec: () => undefined });
    const host = await connect(server.target(), quick);
    const first = new AbortController();
    const second = new AbortController();
    const held = expect(host.run(['true'], { signal: first.signal })).rejects.toMatchObject({ code: 'BKE_CANCELLED' });
    const waiting = expect(host.run(['true'], { signal: second.signal })).rejects.toMatchObject({
      code: 'BKE_CANCELLED',
    });
    await pause(200);
    second.abort();
    await waiting;
    first.abort();
    await held;
    await host.close();
  });
});

describe('a shell that is not one', () => {
  const says = (text: string, code: number) => (channel: ServerChannel) => {
    channel.write(text);
    channel.exit(code);
    channel.end();
  };

  test.each([
    ['This account is currently not available.\n', 'BKE_SSH_SHELL'],
    ['WARNING: Your password has expired.\nPassword change required but no TTY available.\n', 'BKE_SSH_SHELL'],
    ['sudo: command not found\n', 'BKE_SUDO_DENIED'],
    ['\nbke0123456789abcdef01234567 ready 1\n\nbke0123456789abcdef01234567 exit 0\n', 'BKE_SSH_SHELL'],
  ])('%j is %s', async (text, code) => {
    await using server = await FakeSshServer.start({ exec: says(text, 1) });
    const host = await connect(server.target(), quick);
    await expect(host.run(['true'])).rejects.toMatchObject({ code, host: 'w1' });
    await host.close();
  });

  test('what it prints cannot move the cursor of who reads the error, nor show a secret', async () => {
    await using server = await FakeSshServer.start({
      exec: says('\u001b[2J\u001b[31mgo away CANARY-7391\u0007\r\n', 1),
    });
    const host = await connect(server.target(), quick);
    await expect(host.run(['true'])).rejects.toMatchObject({ details: ['go away [secret]'] });
    await host.close();
  });
});
