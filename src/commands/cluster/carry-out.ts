// Writes a cluster's resources and opens the operation that tells how it gets on, or goes on with the one that was opened before.
import { operationKind } from '../../controllers/cluster-objects.ts';
import { isOver, operationsOf } from '../../controllers/bkeoperation/operations.ts';
import type { BKEOperationSpec } from '../../api/kinds/bke-operation.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import { applyAll } from '../../kube/apply.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { keyOf, textAt } from '../../kube/fields.ts';
import { pendingOf } from '../../kube/pending.ts';
import { BkeError } from '../../lib/errors.ts';
import { newOperationId } from '../../operations/journal.ts';
import type { CommandContext } from '../context.ts';
import { cancelOperation } from '../operation/cancel-handler.ts';
import { follow } from '../operation/follow.ts';
import { claimHosts, isBare } from './claim-hosts.ts';
import { refuseOtherOperation } from './existing.ts';
import { fieldManager } from './field-manager.ts';

export interface CarryOut {
  readonly config: ClusterConfig;
  readonly objects: readonly KubeObject[];
}

/** The operation comes first: a controller that finds a cluster without one opens another. */
export async function carryOut(
  context: CommandContext,
  client: KubeClient,
  { config, objects }: CarryOut,
): Promise<void> {
  const { namespace, name } = config;
  const options = { fieldManager, force: true, signal: context.signal };
  await applyAll(client, objects.filter(isNamespace), options);
  const rest = objects.filter((object) => !isNamespace(object));
  const { operation, isOurs } = await openOperation(client, config, context.now());
  if (!isOurs) {
    const pending = await pendingOf(client, rest, fieldManager);
    return joinCreate(context, client, { config, objects: rest, pending, operation });
  }
  await claimFor(client, { config, objects: rest, operation });
  try {
    await write(context, client, { config, objects: rest });
  } catch (thrown) {
    // Nobody is to wait for a cluster that was not written.
    await cancelOperation(client, { namespace, name: operation }).catch(() => undefined);
    throw thrown;
  }
  const making = await operationAfter(client, config, { operation, now: context.now() });
  context.note(`Cluster ${name} is written; operation ${making} makes it.`);
  await follow(context, client, { namespace, name: making });
}

/** Of a cluster that was well before it was written to an operation may be done by then: it has not seen what is new, and another one is opened. */
export async function operationAfter(
  client: Pick<KubeClient, 'get' | 'create' | 'list' | 'delete'>,
  config: Pick<ClusterConfig, 'namespace' | 'name'>,
  { operation, now }: { readonly operation: string; readonly now: Date },
): Promise<string> {
  const found = await client.get({ ...operationKind, namespace: config.namespace, name: operation });
  if (textAt(found, 'status', 'phase') !== 'Done') return operation;
  return (await openOperation(client, config, now)).operation;
}

function isNamespace({ kind }: KubeObject): boolean {
  return kind === 'Namespace';
}

/** An operation of a cluster whose hosts are another's was none. @throws BkeError BKE_HOST_TAKEN */
async function claimFor(
  client: KubeClient,
  { config, objects, operation }: CarryOut & { readonly operation: string },
): Promise<void> {
  const { namespace } = config;
  try {
    await claimHosts(client, objects, { config, operation });
  } catch (thrown) {
    await client.delete({ ...operationKind, namespace, name: operation }).catch(() => undefined);
    throw thrown;
  }
}

export interface Join extends CarryOut {
  /** Of `objects`, those that would be made or changed. */
  readonly pending: readonly KubeObject[];
  /** Id of the operation that makes the cluster already. */
  readonly operation: string;
}

/** The same command again, while the cluster is being made: what was not written any more is, and the operation is watched. @throws BkeError BKE_OPERATION_CONFLICT where the file says something else */
export async function joinCreate(context: CommandContext, client: KubeClient, join: Join): Promise<void> {
  const { config, pending, operation } = join;
  const { namespace, name } = config;
  await refuseOtherFile(client, join);
  await claimHosts(client, pending, { config, operation });
  if (pending.length > 0) await write(context, client, { config, objects: pending });
  context.note(`Operation ${operation} makes cluster ${name} already.`);
  await follow(context, client, { namespace, name: operation });
}

async function refuseOtherFile(
  client: Pick<KubeClient, 'get' | 'apply'>,
  { config, pending, operation }: Join,
): Promise<void> {
  const others: string[] = [];
  for (const object of pending) {
    if (await isAnother(client, object)) others.push(`${object.kind} ${object.metadata.name}`);
  }
  if (others.length === 0) return;
  throw new BkeError(
    'BKE_OPERATION_CONFLICT',
    `cluster ${config.name} is being made from a file that says something else: operation ${operation}`,
    {
      details: others.map((what) => `${what} differs`),
      hint: `Watch it with 'bke operation attach ${operation}', or stop it with 'bke operation cancel ${operation}' and create again.`,
    },
  );
}

/** Whoever opened the operation may be writing just now: what was not there a moment ago may be there and the same. */
async function isAnother(client: Pick<KubeClient, 'get' | 'apply'>, object: KubeObject): Promise<boolean> {
  const there = await client.get(keyOf(object));
  if (there === undefined || isBare(there)) return false;
  return (await pendingOf(client, [object], fieldManager)).length > 0;
}

/** @throws BkeError BKE_CANCELLED where somebody stops it half way */
async function write(context: CommandContext, client: KubeClient, { config, objects }: CarryOut): Promise<void> {
  const { signal } = context;
  try {
    await applyAll(client, objects, { fieldManager, force: true, signal, onWait: (cause) => context.note(cause) });
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    throw new BkeError('BKE_CANCELLED', `stopped while the resources of cluster ${config.name} were written`, {
      hint: "A part of them may be there, and the hosts are kept for the cluster ('bke host list' shows them). Run the same command again: it goes on from there.",
      cause: thrown,
    });
  }
}

/** Of two that are opened at the same time the first one is carried out, and who opened the other joins it. @throws BkeError BKE_OPERATION_CONFLICT */
export async function openOperation(
  client: Pick<KubeClient, 'create' | 'list' | 'delete'>,
  { namespace, name }: Pick<ClusterConfig, 'namespace' | 'name'>,
  now: Date,
): Promise<{ readonly operation: string; readonly isOurs: boolean }> {
  const operation = newOperationId('cluster.create', now);
  const spec: BKEOperationSpec = { action: 'create', target: { kind: 'Cluster', name } };
  const own = { ...operationKind, metadata: { namespace, name: operation }, spec };
  await client.create(own);
  try {
    const { items } = await client.list(operationKind, { namespace });
    const first = operationsOf({ namespace, name }, items).find((object) => !isOver(object));
    if (first === undefined || first.metadata.name === operation) return { operation, isOurs: true };
    refuseOtherOperation(name, first);
    await client.delete(keyOf(own));
    return { operation: first.metadata.name, isOurs: false };
  } catch (thrown) {
    // Nobody goes on with it: it would keep others waiting for a cluster that nobody writes.
    await client.delete(keyOf(own)).catch(() => undefined);
    throw thrown;
  }
}
