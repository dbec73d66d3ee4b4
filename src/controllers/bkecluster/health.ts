// Whether a cluster is well: its API server answers, its nodes are ready, and so are the pods of its system and its add-ons.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { listAt, textAt } from '../../kube/fields.ts';
import { podTrouble } from '../../kube/pod-trouble.ts';
import { nodeTrouble } from '../../kube/readiness.ts';
import { BkeError } from '../../lib/errors.ts';
import type { HealthTrouble, Trouble } from './state.ts';

export interface Health {
  /** undefined: all is well. */
  readonly trouble: HealthTrouble | undefined;
  readonly nodesReady: boolean;
}

/** @param namespaces whose pods have to be ready @param expected nodes that there must be */
export async function askHealth(
  client: Pick<KubeClient, 'list'>,
  namespaces: readonly string[],
  expected: number,
): Promise<Health> {
  try {
    const { items: nodes } = await client.list({ apiVersion: 'v1', kind: 'Node' });
    const nodesAt = nodesTrouble(nodes, expected);
    if (nodesAt !== undefined) return { trouble: nodesAt, nodesReady: false };
    const pods: KubeObject[] = [];
    for (const namespace of new Set(namespaces)) {
      pods.push(...(await client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace })).items);
    }
    return { trouble: podsTrouble(pods), nodesReady: true };
  } catch (thrown) {
    if (!(thrown instanceof BkeError)) throw thrown;
    return { trouble: troubleOf(thrown), nodesReady: false };
  }
}

function troubleOf({ code, message }: BkeError): HealthTrouble {
  // Its words say whose API server it is, since when and why.
  if (code === 'BKE_KUBE_UNREACHABLE') return { reason: 'Unreachable', message };
  return { message: `its API server does not answer as it should: ${message}` };
}

function nodesTrouble(nodes: readonly KubeObject[], expected: number): Trouble | undefined {
  if (nodes.length < expected) return { message: `${nodes.length} of ${expected} nodes are there` };
  for (const node of nodes) {
    const trouble = nodeTrouble(node);
    if (trouble !== undefined) return { host: node.metadata.name, message: `node ${node.metadata.name}: ${trouble}` };
  }
  return undefined;
}

/** e.g. 17 of 23 Pods ready, waiting for kube-system/coredns-x: … Pods of jobs that have ended don't count. */
export function podsTrouble(pods: readonly KubeObject[]): Trouble | undefined {
  const counted = pods.filter((pod) => textAt(pod, 'status', 'phase') !== 'Succeeded' && !isOfJob(pod));
  const held = counted.flatMap((pod) => {
    const trouble = podTrouble(pod);
    return trouble === undefined ? [] : [{ pod, trouble }];
  });
  const [first] = held;
  if (first === undefined) return undefined;
  const { pod, trouble } = first;
  const ready = `${counted.length - held.length} of ${counted.length} Pods ready`;
  const host = textAt(pod, 'spec', 'nodeName');
  return { host, message: `${ready}, waiting for ${pod.metadata.namespace ?? ''}/${pod.metadata.name}: ${trouble}` };
}

function isOfJob(pod: KubeObject): boolean {
  const ended = ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase') ?? '');
  return ended && listAt(pod.metadata, 'ownerReferences').some((owner) => textAt(owner, 'kind') === 'Job');
}
