// The same facts come back whichever way a host is reached.
import { expect, test } from 'vitest';
import { gatherFacts } from '../../../src/host/facts/gather.ts';
import type { HostFacts } from '../../../src/host/facts/schema.ts';
import { connect } from '../../../src/host/ssh/connect.ts';
import { TestAccount, TestSshd } from './sshd.ts';

test('as root and through sudo, with a noisy account in another language', async () => {
  await using sshd = await TestSshd.start();
  using account = new TestAccount({
    password: 'right-4711',
    sudo: 'ALL=(ALL) ALL',
    files: { '.bashrc': 'echo hello; export LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8; umask 077\n' },
  });
  const root = await connect(sshd.target());
  const sudo = await connect(sshd.target({ user: account.name, auth: { password: 'right-4711' } }));
  const [a, b] = [
    await gatherFacts(root, { paths: ['/', '/var/lib/bke'], tools: ['ip', 'curl'] }),
    await gatherFacts(sudo, { paths: ['/', '/var/lib/bke'], tools: ['ip', 'curl'] }),
  ];
  expect(a).toMatchObject({ uid: 0, disks: [{ path: '/' }, { path: '/var/lib/bke' }] });
  expect(lasting(b)).toEqual(lasting(a));
  expect(a.listeners).toContainEqual(
    expect.objectContaining({ address: '127.0.0.1', port: sshd.port, program: 'sshd', pid: sshd.pid }),
  );
  // One machine, one clock.
  expect(Math.abs(a.clock.offsetMs)).toBeLessThanOrEqual(a.clock.uncertaintyMs + 2);
  await Promise.all([root.close(), sudo.close()]);
});

/** What does not change from one second to the next. */
function lasting(facts: HostFacts): object {
  const {
    clock: _clock,
    memoryAvailableBytes: _memory,
    disks: _disks,
    listeners: _listeners,
    processes: _processes,
    traces: _traces,
    links: _links,
    addresses: _addresses,
    routes: _routes,
    ...rest
  } = facts;
  return rest;
}
