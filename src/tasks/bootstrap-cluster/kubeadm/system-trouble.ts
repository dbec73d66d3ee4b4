// Why a program of the cluster itself does not run: those that a server that answers and a node that is ready do not tell of.
import { flannelDaemonSet } from '../../../cluster/cni/flannel.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { conditionOf } from '../../../kube/conditions.ts';
import { podTrouble } from '../../../kube/pod-trouble.ts';
import { daemonSetTrouble } from '../../../kube/readiness.ts';
import { components } from './paths.ts';

type ReadClient = Pick<KubeClient, 'get' | 'list' | 'request'>;

const daemonSets = [{ namespace: 'kube-system', name: 'kube-proxy' }, flannelDaemonSet];

/** undefined: all of them run. @throws BkeError as KubeClient does */
export async function systemTrouble(client: ReadClient): Promise<string | undefined> {
  const controlPlane = await controlPlaneTrouble(client);
  if (controlPlane !== undefined) return controlPlane;
  for (const place of daemonSets) {
    const trouble = await daemonSetTrouble(client, place);
    if (trouble !== undefined) return `${place.name}: ${trouble}`;
  }
  return undefined;
}

/** The kubelet takes away the pod of a static one when its manifest goes. */
async function controlPlaneTrouble(client: ReadClient): Promise<string | undefined> {
  const options = { namespace: 'kube-system', labelSelector: 'tier=control-plane' };
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Pod' }, options);
  for (const component of components) {
    const pod = items.find(({ metadata }) => metadata.labels?.['component'] === component);
    if (pod === undefined) return `${component}: it has no pod`;
    if (conditionOf(pod, 'Ready')?.status !== 'True')
      return `${component}: ${podTrouble(pod) ?? 'it is not ready yet'}`;
  }
  return undefined;
}
