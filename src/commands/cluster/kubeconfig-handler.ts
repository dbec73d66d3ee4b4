// The work of `bke cluster kubeconfig`.
import type { KubeClient } from '../../kube/client.ts';
import { coreVersion } from '../../cluster/render/names.ts';
import { kubeconfigSecretKey } from '../../controllers/cluster-objects.ts';
import { textAt } from '../../kube/fields.ts';
import type { CommandResult } from '../../lib/command.ts';
import { BkeError } from '../../lib/errors.ts';
import type { InputReader } from '../../lib/input.ts';
import type { CommandContext } from '../context.ts';
import { withManagement } from '../management.ts';
import { mergeIntoKubeconfig, refuseNowhere, refuseThere, writeKubeconfig } from './kubeconfig-file.ts';
import { unknownCluster } from './read-world.ts';

export async function runKubeconfig(context: CommandContext, read: InputReader): Promise<CommandResult> {
  const [to, merge, overwrite] = [read.text('to'), read.flag('merge'), read.flag('overwrite')];
  if (merge && overwrite) throw new BkeError('BKE_USAGE', '--merge and --overwrite exclude each other');
  if (to !== undefined) await refusePlace(context, to, overwrite || merge);
  const [namespace, name] = [read.requiredText('namespace'), read.requiredText('name')];
  const text = await withManagement(context, read.text('kubeconfig'), (client) =>
    readKubeconfig(client, namespace, name),
  );
  if (!merge && to === undefined) return { kind: 'text', text };
  if (merge) await mergeIntoKubeconfig(context, to, text);
  else if (to !== undefined) await writeKubeconfig(context, to, text);
  return { kind: 'none' };
}

async function refusePlace(context: CommandContext, to: string, mayBeThere: boolean): Promise<void> {
  await refuseNowhere(context, to);
  if (!mayBeThere) await refuseThere(context.cwd, to);
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
