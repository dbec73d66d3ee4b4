// Takes mounts away from below the directories that are emptied, never what is behind them (docs/adr/0006-reset-rules.md, rule 3).
import { setTimeout as sleep } from 'node:timers/promises';
import { readHolders } from '../../host/state/holders.ts';
import { isNetworkMount, readMounts } from '../../host/state/mount-table.ts';
import type { Mount } from '../../host/state/mounts.ts';
import { eachLimited } from '../../lib/limit.ts';
import { shellCommand } from '../../lib/quote.ts';
import { plural } from '../../lib/text.ts';
import type { Step } from '../../operations/operation.ts';
import { reasonOf, runBounded } from '../../host/state/bounded.ts';
import type { ResetScope } from './reset-scope.ts';
import { ownMounts } from './select.ts';

const batch = 40;
const unmountMs = 10_000;
const networkMs = 5000;
/** A process that was just ended may hold its mount a moment longer. */
const tries = 5;
const pauseMs = 300;
const rounds = 50;

async function found(scope: ResetScope): Promise<Mount[]> {
  return ownMounts(await readMounts(scope.host), scope.run.selection);
}

/** -c: never resolved (a dead server hangs in stat). -i: no helper of the file system that would ask the server. */
async function umount(scope: ResetScope, flags: readonly string[], paths: readonly string[], timeoutMs: number) {
  return runBounded(scope.host, ['umount', '-c', '-i', ...flags, '--', ...paths], { timeoutMs });
}

/**
 * What is unmounted below a shared mount goes from its peers as well, the user's original among them: so the mounts
 * that carry others are cut loose first. Returns ids of those that could not be, because another lies on top.
 */
async function cutLoose(scope: ResetScope, mounts: readonly Mount[]): Promise<ReadonlySet<number>> {
  const parents = new Set(mounts.map((mount) => mount.parent));
  const shared = mounts.filter(
    (mount) => parents.has(mount.id) && mount.propagation.some((tag) => tag.startsWith('shared:')),
  );
  const covered = new Set<number>();
  await eachLimited(shared, 4, async (mount) => {
    // The first in this order is the topmost of its place.
    if (mounts.find((other) => other.mountPoint === mount.mountPoint)?.id !== mount.id) covered.add(mount.id);
    else
      await runBounded(scope.host, ['mount', '-c', '--make-private', '--', mount.mountPoint], { timeoutMs: networkMs });
  });
  return covered;
}

interface Failure {
  readonly mount: Mount;
  readonly why: string;
}

async function unmountNetwork(scope: ResetScope, mount: Mount): Promise<void> {
  const path = [mount.mountPoint];
  for (const flags of [[], ['-f'], ['-l']]) {
    const result = await umount(scope, flags, path, networkMs);
    if (result.exitCode !== 0) continue;
    if (flags.length > 0) {
      const how = flags.includes('-f')
        ? 'by force'
        : 'lazily: the kernel lets go of it when its server answers or its last user ends';
      scope.warn(
        `${mount.mountPoint} (${mount.fileSystem} from ${mount.source}) did not answer and was unmounted ${how}`,
      );
    }
    return;
  }
}

/** One pass over all that can go now; whether anything went. */
async function pass(scope: ResetScope, failed: ReadonlyMap<number, Failure>): Promise<boolean> {
  const mounts = (await found(scope)).filter((mount) => !failed.has(mount.id));
  const covered = await cutLoose(scope, mounts);
  const ready = mounts.filter((mount) => !covered.has(mount.parent));
  const local = ready.filter((mount) => !isNetworkMount(mount));
  for (let start = 0; start < local.length; start += batch) {
    await umount(
      scope,
      [],
      local.slice(start, start + batch).map((mount) => mount.mountPoint),
      unmountMs,
    );
  }
  for (const mount of ready.filter(isNetworkMount)) await unmountNetwork(scope, mount);
  const left = new Set((await found(scope)).map((mount) => mount.id));
  return mounts.some((mount) => !left.has(mount.id));
}

async function whyItStays(scope: ResetScope, mount: Mount): Promise<string> {
  const result = await umount(scope, [], [mount.mountPoint], unmountMs);
  const holders = await readHolders(scope.host, mount.mountPoint);
  const held = holders.map(({ pid, command, holds }) => `process ${pid} (${command}) has it as its ${holds}`);
  return held.length === 0 ? reasonOf(result) : held.join('; ');
}

async function unmountAll(scope: ResetScope): Promise<void> {
  const failed = new Map<number, Failure>();
  let idle = 0;
  for (let round = 0; round < rounds; round += 1) {
    const pending = (await found(scope)).filter((mount) => !failed.has(mount.id));
    if (pending.length === 0) break;
    scope.progress({ done: 0, total: pending.length, unit: 'items' });
    if (await pass(scope, failed)) {
      idle = 0;
      continue;
    }
    idle += 1;
    if (idle >= tries) {
      for (const mount of pending) failed.set(mount.id, { mount, why: await whyItStays(scope, mount) });
    } else await sleep(pauseMs);
  }
  const still = new Set((await found(scope)).map((mount) => mount.id));
  for (const { mount, why } of failed.values()) {
    if (!still.has(mount.id)) continue;
    scope.run.left.push({
      what: mount.mountPoint,
      why: `still mounted: ${why}`,
      see: shellCommand(['findmnt', mount.mountPoint]),
    });
  }
}

export const unmountStep: Step<ResetScope> = {
  name: 'reset/mounts',
  title: 'Unmount volumes',
  timeoutMs: 600_000,
  run: async (scope) => {
    const mounts = await found(scope);
    if (mounts.length === 0) return;
    await scope.act(`unmount ${plural(mounts.length, 'mount')}`, () => unmountAll(scope));
  },
};
