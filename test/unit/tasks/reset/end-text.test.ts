// What a reset says at its end.
import { expect, it } from 'vitest';
import { doneLine } from '../../../../src/tasks/reset/end-text.ts';

it('is true of what is still there', () => {
  expect(doneLine([], '/root/bke')).toBe(
    'Done: nothing of bke or Kubernetes is left on this host but the program /root/bke.',
  );
  expect(doneLine([], undefined)).toBe(
    'Done: nothing of bke or Kubernetes is left on this host; the bke program went too.',
  );
  expect(doneLine(['services', 'enrol'], '/root/bke')).toBe(
    'Done: Kubernetes is off this host. Still here: the local services (--mount takes them too) and the agent and what came with it (--all takes them too).',
  );
});
