// A BKECluster that is deleted: its machines go first, then hosts that were prepared for it and never used are cleaned.
import { coreLabels } from '../../cluster/render/names.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt } from '../../kube/fields.ts';
import { timeText } from '../../lib/time-text.ts';
import { hostKey, hostKind, type HostName, keyText, objectName } from '../bkehost/host.ts';
import { isDenied } from '../bkehost/access.ts';
import { progressVerdict } from '../bkemachine/conditions.ts';
import { silentAgent, standDown } from '../bkemachine/leaving.ts';
import { hostAnnotations } from '../bkemachine/marks.ts';
import { resetOrder } from '../host-command/bootstrap.ts';
import { fulfil, type Giving, stopCommand } from '../host-command/give.ts';
import { isOver } from '../host-command/progress.ts';
import { bkeMachineKind } from '../cluster-objects.ts';
import type { Around } from './around.ts';
import { clusterAnnotations, fieldManager } from './marks.ts';
import type { Trouble } from './state.ts';

export interface LeavingOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'patch'>;
  readonly around: Pick<Around, 'bkeMachinesOf'>;
  readonly now: () => Date;
  readonly giving: (host: HostName) => Giving;
}

export interface Left {
  readonly done: boolean;
  readonly waits?: Trouble;
  readonly failed: readonly Trouble[];
}

/** @param cluster name of the Cluster, also where that is gone already */
export async function leaveCluster(bkeCluster: KubeObject, cluster: HostName, options: LeavingOptions): Promise<Left> {
  const machines = await machinesOf(cluster, options);
  const [machine] = machines;
  if (machine !== undefined) {
    const message = `${machines.length} machines are still there, ${keyText(objectName(machine))} among them`;
    return { done: false, waits: { message }, failed: [] };
  }
  const forced = bkeCluster.metadata.annotations?.[clusterAnnotations.forceRelease] === 'true';
  const failed: Trouble[] = [];
  const busy: Trouble[] = [];
  for (const host of await preparedHosts(cluster, options)) {
    const found = forced ? await quarantine(host, options) : await clean(host, options);
    if (found !== undefined) (found.failed ? failed : busy).push(found.trouble);
  }
  const [first] = busy;
  if (first === undefined) return { done: failed.length === 0, failed };
  const message = `hosts that were prepared for it are cleaned: ${busy.map(({ message: words }) => words).join('\n')}`;
  return { done: false, failed, waits: { ...first, message } };
}

/** One that was not seen yet would lose its cluster before it is cleaned: that there is none, only the API server can say. */
async function machinesOf(cluster: HostName, { client, around }: LeavingOptions): Promise<readonly KubeObject[]> {
  const seen = around.bkeMachinesOf(cluster);
  if (seen.length > 0) return seen;
  const labelSelector = `${coreLabels.cluster}=${cluster.name}`;
  return (await client.list(bkeMachineKind, { namespace: cluster.namespace, labelSelector })).items;
}

/** Prepared for the cluster, and of no machine. Asked of the cluster itself: one that was not seen yet would never be cleaned. */
async function preparedHosts({ namespace, name }: HostName, { client }: LeavingOptions): Promise<KubeObject[]> {
  const { items } = await client.list(hostKind, { namespace });
  return items.filter(
    (host) =>
      host.metadata.annotations?.[hostAnnotations.preparedFor] === name &&
      fieldAt(host, 'spec', 'consumerRef') === undefined,
  );
}

/** A host that is not clean yet. */
interface Unclean {
  readonly failed: boolean;
  readonly trouble: Trouble;
}

/** @returns undefined: it is clean */
async function clean(host: KubeObject, { client, giving }: LeavingOptions): Promise<Unclean | undefined> {
  const name = objectName(host);
  const order = resetOrder(`prepared-for-${host.metadata.annotations?.[hostAnnotations.preparedFor] ?? ''}`);
  try {
    const { progress } = await fulfil(giving(name), order);
    if (progress.state === 'busy') await stopCommand(client, name, isOver);
    if (progress.state === 'done') {
      await unmark(client, host, {});
      return undefined;
    }
    const { message } = progressVerdict(progress, name.name, words);
    const step = 'step' in progress ? progress.step : undefined;
    const trouble = { host: name.name, step, message: message + silentAgent(host, wayOut) };
    return { failed: progress.state === 'failed', trouble };
  } catch (thrown) {
    if (!isDenied(thrown)) throw thrown;
    // As where the rights have gone with a namespace: nothing would tell, and tomorrow it would be the same.
    const message = `${name.name}: ${thrown.code}: ${thrown.message}.${wayOut}`;
    return { failed: true, trouble: { host: name.name, message } };
  }
}

const words = { running: 'CleaningUp', failed: 'CleanUpFailed', done: 'Cleaned' } as const;

const wayOut = ` Only where the host is gone for good: annotate the BKECluster with ${clusterAnnotations.forceRelease}=true; the host goes into quarantine.`;

async function quarantine(host: KubeObject, { client, now }: LeavingOptions): Promise<undefined> {
  await standDown(client, objectName(host));
  const reason = `released by ${clusterAnnotations.forceRelease} without being cleaned: what was prepared is still there`;
  await unmark(client, host, { spec: { quarantine: { reason, since: timeText(now()) } } });
}

async function unmark(client: LeavingOptions['client'], host: KubeObject, more: object): Promise<void> {
  const { resourceVersion } = host.metadata;
  const metadata = { resourceVersion, annotations: { [hostAnnotations.preparedFor]: null } };
  await client.patch(hostKey(objectName(host)), { metadata, ...more }, { type: 'merge', fieldManager });
}
