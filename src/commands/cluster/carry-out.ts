// Writes a cluster's resources and opens the operation that tells how it gets on, or goes on with the one that was opened before.
import { operationKind } from '../../controllers/cluster-objects.ts';
import type { BKEOperationSpec } from '../../api/kinds/bke-operation.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import { applyAll } from '../../kube/apply.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { keyOf } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { newOperationId } from '../../operations/journal.ts';
import type { CommandContext } from '../context.ts';
import { cancelOperation } from '../operation/cancel-handler.ts';
import { follow } from '../operation/follow.ts';

/** Whose fields a cluster.yaml's are. */
export const fieldManager = 'bke-cli';

export interface CarryOut {
  readonly config: ClusterConfig;
  readonly objects: readonly KubeObject[];
  /** For commands to type again: ` --kubeconfig FILE`, or nothing. */
  readonly where: string;
}

/** The operation comes first: a controller that finds a cluster without one opens another. */
export async function carryOut(
  context: CommandContext,
  client: KubeClient,
  { config, objects, where }: CarryOut,
): Promise<void> {
  const { namespace, name } = config;
  const [operation, rest] = await open(context, client, { config, objects });
  try {
    await write(context, client, rest);
  } catch (thrown) {
    // Nobody is to wait for a cluster that was not written.
    await cancelOperation(client, { namespace, name: operation }).catch(() => undefined);
    throw thrown;
  }
  context.note(`Cluster ${name} is written; operation ${operation} makes it.`);
  await follow(context, client, { namespace, name: operation, where });
}

export interface Join extends CarryOut {
  /** Of `objects`, those that would be made or changed. */
  readonly pending: readonly KubeObject[];
  /** Id of the operation that makes the cluster already. */
  readonly operation: string;
}

/** The same command again, while the cluster is being made: what was not written any more is, and the operation is watched. @throws BkeError BKE_OPERATION_CONFLICT where the file says something else */
export async function joinCreate(context: CommandContext, client: KubeClient, join: Join): Promise<void> {
  const { config, pending, operation, where } = join;
  const { namespace, name } = config;
  await refuseOtherFile(client, join);
  if (pending.length > 0) await write(context, client, pending);
  context.note(`Operation ${operation} makes cluster ${name} already.`);
  await follow(context, client, { namespace, name: operation, where });
}

async function refuseOtherFile(
  client: Pick<KubeClient, 'get'>,
  { config, pending, operation, where }: Join,
): Promise<void> {
  const others: string[] = [];
  for (const object of pending) {
    if ((await client.get(keyOf(object))) !== undefined) others.push(`${object.kind} ${object.metadata.name}`);
  }
  if (others.length === 0) return;
  throw new BkeError(
    'BKE_OPERATION_CONFLICT',
    `cluster ${config.name} is being made from a file that says something else: operation ${operation}`,
    {
      details: others.map((what) => `${what} differs`),
      hint: `Watch it with 'bke operation attach ${operation}${where}', or stop it with 'bke operation cancel ${operation}${where}' and create again.`,
    },
  );
}

async function write(context: CommandContext, client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  await applyAll(client, objects, {
    fieldManager,
    force: true,
    signal: context.signal,
    onWait: (cause) => context.note(cause),
  });
}

async function open(
  context: CommandContext,
  client: KubeClient,
  { config, objects }: Pick<CarryOut, 'config' | 'objects'>,
): Promise<[string, readonly KubeObject[]]> {
  const { namespace, name } = config;
  const isNamespace = (object: KubeObject): boolean => object.kind === 'Namespace';
  const options = { fieldManager, force: true, signal: context.signal };
  await applyAll(client, objects.filter(isNamespace), options);
  const operation = newOperationId('cluster.create', context.now());
  const spec: BKEOperationSpec = { action: 'create', target: { kind: 'Cluster', name } };
  await client.create({ ...operationKind, metadata: { namespace, name: operation }, spec });
  return [operation, objects.filter((object) => !isNamespace(object))];
}
