// The way to a management cluster: a kubeconfig that was named, else the one of this host's bootstrap cluster.
import type { KubeClient } from '../kube/client.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { createKubeClient } from '../kube/create-client.ts';
import { BkeError } from '../lib/errors.ts';
import { k3sPaths } from '../tasks/bootstrap-cluster/k3s/paths.ts';
import { kubeadmPaths } from '../tasks/bootstrap-cluster/kubeadm/paths.ts';
import { readSettings } from '../tasks/services/records.ts';
import { claimLine, type HostClaim, readClaim } from '../tasks/reset/claim.ts';
import type { CommandContext } from './context.ts';
import { readConnection } from './kubeconfig-connection.ts';

/** How long an answer to a read may take. */
type ReadOptions = Pick<KubeConnection, 'readTimeoutMs'>;

/** @param named as it was typed; undefined: of this host. @throws BkeError BKE_NOT_INITIALISED, BKE_KUBECONFIG_INVALID */
export async function withManagement<Result>(
  context: CommandContext,
  named: string | undefined,
  work: (client: KubeClient) => Promise<Result>,
  options?: ReadOptions,
): Promise<Result> {
  const client = await openManagement(context, named, options);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** As withManagement; whoever opens it closes it. */
export async function openManagement(
  context: CommandContext,
  named: string | undefined,
  options: ReadOptions = {},
): Promise<KubeClient> {
  const file = named ?? (await ownKubeconfig(context));
  return createKubeClient({ ...(await readConnection(context, file)), ...options });
}

/** undefined where none is named and this host has none: for commands that have something to say without one. */
export async function findKubeconfig(context: CommandContext, named: string | undefined): Promise<string | undefined> {
  if (named !== undefined) return named;
  const host = await context.openLocalHost();
  try {
    const bootstrap = (await readSettings(host).catch(() => undefined))?.bootstrap;
    if (bootstrap === undefined || bootstrap === 'none') return undefined;
    const file = bootstrap === 'kubeadm' ? kubeadmPaths.kubeconfig : k3sPaths.kubeconfig;
    if ((await host.files.stat(file).catch(() => undefined)) === undefined) return undefined;
    context.looksIn(file);
    return file;
  } finally {
    await host.close();
  }
}

async function ownKubeconfig(context: CommandContext): Promise<string> {
  const file = await findKubeconfig(context, undefined);
  if (file !== undefined) return file;
  const claim = await ownClaim(context);
  if (claim !== undefined) {
    throw new BkeError('BKE_NOT_INITIALISED', `this is no bootstrap node, but ${claimLine(claim)}`, {
      hint: 'Run the command on the bootstrap node, or name a kubeconfig of that management cluster with --kubeconfig FILE.',
    });
  }
  throw new BkeError('BKE_NOT_INITIALISED', 'no management cluster is known on this host', {
    hint: "'bke init' makes a bootstrap cluster here; --kubeconfig FILE names another one.",
  });
}

async function ownClaim(context: CommandContext): Promise<HostClaim | undefined> {
  const host = await context.openLocalHost();
  try {
    return await readClaim(host);
  } finally {
    await host.close();
  }
}
