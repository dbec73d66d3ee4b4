// The work of `bke cluster kubeconfig`.
import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { KubeClient } from '../../kube/client.ts';
import { coreVersion } from '../../cluster/render/names.ts';
import { kubeconfigSecretKey } from '../../controllers/cluster-objects.ts';
import { textAt } from '../../kube/fields.ts';
import { writeAtomically } from '../../lib/atomic-file.ts';
import type { CommandResult } from '../../lib/command.ts';
import { isErrno } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import type { InputReader } from '../../lib/input.ts';
import type { CommandContext } from '../context.ts';
import { withManagement } from '../management.ts';
import { unknownCluster } from './read-world.ts';

export async function runKubeconfig(context: CommandContext, read: InputReader): Promise<CommandResult> {
  const to = read.text('to');
  const path = to === undefined ? undefined : resolve(context.cwd, to);
  if (path !== undefined && !read.flag('overwrite')) await refuseThere(path, to ?? path);
  const [namespace, name] = [read.requiredText('namespace'), read.requiredText('name')];
  const text = await withManagement(context, read.text('kubeconfig'), (client) =>
    readKubeconfig(client, namespace, name),
  );
  if (path === undefined) return { kind: 'text', text };
  await writeAtomically(path, 0o600, async (file) => file.writeFile(text));
  context.note(`Written to ${to ?? path}: kubectl --kubeconfig ${to ?? path} get nodes`);
  return { kind: 'none' };
}

async function refuseThere(path: string, name: string): Promise<void> {
  const found = await lstat(path).catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT')) return undefined;
    throw thrown;
  });
  if (found === undefined) return;
  throw new BkeError('BKE_USAGE', `${name} is there already`, { hint: 'Name another file, or give --overwrite.' });
}

/** @throws BkeError BKE_CLUSTER_UNKNOWN, BKE_KUBECONFIG_INVALID where the cluster has none yet */
async function readKubeconfig(
  client: Pick<KubeClient, 'get' | 'list'>,
  namespace: string,
  name: string,
): Promise<string> {
  const value = textAt(await client.get(kubeconfigSecretKey(namespace, name)), 'data', 'value');
  if (value !== undefined) return Buffer.from(value, 'base64').toString('utf8');
  const cluster = await client.get({ apiVersion: coreVersion, kind: 'Cluster', namespace, name });
  if (cluster === undefined) throw await unknownCluster(client, { namespace, name });
  throw new BkeError('BKE_KUBECONFIG_INVALID', `cluster ${name} has no kubeconfig yet: its certificates are not made`, {
    hint: `'bke cluster describe ${name}' shows what it waits for.`,
  });
}
