// What `bke cluster logs` and `bke host exec` print.
import { expect, it } from 'vitest';
import { logLines, logText } from '../../../../src/commands/cluster/log-lines.ts';
import {
  droppedLines,
  exitCodeOf,
  hintLines,
  outputLimit,
  textOf,
} from '../../../../src/commands/host/exec-handler.ts';
import { type KindName, kinds, worldOf } from '../../../../src/controllers/bkeoperation/world.ts';
import type { KubeObject } from '../../../../src/kube/client.ts';

const cluster: KubeObject = { ...kinds.cluster, metadata: { namespace: 'bke', name: 'prod' }, spec: {} };
const world = worldOf({ namespace: 'bke', name: 'prod' }, (kind: KindName) => (kind === 'cluster' ? [cluster] : []));
const event = (name: string, kind: string, time: string, message: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { namespace: 'bke', name: `${name}.1`, uid: `u-${message}` },
  involvedObject: { kind, name },
  reason: 'OperationOpened',
  message,
  lastTimestamp: time,
});

it('tells operations and events of the cluster in order of time, and of nothing else', () => {
  const operation: KubeObject = {
    ...kinds.operation,
    metadata: { namespace: 'bke', name: 'op-1' },
    spec: { target: { name: 'prod' } },
    status: {
      events: [
        {
          seq: 1,
          at: '2026-11-30T10:00:01.000Z',
          type: 'operation.started',
          data: { action: 'cluster.create', target: 'cluster prod' },
        },
        {
          seq: 2,
          at: '2026-11-30T10:00:05.000Z',
          type: 'step.waiting',
          data: {
            phase: 'workers',
            step: 'node/join',
            host: 'w1',
            for: 'w1 to become a node',
            cause: 'kubeadm\u001b[2J join',
          },
        },
      ],
    },
  };
  const events = [
    event('prod', 'Cluster', '2026-11-30T10:00:03Z', 'opened'),
    event('prod', 'Cluster', '2026-11-30T10:00:04Z', 'OperationOpened'),
    event('other', 'Cluster', '2026-11-30T10:00:03Z', 'x'),
  ];
  expect(logLines(world, [operation], events).map(logText)).toEqual([
    '2026-11-30T10:00:01Z operation.started: cluster.create of cluster prod\n',
    '2026-11-30T10:00:03Z Cluster/prod OperationOpened: opened\n',
    // Who has no more to say than the reason is not quoted with it.
    '2026-11-30T10:00:04Z Cluster/prod OperationOpened\n',
    '2026-11-30T10:00:05Z w1 node/join step.waiting: w1 to become a node: kubeadm\\x1b[2J join\n',
  ]);
});

it('shows what a program printed under the name of its host, and ends with the worst', () => {
  const well = { host: 'cp1', exitCode: 0, stdout: 'up 3 days\n', stderr: '' };
  const bad = { host: 'w1', exitCode: 2, stdout: '', stderr: 'no such file\n' };
  const away = { host: 'w2', error: { code: 'BKE_SSH_UNREACHABLE', message: 'cannot reach w2' } } as const;
  expect([well, bad, away].map(textOf)).toEqual([
    '== cp1\nup 3 days\n',
    '== w1: exit code 2\nno such file\n',
    '== w2: not run\nerror[BKE_SSH_UNREACHABLE] cannot reach w2\n',
  ]);
  expect(droppedLines([well, bad, away], 1)).toEqual([]);
  expect([exitCodeOf([well]), exitCodeOf([well, bad]), exitCodeOf([well, bad, away])]).toEqual([0, 1, 5]);
});

it('says how much of what programs printed is not shown', () => {
  const result = { exitCode: 0, stdout: 'x', stderr: 'y' };
  const ran = [
    { host: 'cp1', ...result },
    { host: 'w1', ...result, dropped: { stdout: 5 << 20, stderr: 0 } },
    { host: 'w2', ...result, dropped: { stdout: 0, stderr: 10 } },
    { host: 'w3', ...result, dropped: { stdout: 2048, stderr: 10 } },
  ];
  expect(droppedLines(ran, outputLimit(4))).toEqual([
    'warning: w1: the first 5.0 MiB of its output are left out; the last 4.0 MiB are here',
    'warning: w2: the first 10 B of its errors are left out; the last 4.0 MiB are here',
    'warning: w3: the first 2.0 KiB of its output and 10 B of its errors are left out; the last 4.0 MiB are here',
    "  Have less printed (sh -c '… | tail -n 1000'), or into a file there.",
  ]);
  // However many hosts there are, all that is kept of them fits into memory.
  expect(outputLimit(200) * 200 * 2).toBeLessThanOrEqual(128 << 20);
});

it('tells once what mends hosts where it was not run', () => {
  const away = { code: 'BKE_SSH_UNREACHABLE', message: 'cannot reach it', hint: 'Is it on?' } as const;
  const refused = { code: 'BKE_SSH_AUTH', message: 'no', hint: 'Which password?' } as const;
  const ran = [
    { host: 'cp1', error: away },
    { host: 'w1', exitCode: 0, stdout: '', stderr: '' },
    { host: 'w2', error: away },
    { host: 'w3', error: refused },
  ];
  expect(hintLines(ran)).toEqual(['cp1, w2: Is it on?', 'w3: Which password?']);
});
