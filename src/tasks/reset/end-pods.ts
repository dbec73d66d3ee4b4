// Ends pods: asked of the container runtime first, so that it forgets them, then by signals to what is left in pods' control groups.
import { setTimeout as sleep } from 'node:timers/promises';
import { containerdSocket } from '../../host/state/containers.ts';
import { readPodCgroups, removeCgroup } from '../../host/state/cgroups.ts';
import { findProgram } from '../../host/state/program.ts';
import { readProcesses, signalProcess } from '../../host/state/processes.ts';
import { trySystemctl } from '../../host/systemd.ts';
import { eachLimited } from '../../lib/limit.ts';
import { plural } from '../../lib/text.ts';
import type { Step } from '../../operations/operation.ts';
import { runBounded } from '../../host/state/bounded.ts';
import type { ResetScope } from './reset-scope.ts';
import { type PodProcess, podProcesses } from './select.ts';

const podsAtOnce = 4;
const gentleMs = 3000;
const killMs = 5000;

/** crictl sees the namespace k8s.io alone: others' containers are out of its reach. */
async function crictl(scope: ResetScope, args: readonly string[], timeoutMs: number): Promise<string[] | undefined> {
  const program = await findProgram(scope.host, 'crictl');
  if (program === undefined) return undefined;
  const endpoint = `unix://${containerdSocket}`;
  const argv = [program, '--runtime-endpoint', endpoint, '--timeout', '20s', ...args] as const;
  const result = await runBounded(scope.host, argv, { timeoutMs });
  return result.exitCode === 0 ? result.stdout.split('\n').filter((line) => line !== '') : undefined;
}

async function removePods(scope: ResetScope): Promise<void> {
  if ((await scope.host.files.stat(containerdSocket)) === undefined) return;
  const pods = (await crictl(scope, ['pods', '-q'], 10_000)) ?? [];
  if (pods.length === 0) return;
  await scope.act(`remove ${plural(pods.length, 'pod')}`, async () => {
    await eachLimited(pods, podsAtOnce, async (id) => {
      // What fails here is ended by signal below.
      await crictl(scope, ['stopp', id], 25_000);
      await crictl(scope, ['rmp', '--force', id], 25_000);
    });
  });
}

async function podProcessesNow(scope: ResetScope): Promise<PodProcess[]> {
  return podProcesses(await readProcesses(scope.host), scope.run.self);
}

/** New ones may start while the old end: looked for again each time. */
async function signalUntilGone(scope: ResetScope, signal: 'SIGTERM' | 'SIGKILL', forMs: number): Promise<PodProcess[]> {
  const end = performance.now() + forMs;
  const told = new Set<string>();
  for (;;) {
    const alive = await podProcessesNow(scope);
    if (alive.length === 0 || performance.now() > end) return alive;
    for (const { process } of alive) {
      const key = `${process.pid} ${process.startTicks}`;
      if (signal === 'SIGTERM' && told.has(key)) continue;
      told.add(key);
      await signalProcess(scope.host, process, signal);
    }
    await sleep(100);
  }
}

async function endProcesses(scope: ResetScope): Promise<void> {
  const found = await podProcessesNow(scope);
  if (found.length === 0) return;
  await scope.act(`end ${plural(found.length, 'process', 'processes')} of pods`, async () => {
    const stubborn = await signalUntilGone(scope, 'SIGTERM', gentleMs);
    const left = stubborn.length === 0 ? [] : await signalUntilGone(scope, 'SIGKILL', killMs);
    for (const { process, why } of left) {
      scope.run.left.push({
        what: `process ${process.pid} (${process.command})`,
        why: `${why}; it did not end on SIGKILL (state ${process.state})`,
        see: `cat /proc/${process.pid}/stack`,
      });
    }
  });
}

async function removeCgroups(scope: ResetScope): Promise<void> {
  const found = await readPodCgroups(scope.host);
  if (found.length === 0) return;
  await scope.act(`remove ${plural(found.length, 'control group')} of pods`, async () => {
    const slices = [...new Set(found.map((path) => path.split('/').at(-1) ?? ''))].filter((name) =>
      name.endsWith('.slice'),
    );
    if (slices.length > 0) await trySystemctl(scope.host, ['stop', '--', ...slices], 10_000);
    for (const path of await readPodCgroups(scope.host)) {
      const why = await removeCgroup(scope.host, path);
      if (why !== undefined) scope.run.left.push({ what: path, why, see: `cat ${path}/cgroup.procs` });
    }
  });
}

export const endPodsStep: Step<ResetScope> = {
  name: 'reset/pods',
  title: 'End pods',
  timeoutMs: 300_000,
  run: async (scope) => {
    await removePods(scope);
    await endProcesses(scope);
  },
};

/** After the container runtime has stopped: what it restarted or left. */
export const endLeftoversStep: Step<ResetScope> = {
  name: 'reset/processes',
  title: 'End what is left of pods',
  timeoutMs: 120_000,
  run: async (scope) => {
    await endProcesses(scope);
    await removeCgroups(scope);
  },
};
