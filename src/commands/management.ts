// The way to a management cluster: a kubeconfig that was named, else the one of this host's bootstrap cluster.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { KubeClient } from '../kube/client.ts';
import { createKubeClient } from '../kube/create-client.ts';
import { connectionFromKubeconfig } from '../kube/kubeconfig.ts';
import { isErrno } from '../lib/errno.ts';
import { BkeError } from '../lib/errors.ts';
import { k3sPaths } from '../tasks/bootstrap-cluster/k3s/paths.ts';
import { kubeadmPaths } from '../tasks/bootstrap-cluster/kubeadm/paths.ts';
import { readSettings } from '../tasks/services/records.ts';
import type { CommandContext } from './context.ts';

/** @param named as it was typed; undefined: of this host. @throws BkeError BKE_NOT_INITIALISED, BKE_KUBECONFIG_INVALID */
export async function withManagement<Result>(
  context: CommandContext,
  named: string | undefined,
  work: (client: KubeClient) => Promise<Result>,
): Promise<Result> {
  const client = await openManagement(context, named);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** As withManagement; whoever opens it closes it. */
export async function openManagement(context: CommandContext, named: string | undefined): Promise<KubeClient> {
  const file = named ?? (await ownKubeconfig(context));
  const path = resolve(context.cwd, file);
  const readBeside = (name: string): Promise<string> => readFile(resolve(dirname(path), name), 'utf8');
  const text = await readFile(path, 'utf8').catch((thrown: unknown) => {
    throw unreadable(file, thrown);
  });
  return createKubeClient(await connectionFromKubeconfig(text, { file, readFile: readBeside }));
}

/** undefined where none is named and this host has none: for commands that have something to say without one. */
export async function findKubeconfig(context: CommandContext, named: string | undefined): Promise<string | undefined> {
  if (named !== undefined) return named;
  const host = await context.openLocalHost();
  try {
    const bootstrap = (await readSettings(host).catch(() => undefined))?.bootstrap;
    if (bootstrap === undefined || bootstrap === 'none') return undefined;
    const file = bootstrap === 'kubeadm' ? kubeadmPaths.kubeconfig : k3sPaths.kubeconfig;
    return (await host.files.stat(file).catch(() => undefined)) === undefined ? undefined : file;
  } finally {
    await host.close();
  }
}

async function ownKubeconfig(context: CommandContext): Promise<string> {
  const file = await findKubeconfig(context, undefined);
  if (file !== undefined) return file;
  throw new BkeError('BKE_NOT_INITIALISED', 'no management cluster is known on this host', {
    hint: "'bke init' makes a bootstrap cluster here; --kubeconfig FILE names another one.",
  });
}

function unreadable(file: string, thrown: unknown): unknown {
  if (isErrno(thrown, 'EACCES')) {
    return new BkeError('BKE_KUBECONFIG_INVALID', `${file} may not be read by this account`, {
      hint: 'Run the command as root, or name a kubeconfig of your own with --kubeconfig FILE.',
      cause: thrown,
    });
  }
  if (!isErrno(thrown, 'ENOENT')) return thrown;
  return new BkeError('BKE_KUBECONFIG_INVALID', `${file} is not there`);
}
