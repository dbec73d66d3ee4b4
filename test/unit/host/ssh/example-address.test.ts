// Addresses out of documentation: who forgot to write their own learns it at once, and nobody else is refused.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Login } from '../../../../src/host/ssh/auth.ts';
import { unreachableHint } from '../../../../src/host/ssh/connect.ts';
import { dial } from '../../../../src/host/ssh/dial.ts';
import { loadTrust } from '../../../../src/host/ssh/host-trust.ts';
import type { SshTarget } from '../../../../src/host/ssh/target.ts';
import { isExampleAddress } from '../../../../src/lib/address.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it.each([
  ['192.0.2.11', true],
  ['198.51.100.1', true],
  ['203.0.113.255', true],
  ['2001:db8::1', true],
  ['2001:DB8:1::1', true],
  ['192.0.20.11', false],
  ['198.51.10.1', false],
  ['2001:db80::1', false],
  ['cp1.example.com', false],
])('%s stands in examples only: %s', (address, told) => {
  expect(isExampleAddress(address)).toBe(told);
});

const targetAt = (address: string): SshTarget => ({
  name: 'cp1',
  address,
  port: 22,
  user: 'root',
  auth: { password: 'x' },
  hostKeys: [],
  knownHostsFiles: [],
});

/** Of a peer that never answers, so that nothing goes out of this machine. */
async function faultAfter(address: string, ms: number): Promise<string> {
  const target = targetAt(address);
  const dialled = dial({
    target,
    trust: await loadTrust(target),
    credentials: await Login.prepare(target, {}),
    options: {},
    timeoutMs: 10_000,
    withoutTypes: new Set(),
    openStream: () => new Promise(() => {}),
  });
  const fault = dialled.then(
    () => 'connected',
    (error: unknown) => String(error),
  );
  await vi.advanceTimersByTimeAsync(ms);
  return Promise.race([fault, Promise.resolve().then(() => 'waits')]);
}

it('such a one gets two seconds to answer, every other one all its time', async () => {
  expect(await faultAfter('192.0.2.11', 2000)).toBe(
    'NetworkFault: no answer from 192.0.2.11 port 22 within 2 s while connecting',
  );
  expect(await faultAfter('10.0.0.11', 9999)).toBe('waits');
  expect(await faultAfter('10.0.0.11', 10_000)).toContain('within 10 s while connecting');
});

it('the hint says what is wrong with it', () => {
  expect(unreachableHint(targetAt('192.0.2.11'), 'no answer')).toBe(
    'Its address only stands in examples (RFC 5737, RFC 3849): write its own one instead.',
  );
  expect(unreachableHint(targetAt('10.0.0.11'), 'no answer')).toBe(
    'Is the host on, is the address right, does a firewall let port 22 through?',
  );
});
