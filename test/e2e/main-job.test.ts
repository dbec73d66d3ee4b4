// The main job on four real hosts without a way out: init, one cluster, what lives through deaths and reboots, and the way back of every host.
import { afterAll, beforeAll, describe } from 'vitest';
import { stopHosts } from '../testbed/index.ts';
import { backTests, plantUserThings } from './main-job/back.ts';
import { badHostTests } from './main-job/bad-hosts.ts';
import { clusterTests } from './main-job/cluster.ts';
import { createTests, killsOf } from './main-job/create.ts';
import { initTests } from './main-job/init.ts';
import { type MainJob, startJob } from './main-job/job.ts';
import { soakTests } from './main-job/soak.ts';

let started: MainJob | undefined;
const job = (): MainJob => {
  if (started === undefined) throw new Error('the hosts are not up');
  return started;
};

beforeAll(async () => {
  started = await startJob();
  await plantUserThings(started);
  await started.remember();
});

afterAll(() => stopHosts());

describe('bke init --bootstrap kubeadm', () => initTests(job));
describe('bke cluster create of bad hosts', () => badHostTests(job));
describe('bke cluster create', () => createTests(job, [1, 2].flatMap(killsOf)));
describe('the cluster', () => clusterTests(job));
if (process.env['BKE_SOAK'] === '1') describe('bke cluster create at other moments', () => soakTests(job));
describe('bke reset', () => backTests(job));
