// Where a cluster's kubeconfig is written: a file of its own, or taken up in the one that kubectl reads. It stays its owner's.
import { lchown, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readYamlFile } from '../../config/yaml-file.ts';
import { clusterNameOf, hasCluster, mergeKubeconfig } from '../../kube/merge-kubeconfig.ts';
import { requireFolderOf, writeAtomically, writeTarget } from '../../lib/atomic-file.ts';
import { isErrno } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import { k3sPaths } from '../../tasks/bootstrap-cluster/k3s/paths.ts';
import { kubeadmPaths } from '../../tasks/bootstrap-cluster/kubeadm/paths.ts';
import type { CommandContext } from '../context.ts';

type Around = Pick<CommandContext, 'cwd' | 'env' | 'now' | 'note'>;

/** Of a file that is named; of ~/.kube the folder is made, as kubectl does. @throws BkeError BKE_USAGE where its folder is not there */
export async function refuseNowhere({ cwd, env }: Pick<Around, 'cwd' | 'env'>, to: string): Promise<void> {
  const path = resolve(cwd, to);
  if (dirname(path) !== join(env['HOME'] ?? '', '.kube')) await requireFolderOf(path, to);
}

/** @param to as it was typed. @throws BkeError BKE_USAGE where a file is there that is not to be replaced */
export async function refuseThere(cwd: string, to: string): Promise<void> {
  const found = await lstat(resolve(cwd, to)).catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT')) return undefined;
    throw thrown;
  });
  if (found === undefined) return;
  throw new BkeError('BKE_USAGE', `${to} is there already`, {
    hint: 'Name another file, give --merge to take it up in that one, or --overwrite to replace it.',
  });
}

/** All in them belongs to the Kubernetes of this host. */
const foldersOfKubernetes = [dirname(kubeadmPaths.kubeconfig), dirname(k3sPaths.configDir)];

/**
 * Where a file is really written. Not among those of the Kubernetes of this host: a reset takes them away, and perhaps the only way into a cluster with
 * them; KUBECONFIG of root names them on a bootstrap node.
 * @throws BkeError BKE_USAGE
 */
export async function refuseOfKubernetes(cwd: string, name: string, folders = foldersOfKubernetes): Promise<string> {
  const path = await writeTarget(resolve(cwd, name));
  const real = await realOf(dirname(path));
  for (const folder of folders) {
    if (!`${real}/`.startsWith(`${await realOf(folder)}/`)) continue;
    const where = path === name ? 'is a file' : `leads to ${path}, a file`;
    throw new BkeError('BKE_USAGE', `${name} ${where} of the Kubernetes of this host: 'bke reset' takes it away`, {
      hint: 'Name a file of your own: --merge --to ~/.kube/config, or --to FILE for one beside it.',
    });
  }
  return path;
}

/** Without links, as far as it is there. */
async function realOf(path: string): Promise<string> {
  return realpath(path).catch(async () => join(await realOf(dirname(path)), basename(path)));
}

/** In a file of its own, in place of what was there. */
export async function writeKubeconfig(around: Around, to: string, text: string): Promise<void> {
  await writeOwned(await refuseOfKubernetes(around.cwd, to), text);
  around.note(`Written to ${to}: kubectl --kubeconfig ${to} get nodes`);
}

/**
 * Into `to`, else into the file that kubectl would change: of those in KUBECONFIG the one that has the cluster, else the first there is; else ~/.kube/config.
 * What was there is kept beside it. @throws BkeError BKE_KUBECONFIG_INVALID, BKE_USAGE
 */
export async function mergeIntoKubeconfig(around: Around, to: string | undefined, added: string): Promise<void> {
  const name = to ?? (await usualFile(around, clusterNameOf(added) ?? ''));
  const path = await refuseOfKubernetes(around.cwd, name);
  const before = await readIfThere(path, name);
  const merged = mergeKubeconfig(before ?? '', added, name);
  if (merged === before) {
    around.note(`Nothing to do: ${name} has it already.`);
    return;
  }
  const backup = `${path}.${around.now().toISOString().replaceAll(/[:.]/g, '-')}.bak`;
  if (before !== undefined && before !== '') await writeOwned(backup, before, path);
  await writeOwned(path, merged);
  const kept = before === undefined || before === '' ? '' : ` (as it was: ${backup})`;
  around.note(`Taken up in ${name}${kept}: kubectl config get-contexts`);
}

async function usualFile({ env, cwd }: Around, cluster: string): Promise<string> {
  const listed = (env['KUBECONFIG'] ?? '').split(':').filter((name) => name !== '');
  const home = env['HOME'] ?? '';
  if (listed.length === 0 && home === '')
    throw new BkeError('BKE_USAGE', 'neither KUBECONFIG nor HOME is set', { hint: 'Name the file with --to FILE.' });
  if (listed.length === 0) return join(home, '.kube/config');
  const found = await Promise.all(
    listed.map(async (name) => ({ name, text: await readIfThere(resolve(cwd, name), name) })),
  );
  const there = found.filter(({ text }) => text !== undefined);
  const chosen = there.find(({ text }) => hasCluster(text ?? '', cluster)) ?? there[0] ?? found.at(-1);
  return chosen?.name ?? '';
}

async function readIfThere(path: string, name: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  return readYamlFile({ path, name, what: 'kubeconfig', code: 'BKE_KUBECONFIG_INVALID' });
}

/** For its owner alone: that of the file that was there (or of `like`), else of the folder: under sudo that is the user and not root. */
async function writeOwned(path: string, text: string, like = path): Promise<void> {
  await makeFolder(dirname(path));
  const { uid, gid } = (await stat(like).catch(() => undefined)) ?? (await stat(dirname(path)));
  await writeAtomically(path, 0o600, async (file) => {
    if (process.getuid?.() === 0) await file.chown(uid, gid);
    await file.writeFile(text);
  });
}

/** ~/.kube may be missing, what is above it not. */
async function makeFolder(path: string): Promise<void> {
  const missing = await stat(path).then(
    () => false,
    (thrown: unknown) => isErrno(thrown, 'ENOENT'),
  );
  if (!missing) return;
  await mkdir(path, { mode: 0o700 });
  const { uid, gid } = await stat(dirname(path));
  if (process.getuid?.() === 0) await lchown(path, uid, gid);
}
