// The work of `bke operation cancel`.
import { operationKind } from '../../controllers/cluster-objects.ts';
import type { KubeClient } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { BkeError } from '../../lib/errors.ts';
import { readInput } from '../../lib/input.ts';
import { isOver } from '../../controllers/bkeoperation/operations.ts';
import type { CommandContext } from '../context.ts';
import { withManagement } from '../management.ts';
import { follow } from './follow.ts';
import { findOperation } from './find.ts';

interface Named {
  readonly namespace: string;
  readonly name: string;
}

export async function cancelOperation(client: Pick<KubeClient, 'patch'>, { namespace, name }: Named): Promise<void> {
  const options = { type: 'merge', fieldManager: 'bke-cli' } as const;
  await client.patch({ ...operationKind, namespace, name }, { spec: { cancelRequested: true } }, options);
}

export async function runCancel(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const kubeconfig = read.text('kubeconfig');
  const id = read.requiredText('id');
  await withManagement(context, kubeconfig, async (client) => {
    const object = await findOperation(context, client, id);
    const { namespace = '' } = object.metadata;
    if (isOver(object)) {
      context.note(`Nothing to do: the operation is over: ${(textAt(object, 'status', 'phase') ?? '').toLowerCase()}.`);
      return;
    }
    await cancelOperation(client, { namespace, name: id });
    context.note('Cancelling: what agents are at comes to its end, nothing new is begun.');
    await follow(context, client, { namespace, name: id }).catch((thrown: unknown) => {
      // That is what was asked for.
      if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_CANCELLED') throw thrown;
      for (const line of thrown.details) context.note(line);
    });
  });
  return { kind: 'none' };
}
