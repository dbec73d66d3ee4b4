// Why something in a cluster does not work yet, in the cluster's own words: the causes of waits.
import { BkeError } from '../lib/errors.ts';
import { lastLines } from '../lib/text.ts';
import type { KubeClient, KubeObject } from './client.ts';
import { conditionOf, conditionWords } from './conditions.ts';
import { fieldAt, listAt, numberAt, textAt } from './fields.ts';
import { endedWithoutWords, podTrouble, waitsForEvents } from './pod-trouble.ts';

export interface NamedIn {
  readonly namespace: string;
  readonly name: string;
}

type ReadClient = Pick<KubeClient, 'get' | 'list' | 'request'>;

/** undefined: all wanted pods are there, in the newest form, and available. @throws BkeError as KubeClient does */
export async function deploymentTrouble(client: ReadClient, place: NamedIn): Promise<string | undefined> {
  const deployment = await client.get({ apiVersion: 'apps/v1', kind: 'Deployment', ...place });
  if (deployment === undefined) return `there is no Deployment ${place.namespace}/${place.name}`;
  const wanted = numberAt(deployment, 'spec', 'replicas') ?? 1;
  if (wanted === 0) return 'somebody scaled it down to 0';
  const counts = {
    wanted,
    updated: numberAt(deployment, 'status', 'updatedReplicas') ?? 0,
    available: numberAt(deployment, 'status', 'availableReplicas') ?? 0,
    all: numberAt(deployment, 'status', 'replicas') ?? 0,
  };
  return workloadTrouble(client, deployment, counts);
}

/** As deploymentTrouble; every node that should have a pod of it has one. */
export async function daemonSetTrouble(client: ReadClient, place: NamedIn): Promise<string | undefined> {
  const daemonSet = await client.get({ apiVersion: 'apps/v1', kind: 'DaemonSet', ...place });
  if (daemonSet === undefined) return `there is no DaemonSet ${place.namespace}/${place.name}`;
  const counts = {
    wanted: numberAt(daemonSet, 'status', 'desiredNumberScheduled') ?? 0,
    updated: numberAt(daemonSet, 'status', 'updatedNumberScheduled') ?? 0,
    available: numberAt(daemonSet, 'status', 'numberAvailable') ?? 0,
    all: 0,
  };
  return workloadTrouble(client, daemonSet, counts);
}

/** As deploymentTrouble. Where pods of an older form may stay, they do as well. */
async function statefulSetTrouble(client: ReadClient, place: NamedIn): Promise<string | undefined> {
  const set = await client.get({ apiVersion: 'apps/v1', kind: 'StatefulSet', ...place });
  if (set === undefined) return `there is no StatefulSet ${place.namespace}/${place.name}`;
  const wanted = numberAt(set, 'spec', 'replicas') ?? 1;
  const mayStay =
    textAt(set, 'spec', 'updateStrategy', 'type') === 'OnDelete' ||
    (numberAt(set, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0) > 0;
  const counts = {
    wanted,
    updated: mayStay ? wanted : (numberAt(set, 'status', 'updatedReplicas') ?? 0),
    available: numberAt(set, 'status', 'availableReplicas') ?? 0,
    all: 0,
  };
  return workloadTrouble(client, set, counts);
}

/** undefined: it has done its work. One that is told to vanish after that may be gone. */
async function jobTrouble(client: ReadClient, place: NamedIn, applied: KubeObject): Promise<string | undefined> {
  const job = await client.get({ apiVersion: 'batch/v1', kind: 'Job', ...place });
  if (job === undefined) {
    const vanishes = numberAt(applied, 'spec', 'ttlSecondsAfterFinished') !== undefined;
    return vanishes ? undefined : `there is no Job ${place.namespace}/${place.name}`;
  }
  if (conditionOf(job, 'Complete')?.status === 'True') return undefined;
  const failed = conditionOf(job, 'Failed');
  if (failed?.status === 'True') return `it failed: ${conditionWords(failed)}`;
  const missing = `${numberAt(job, 'status', 'succeeded') ?? 0} of ${numberAt(job, 'spec', 'completions') ?? 1} completed`;
  const why = await podsTrouble(client, job);
  return why === undefined ? missing : `${missing}; ${why}`;
}

const troubles = {
  Deployment: deploymentTrouble,
  DaemonSet: daemonSetTrouble,
  StatefulSet: statefulSetTrouble,
  Job: jobTrouble,
};
const isWorkload = (kind: string): kind is keyof typeof troubles => Object.hasOwn(troubles, kind);

/** Somebody asked for it and for nothing of it to run. */
function isOff(object: KubeObject): boolean {
  return numberAt(object, 'spec', 'replicas') === 0 || fieldAt(object, 'spec', 'suspend') === true;
}

/**
 * Of what was applied, the first that does not run, or has not done its work, as it is asked for: `Deployment kube-system/dns: 0 of 1 ready; …`. @throws BkeError as KubeClient does
 */
export async function appliedTrouble(client: ReadClient, objects: readonly KubeObject[]): Promise<string | undefined> {
  for (const object of objects) {
    const { kind, metadata } = object;
    if (!isWorkload(kind) || isOff(object)) continue;
    const place = { namespace: metadata.namespace ?? 'default', name: metadata.name };
    const trouble = await troubles[kind](client, place, object);
    if (trouble !== undefined) return `${kind} ${place.namespace}/${place.name}: ${trouble}`;
  }
  return undefined;
}

/** undefined: the node is ready. */
export function nodeTrouble(node: KubeObject): string | undefined {
  const ready = conditionOf(node, 'Ready');
  if (ready?.status === 'True') return undefined;
  return ready === undefined ? 'its kubelet has not said how it is yet' : conditionWords(ready) || 'NotReady';
}

/** undefined: a node that is ready takes pods too. One whose disk or memory is short does not, nor one that somebody cordoned. */
export function whyNoPods(node: KubeObject, kubeconfig: string): string | undefined {
  for (const type of ['DiskPressure', 'MemoryPressure', 'PIDPressure']) {
    const condition = conditionOf(node, type);
    if (condition?.status === 'True') return `it takes no pods: ${type}: ${condition.message}`;
  }
  if (fieldAt(node, 'spec', 'unschedulable') !== true) return undefined;
  return `it takes no pods: somebody cordoned it (kubectl --kubeconfig ${kubeconfig} uncordon ${node.metadata.name} ends that)`;
}

interface Counts {
  readonly wanted: number;
  /** Pods of the newest form. */
  readonly updated: number;
  readonly available: number;
  /** Pods of every form; 0 where that is not counted. */
  readonly all: number;
}

async function workloadTrouble(client: ReadClient, workload: KubeObject, counts: Counts): Promise<string | undefined> {
  const seen = numberAt(workload, 'status', 'observedGeneration') ?? 0;
  if (seen < (workload.metadata.generation ?? 1)) return 'its controller has not taken it up yet';
  const missing = whatIsMissing(counts);
  if (missing === undefined) return undefined;
  const why = (await podsTrouble(client, workload)) ?? controllerTrouble(workload);
  return why === undefined ? missing : `${missing}; ${why}`;
}

/** As `kubectl rollout status` counts: pods of an older form that are still there may be the ones that are available. */
function whatIsMissing({ wanted, updated, available, all }: Counts): string | undefined {
  if (updated < wanted && available >= wanted) return `${updated} of ${wanted} replaced by the new form`;
  if (available < wanted) return `${available} of ${wanted} ready`;
  return all > updated ? `${all - updated} of the old form still there` : undefined;
}

/** Where no pod tells: what its controller met on the way to one. */
function controllerTrouble(workload: KubeObject): string | undefined {
  const failure = conditionOf(workload, 'ReplicaFailure');
  if (failure?.status === 'True') return conditionWords(failure);
  const progress = conditionOf(workload, 'Progressing');
  return progress?.status === 'False' ? conditionWords(progress) : undefined;
}

async function podsTrouble(client: ReadClient, workload: KubeObject): Promise<string | undefined> {
  const { namespace } = workload.metadata;
  const labelSelector = selectorText(fieldAt(workload, 'spec', 'selector'));
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace, labelSelector });
  // The newest ones are those that should come up.
  const pods = items.toSorted((a, b) =>
    (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''),
  );
  for (const pod of pods) {
    const trouble = podTrouble(pod);
    if (trouble === undefined) continue;
    return `pod ${pod.metadata.name}: ${await withWhatElseIsKnown(client, pod, trouble)}`;
  }
  return undefined;
}

