// A BKECluster that is deleted: its machines go first, then hosts that were prepared for it and never used are cleaned.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt } from '../../kube/fields.ts';
import { hostKey, hostKind, type HostName, keyText, objectName } from '../bkehost/host.ts';
import { failureText } from '../bkemachine/conditions.ts';
import { hostAnnotations } from '../bkemachine/marks.ts';
import { timeText } from '../conditions.ts';
import { resetOrder } from '../host-command/bootstrap.ts';
import { fulfil, type Giving, stopCommand } from '../host-command/give.ts';
import { isOver } from '../host-command/progress.ts';
import type { Around } from './around.ts';
import { clusterAnnotations, fieldManager } from './marks.ts';
import type { Trouble } from './state.ts';

export interface LeavingOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'patch'>;
  readonly around: Around;
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
  const { around } = options;
  const machines = around.bkeMachinesOf(cluster);
  const [machine] = machines;
  if (machine !== undefined) {
    const message = `${machines.length} machines are still there, ${keyText(objectName(machine))} among them`;
    return { done: false, waits: { message }, failed: [] };
  }
  const forced = bkeCluster.metadata.annotations?.[clusterAnnotations.forceRelease] === 'true';
  const failed: Trouble[] = [];
  const busy: string[] = [];
  for (const host of await preparedHosts(cluster, options)) {
    const trouble = forced ? await quarantine(host, options) : await clean(host, options);
    if (trouble === 'busy') busy.push(host.metadata.name);
    else if (trouble !== undefined) failed.push(trouble);
  }
  if (busy.length === 0 && failed.length === 0) return { done: true, failed };
  const message = `hosts that were prepared for it are cleaned: ${busy.join(', ')}`;
  return { done: false, failed, ...(busy.length === 0 ? {} : { waits: { message, host: busy[0] } }) };
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

/** @returns undefined: it is clean */
async function clean(host: KubeObject, { client, giving }: LeavingOptions): Promise<Trouble | 'busy' | undefined> {
  const name = objectName(host);
  const order = resetOrder(`prepared-for-${host.metadata.annotations?.[hostAnnotations.preparedFor] ?? ''}`);
  const { progress } = await fulfil(giving(name), order);
  if (progress.state === 'busy') await stopCommand(client, name, isOver);
  if (progress.state === 'failed') {
    return { host: name.name, step: progress.step, message: failureText(name.name, progress) };
  }
  if (progress.state !== 'done') return 'busy';
  await unmark(client, host, {});
  return undefined;
}

async function quarantine(host: KubeObject, { client, now }: LeavingOptions): Promise<undefined> {
  const reason = `released by ${clusterAnnotations.forceRelease} without being cleaned: what was prepared is still there`;
  await unmark(client, host, { spec: { quarantine: { reason, since: timeText(now()) } } });
}

async function unmark(client: LeavingOptions['client'], host: KubeObject, more: object): Promise<void> {
  const { resourceVersion } = host.metadata;
  const metadata = { resourceVersion, annotations: { [hostAnnotations.preparedFor]: null } };
  await client.patch(hostKey(objectName(host)), { metadata, ...more }, { type: 'merge', fieldManager });
}
