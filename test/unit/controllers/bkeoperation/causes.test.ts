// What a wait gives as its cause, from conditions as Cluster API 1.14 writes them.
import { expect, it } from 'vitest';
import { causeWords } from '../../../../src/controllers/bkeoperation/causes.ts';

it.each([
  ['Remote connection not established yet', 'Cluster API has not reached its API server yet'],
  [
    '* KubeadmConfig status.initialization.dataSecretCreated is false',
    'what its host becomes a node with is not made yet',
  ],
  ['BKEMachine status.initialization.provisioned is false', 'its host is not a node yet'],
  ['Control plane not yet initialized', 'the control plane is not initialised yet'],
  ['* Node.Ready: Condition not yet reported', 'its kubelet has not told of Ready yet'],
  ['* Node.MemoryPressure: kubelet has run out of memory', 'Node.MemoryPressure: kubelet has run out of memory'],
  ['Remote connection probe failed', 'Remote connection probe failed'],
])('%s', (message, words) => {
  expect(causeWords({ reason: 'Whatever', message })).toBe(words);
});

it('is the reason where nothing else is said', () => {
  expect(causeWords({ reason: 'WaitingForDataSecret', message: '' })).toBe('waiting for data secret');
});
