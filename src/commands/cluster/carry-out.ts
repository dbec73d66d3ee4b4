// Writes a cluster's resources and opens the operation that tells how it gets on; in a dry run only tells what would be written.
import type { BKEOperationSpec } from '../../api/kinds/bke-operation.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import { applyAll } from '../../kube/apply.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { keyOf } from '../../kube/fields.ts';
import { newOperationId } from '../../operations/journal.ts';
import { runLocalOperation } from '../../operations/local-operation.ts';
import type { StepBinding } from '../../operations/operation.ts';
import type { CommandContext } from '../context.ts';
import { cancelOperation } from '../operation/cancel-handler.ts';
import { follow, operationKind } from '../operation/follow.ts';

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
    await applyAll(client, rest, {
      fieldManager,
      force: true,
      signal: context.signal,
      onWait: (cause) => context.note(cause),
    });
  } catch (thrown) {
    // Nobody is to wait for a cluster that was not written.
    await cancelOperation(client, { namespace, name: operation }).catch(() => undefined);
    throw thrown;
  }
  context.note(`Cluster ${name} is written; operation ${operation} makes it.`);
  await follow(context, client, { namespace, name: operation, where });
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

export interface Plan {
  readonly config: ClusterConfig;
  readonly objects: readonly KubeObject[];
  readonly pending: readonly KubeObject[];
}

/** As a dry run of an operation, so that it is shown like any plan. */
export async function tellPlan(context: CommandContext, client: Pick<KubeClient, 'get'>, plan: Plan): Promise<void> {
  const { config, objects, pending } = plan;
  const there = new Map<KubeObject, boolean>();
  for (const object of pending) there.set(object, (await client.get(keyOf(object))) !== undefined);
  const step = {
    name: 'cluster/resources',
    title: 'resources',
    timeoutMs: 60_000,
    run: async (binding: StepBinding) => {
      for (const object of objects) {
        const isThere = there.get(object);
        const action = isThere === undefined ? 'keep' : isThere ? 'change' : 'create';
        binding.emit({ type: 'step.planned', action, what: `${object.kind} ${object.metadata.name}` });
        if (action !== 'keep') binding.changed();
      }
    },
  };
  await runLocalOperation(context, {
    action: 'cluster.create',
    target: `cluster ${config.name}`,
    phases: [{ id: 'resources', title: 'Resources', chains: [{ steps: [step] }] }],
    dryRun: true,
    createScope: (binding) => binding,
  });
}
