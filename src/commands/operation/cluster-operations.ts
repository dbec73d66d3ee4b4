// Operations of clusters beside those of this machine: in the same list, and shown by the same words.
import { operationKind } from '../../controllers/cluster-objects.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { listAt, textAt } from '../../kube/fields.ts';
import { formatDuration } from '../../lib/duration.ts';
import { toError } from '../../lib/thrown.ts';
import { timeText } from '../../lib/time-text.ts';
import type { CommandContext } from '../context.ts';
import { findKubeconfig, withManagement } from '../management.ts';
import type { OperationSummary } from './journals.ts';

/** Of the management cluster, where there is one; one that does not answer is told of. Oldest first. */
export async function clusterSummaries(
  context: CommandContext,
  named: string | undefined,
): Promise<OperationSummary[]> {
  const objects = await askManagement(context, named, async (client) => (await client.list(operationKind)).items);
  return (objects ?? []).map((object) => summaryOfObject(object, context.now()));
}

/** undefined: it is none of the management cluster's. */
export async function clusterOperation(
  context: CommandContext,
  named: string | undefined,
  id: string,
): Promise<KubeObject | undefined> {
  const objects = await askManagement(context, named, async (client) => (await client.list(operationKind)).items);
  return objects?.find(({ metadata }) => metadata.name === id);
}

/** A cluster that was named must answer; one that just happens to be there need not. */
async function askManagement<Result>(
  context: CommandContext,
  named: string | undefined,
  ask: (client: KubeClient) => Promise<Result>,
): Promise<Result | undefined> {
  const file = await findKubeconfig(context, named);
  if (file === undefined) return undefined;
  try {
    return await withManagement(context, file, ask);
  } catch (thrown) {
    if (named !== undefined) throw thrown;
    context.note(`Operations of clusters are not shown: ${toError(thrown).message}`);
    return undefined;
  }
}

const outcomes: Readonly<Record<string, string>> = { Done: 'done', Failed: 'failed', Cancelled: 'cancelled' };

function summaryOfObject(object: KubeObject, now: Date): OperationSummary {
  const { name, creationTimestamp = '' } = object.metadata;
  const started = textAt(object, 'status', 'started') ?? creationTimestamp;
  const finished = textAt(object, 'status', 'finished');
  const phase = textAt(object, 'status', 'phase') ?? 'Pending';
  const took = (finished === undefined ? now.getTime() : Date.parse(finished)) - Date.parse(started);
  return {
    name,
    action: `cluster.${textAt(object, 'spec', 'action') ?? ''}`,
    target: `cluster ${textAt(object, 'spec', 'target', 'name') ?? ''}`,
    outcome: outcomes[phase] ?? phase.toLowerCase(),
    started,
    when: timeText(started),
    took: Number.isNaN(took) ? '' : formatDuration(took),
    events: listAt(object, 'status', 'events').length,
  };
}
