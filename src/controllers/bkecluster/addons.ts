// What add-ons have to do with the health of a cluster: those that it asks for and has not, and where their pods are. Pure.
import type { KubeObject } from '../../kube/client.ts';
import { listAt, textAt } from '../../kube/fields.ts';
import { openAddons } from '../addons/plan.ts';
import type { Health } from './health.ts';

/** Health as nodes and pods have it, with what keeps add-ons from being there: what failed comes first, but what can not be asked has no add-ons either. */
export function withAddons(health: Health | undefined, bkeCluster: KubeObject): Health | undefined {
  if (health === undefined || health.trouble?.reason === 'Unreachable') return health;
  const { trouble, nodesReady } = health;
  const open = openAddons(bkeCluster);
  if (open.length === 0) return health;
  const failed = open.filter(({ error }) => error !== undefined).map(({ words }) => words);
  if (failed.length > 0) return { nodesReady, trouble: { reason: 'AddonFailed', message: failed.join('\n') } };
  const waits = open.map(({ words }) => words);
  const others = trouble === undefined ? [] : [trouble.message];
  // Add-ons need nodes.
  const lines = nodesReady ? [...waits, ...others] : [...others, ...waits];
  return { nodesReady, trouble: { ...trouble, message: lines.join('\n') } };
}

/** Those that its objects are in, and those that it is said to be in. */
export function addonNamespaces(bkeCluster: KubeObject): string[] {
  const asked = listAt(bkeCluster, 'spec', 'addons').flatMap((addon) => textAt(addon, 'namespace') ?? []);
  const found = listAt(bkeCluster, 'status', 'addons').flatMap((addon) => listAt(addon, 'namespaces'));
  return [...asked, ...found.filter((name) => typeof name === 'string')];
}
