// What was said of an add-on and still counts while nobody can look at it. Pure.
import { bkeCluster } from '../../api/kinds/bke-cluster.ts';
import type { KubeObject } from '../../kube/client.ts';
import { defined } from '../../lib/defined.ts';
import type { AddonStatus, PlannedAddon } from './plan.ts';

/** Nobody who could answer did, or the release is gone: that says nothing about what was applied before. */
const unseen: ReadonlySet<string> = new Set(['BKE_DOWNLOAD_FAILED', 'BKE_KUBE_UNREACHABLE', 'BKE_ARTIFACT_MISSING']);

const statusSchema = bkeCluster.shape.status.unwrap();

/** That it is ready, where it was; undefined: what is said now counts. */
export function keptStatus(object: KubeObject, addon: PlannedAddon, now: AddonStatus): AddonStatus | undefined {
  if (!unseen.has(now.error?.code ?? '')) return undefined;
  const before = readyBefore(object, addon.name);
  if (before === undefined) return undefined;
  return [undefined, before.version].includes(now.version ?? addon.version) ? before : undefined;
}

function readyBefore(object: KubeObject, addon: string): AddonStatus | undefined {
  const found = statusSchema.safeParse(object['status']).data?.addons?.find(({ name }) => name === addon);
  if (found?.phase !== 'Ready') return undefined;
  const { name, version, namespaces } = found;
  return { name, phase: 'Ready', ...defined({ version, namespaces }) };
}
