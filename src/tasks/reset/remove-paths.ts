// Removes the known paths the plan chose: trees never across a mount, files one by one, shared folders only when empty.
import { kubernetesPaths, sharedFolders, volumePaths } from '../../host/state/known-paths.ts';
import { removeMarkedLines } from '../../host/changes/hosts-entry.ts';
import { removeTree } from '../../host/changes/remove-tree.ts';
import { createReach, readMounts } from '../../host/state/mount-table.ts';
import { isWithin, type Mount } from '../../host/state/mounts.ts';
import { trySystemctl } from '../../host/systemd.ts';
import type { FoundPath } from '../../host/state/state.ts';
import { BkeError } from '../../lib/errors.ts';
import { shellCommand } from '../../lib/quote.ts';
import { listedShort } from '../../lib/text.ts';
import type { Step } from '../../operations/operation.ts';
import { reasonOf, runBounded } from '../../host/state/bounded.ts';
import { isInstalledProgram } from './former-program.ts';
import { type Trace, writeLeftRecord } from './left-record.ts';
import type { ResetScope } from './reset-scope.ts';

const volumes = volumePaths.map(({ path }) => path);

/** Relative paths in a tree that stay: volume data unless it is to go, and what the user mounts at boot. */
function keptWithin(scope: ResetScope, top: string): Set<string> {
  const { selection, flags } = scope.run;
  const stays = [...selection.keptMounts, ...(flags.purgeVolumes ? [] : volumes)];
  return new Set(stays.filter((path) => path !== top && isWithin(path, top)).map((path) => path.slice(top.length + 1)));
}

/** And what is in a kept volume directory: it stays as a whole. */
async function keptWithAll(scope: ResetScope, top: string): Promise<Set<string>> {
  const kept = keptWithin(scope, top);
  const inVolumes: string[] = [];
  for (const name of [...kept].filter((path) => volumes.includes(`${top}/${path}`))) {
    for await (const entry of scope.host.files.walk(`${top}/${name}`)) {
      if (entry.path !== '') inVolumes.push(`${name}/${entry.path}`);
    }
  }
  return new Set([...kept, ...inVolumes]);
}

function seePath(path: string): string {
  return [shellCommand(['ls', '-lad', path]), shellCommand(['lsattr', '-d', path])].join('; ');
}

async function tellKeptMounts(scope: ResetScope, top: string): Promise<void> {
  const mounts = [...scope.run.selection.keptMounts].filter((path) => path !== top && isWithin(path, top));
  if (mounts.length === 0 || (await scope.host.files.stat(top)) === undefined) return;
  const why = `${listedShort(mounts, 3)} in it is yours (in /etc/fstab, or there before bke) and stays`;
  scope.run.left.push({ what: top, why, see: shellCommand(['findmnt', '-R', top]) });
}

async function removeTreeAt(scope: ResetScope, path: FoundPath, mounts: readonly Mount[]): Promise<void> {
  const top = path.target ?? path.path;
  const mountedTop = mounts.some((mount) => mount.mountPoint === top);
  const keepTop = mountedTop || path.target !== undefined;
  const { left } = await removeTree(scope.host, top, { keep: await keptWithAll(scope, top), mountedTop, keepTop });
  await tellKeptMounts(scope, top);
  for (const entry of left) {
    scope.run.left.push({ what: entry.path, why: entry.why, see: seePath(entry.path), trace: traceOf(path) });
  }
}

function traceOf({ path, kind, what }: FoundPath): Trace {
  return { type: 'path', path, kind, what };
}

async function removePath(scope: ResetScope, path: FoundPath, mounts: readonly Mount[]): Promise<void> {
  const stat = await scope.host.files.stat(path.path);
  if (stat === undefined) return;
  const isTree = path.kind === 'tree' && (stat.type === 'directory' || path.target !== undefined);
  if (isTree) await removeTreeAt(scope, path, mounts);
  else await scope.host.files.remove(path.path);
}

/** A path that can't be removed is told and the others go on. */
async function removePaths(scope: ResetScope, paths: readonly FoundPath[]): Promise<void> {
  const mounts = await readMounts(scope.host);
  const reach = createReach(scope.host, mounts);
  for (const path of paths) {
    if (!(await reach(path.path))) {
      scope.run.left.push({
        what: path.path,
        why: 'it lies on a network file system that does not answer',
        see: 'findmnt',
        trace: traceOf(path),
      });
      continue;
    }
    await scope.act(`remove ${path.path}`, async () => {
      try {
        await removePath(scope, path, mounts);
      } catch (thrown) {
        if (!(thrown instanceof BkeError) || thrown.code === 'BKE_CANCELLED') throw thrown;
        scope.run.left.push({
          what: path.path,
          why: thrown.message,
          see: seePath(path.path),
          trace: traceOf(path),
        });
      }
    });
  }
}