async function withWhatElseIsKnown(client: ReadClient, pod: KubeObject, trouble: string): Promise<string> {
  if (waitsForEvents(pod)) return (await lastWarning(client, pod)) ?? trouble;
  const silent = endedWithoutWords(pod);
  const line = silent === undefined ? undefined : await lastLogLine(client, pod, silent);
  return line === undefined ? trouble : `${trouble}: ${line}`;
}

/** What a container wrote last before it ended; undefined where its node cannot be asked: what is known without it must be told all the same. */
async function lastLogLine(
  client: ReadClient,
  { metadata }: KubeObject,
  container: string,
): Promise<string | undefined> {
  const query = new URLSearchParams({ container, previous: 'true', tailLines: '5' }).toString();
  const path = `/api/v1/namespaces/${metadata.namespace ?? ''}/pods/${metadata.name}/log?${query}`;
  try {
    const log = await client.request('GET', path, { timeoutMs: 5000 });
    return typeof log === 'string' ? lastLines(log, 1)[0] : undefined;
  } catch (thrown) {
    if (!(thrown instanceof BkeError)) throw thrown;
    return undefined;
  }
}

/** What happens to a pod before and beside its containers (network, volumes, probes) stands only in events. */
async function lastWarning(client: ReadClient, { metadata }: KubeObject): Promise<string | undefined> {
  const { items } = await client.list(
    { apiVersion: 'v1', kind: 'Event' },
    {
      namespace: metadata.namespace,
      fieldSelector: `involvedObject.kind=Pod,involvedObject.name=${metadata.name},type=Warning`,
    },
  );
  const last = items.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b))).at(-1);
  if (last === undefined) return undefined;
  return conditionWords({ reason: textAt(last, 'reason') ?? '', message: textAt(last, 'message') ?? '' });
}

function timeOf(event: KubeObject): string {
  return (
    textAt(event, 'series', 'lastObservedTime') ??
    textAt(event, 'lastTimestamp') ??
    textAt(event, 'eventTime') ??
    event.metadata.creationTimestamp ??
    ''
  );
}

/** A LabelSelector in the form that a query takes. */
function selectorText(selector: unknown): string {
  const labels = Object.entries(fieldAt(selector, 'matchLabels') ?? {}).map(
    ([key, value]) => `${key}=${String(value)}`,
  );
  const expressions = listAt(selector, 'matchExpressions').map((expression) => {
    const key = textAt(expression, 'key') ?? '';
    const values = listAt(expression, 'values').join(',');
    const forms: Readonly<Record<string, string>> = {
      In: `${key} in (${values})`,
      NotIn: `${key} notin (${values})`,
      Exists: key,
      DoesNotExist: `!${key}`,
    };
    return forms[textAt(expression, 'operator') ?? ''] ?? '';
  });
  return [...labels, ...expressions].filter((part) => part !== '').join(',');
}
