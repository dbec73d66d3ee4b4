// Where pods of an add-on may be, by what is applied for it. Pure.
import type { KubeObject } from '../../kube/client.ts';

const podKinds: ReadonlySet<string> = new Set([
  'DaemonSet',
  'Deployment',
  'StatefulSet',
  'ReplicaSet',
  'Pod',
  'Job',
  'CronJob',
]);
/** As its definition allows. */
const most = 64;

/** Those of all its objects: pods may be made by a program of its own. `default` has pods of people, and counts only where it brings pods there itself. */
export function namespacesOf(objects: readonly KubeObject[]): string[] {
  const found = objects.flatMap(({ kind, metadata: { name, namespace } }) => {
    if (kind === 'Namespace') return [name];
    if (podKinds.has(kind)) return [namespace ?? 'default'];
    return namespace === undefined || namespace === 'default' ? [] : [namespace];
  });
  return [...new Set(found)].toSorted().slice(0, most);
}
