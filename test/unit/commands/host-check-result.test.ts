// What `bke host check` tells at its end of hosts that it could not log in to.
import { expect, it } from 'vitest';
import type { ClusterConfig } from '../../../src/config/cluster/config.ts';
import { type Checked, tellFindings } from '../../../src/commands/host/check-result.ts';
import { BkeError, toErrorReport } from '../../../src/lib/errors.ts';

/** Of hosts with these hints. */
function told(hints: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(hints);
  const hosts = names.map((name, at) => ({ name, address: `10.0.0.${at + 1}`, roles: ['worker'] }));
  // oxlint-disable-next-line no-unsafe-type-assertion -- the rest of a configuration is of no matter here
  const config = { name: 'demo', hosts } as unknown as ClusterConfig;
  const errors = names.map((host) => new BkeError('BKE_SSH_AUTH', 'cannot log in', { host, hint: hints[host] }));
  const checked: Checked = {
    config,
    ignored: [],
    found: { findings: [], facts: new Map() },
    result: {
      id: 'x',
      outcome: 'failed',
      changed: false,
      durationMs: 0,
      errors,
      hosts: names.map((host, at) => ({
        host,
        state: 'failed' as const,
        changed: false,
        error: toErrorReport(errors[at]),
      })),
    },
  };
  const lines: string[] = [];
  tellFindings({ note: (line) => void lines.push(line) }, checked);
  return lines.filter((line) => line.startsWith('  -> '));
}

it('tells a hint once where it differs in nothing but the host', () => {
  expect(
    told({
      w1: 'Check the key of w1: ssh root@10.0.0.1.',
      w2: 'Check the key of w2: ssh root@10.0.0.2.',
      w3: 'Check the key of w3: ssh root@10.0.0.3.',
    }),
  ).toEqual(['  -> Check the key of w1: ssh root@10.0.0.1. (in the same way: w2, w3)']);
});

it('tells hints that differ in more each, and one of several that are equal as it is', () => {
  expect(told({ w1: 'Give a password.', w2: 'Give a password.', w3: 'Give a key.' })).toEqual([
    '  -> Give a password.',
    '  -> Give a key.',
  ]);
});