/** Trees and folders are known by what is in them: a reset that dies between the two is finished by the next one because of this. */
async function remember({ host, run }: ResetScope): Promise<void> {
  const pending = run.selection.paths
    .filter(({ kind }) => kind !== 'file')
    .map((path) => ({
      what: path.path,
      why: 'a reset ended before it',
      see: seePath(path.path),
      trace: traceOf(path),
    }));
  await writeLeftRecord(host, [...run.left, ...pending]);
}

function isTree(path: FoundPath): boolean {
  return path.kind === 'tree';
}

/** Which of the chosen paths are Kubernetes' data; kubeconfigs go first, while the cluster's CA they are known by is still there. */
export const removeDataStep: Step<ResetScope> = {
  name: 'reset/data',
  title: 'Remove data',
  timeoutMs: 30 * 60_000,
  run: async (scope) => {
    const { kubeconfigs, paths } = scope.run.selection;
    await remember(scope);
    await removePaths(
      scope,
      kubeconfigs.map((path) => ({ path, kind: 'file', what: 'kubeconfig', entries: [] })),
    );
    await removePaths(
      scope,
      paths.filter((path) => isTree(path) && path.mark !== 'proof' && !isInstalledProgram(path.path)),
    );
  },
};

async function isEmpty(scope: ResetScope, path: string): Promise<boolean> {
  const stat = await scope.host.files.stat(path);
  return stat?.type === 'directory' && (await scope.host.files.list(path)).length === 0;
}

/** Folders go once nothing is in them; those that hold something stay. */
export async function removeEmptied(scope: ResetScope, paths: readonly FoundPath[]): Promise<void> {
  for (const path of paths.filter(({ kind }) => kind === 'folder')) {
    if (await isEmpty(scope, path.path)) await removePaths(scope, [path]);
  }
}

/**
 * What of bke no ledger tells of: before the record is undone, so that its folders are empty by then. The marked files that prove the rest go
 * last, and only where nothing stayed, so that the next reset knows it as well.
 */
export const removeUnrecordedStep: Step<ResetScope> = {
  name: 'reset/unrecorded',
  title: 'Remove what no record tells of',
  timeoutMs: 30 * 60_000,
  run: async (scope) => {
    const { paths, unrecorded } = scope.run.selection;
    if (!unrecorded.byName) return;
    const proofs = new Set(unrecorded.proofs);
    const kubernetes = new Set(kubernetesPaths.map(({ path }) => path));
    const own = paths.filter(({ path, kind }) => kind === 'file' && !kubernetes.has(path) && !isInstalledProgram(path));
    const before = scope.run.left.length;
    await removePaths(
      scope,
      own.filter(({ path }) => !proofs.has(path)),
    );
    await removeUnrecorded(scope);
    const shared = new Set(sharedFolders.map(({ path }) => path));
    await remember(scope);
    if (scope.run.left.length === before) {
      await removePaths(
        scope,
        own.filter(({ path }) => proofs.has(path)),
      );
    }
    await removeEmptied(
      scope,
      paths.filter(({ path }) => !shared.has(path)),
    );
  },
};

/** Lines and the user that no ledger tells of. */
async function removeUnrecorded(scope: ResetScope): Promise<void> {
  const { hosts, user } = scope.run.selection.unrecorded;
  if (hosts.length > 0) await scope.act("remove bke's lines in /etc/hosts", () => removeMarkedLines(scope.host));
  if (user === undefined) return;
  await scope.act(`remove user ${user}`, async () => {
    const result = await runBounded(scope.host, ['userdel', user], { timeoutMs: 20_000 });
    if (result.exitCode !== 0) scope.run.left.push({ what: `user ${user}`, why: reasonOf(result), see: `id ${user}` });
  });
}

async function reloadUnits({ host, run }: ResetScope): Promise<void> {
  await trySystemctl(host, ['daemon-reload'], 30_000);
  const { units } = run.selection;
  if (units.length > 0) await trySystemctl(host, ['reset-failed', '--', ...units], 10_000);
}

/** What shows that Kubernetes was here goes last, so that a reset that is interrupted still finds it. */
export const removeFilesStep: Step<ResetScope> = {
  name: 'reset/files',
  title: 'Remove settings',
  timeoutMs: 30 * 60_000,
  run: async (scope) => {
    const { paths } = scope.run.selection;
    const { byName, proofs } = scope.run.selection.unrecorded;
    const kept = new Set(byName ? proofs : []);
    await removePaths(
      scope,
      paths.filter(
        ({ path, kind, mark }) => kind === 'file' && mark !== 'proof' && !kept.has(path) && !isInstalledProgram(path),
      ),
    );
    await remember(scope);
    await removePaths(
      scope,
      paths.filter((path) => path.mark === 'proof'),
    );
    await removeEmptied(scope, paths);
    await reloadUnits(scope);
  },
};

/** The program that no record tells of, and its folder; the link to it first, which nothing would tell of without it. */
export async function removeProgram(scope: ResetScope): Promise<void> {
  const program = scope.run.selection.paths.filter(({ path }) => isInstalledProgram(path));
  for (const kind of ['file', 'tree']) {
    await removePaths(
      scope,
      program.filter((path) => path.kind === kind),
    );
  }
  await removeEmptied(scope, program);
}
