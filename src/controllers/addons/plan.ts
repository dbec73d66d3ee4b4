// What a cluster gets besides Kubernetes: its network first, then the add-ons that it asks for. Pure.
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, textAt } from '../../kube/fields.ts';

export interface PlannedAddon {
  readonly name: string;
  /** Of the manifest or chart; undefined: the newest there is. */
  readonly version: string | undefined;
  /** network: flannel; manifest: a manifest of a release; chart: by Helm. */
  readonly kind: 'network' | 'manifest' | 'chart';
}

export function plannedAddons(bkeCluster: KubeObject): PlannedAddon[] {
  const network: PlannedAddon[] =
    textAt(bkeCluster, 'spec', 'cni') === 'flannel' ? [{ name: 'flannel', version: undefined, kind: 'network' }] : [];
  const others = listAt(bkeCluster, 'spec', 'addons').flatMap((addon): PlannedAddon[] => {
    const name = textAt(addon, 'name');
    if (name === undefined || (name === 'flannel' && network.length > 0)) return [];
    const kind = textAt(addon, 'chart') === undefined ? 'manifest' : 'chart';
    return [{ name, version: textAt(addon, 'version'), kind }];
  });
  return [...network, ...others];
}

export type AddonPhase = 'Applied' | 'Ready' | 'Failed';

export interface AddonStatus {
  readonly name: string;
  readonly version?: string;
  readonly phase: AddonPhase;
  /** Why it is not ready yet. */
  readonly message?: string;
  /** That its objects are in: pods there count for the health of the cluster. */
  readonly namespaces?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}

/** An add-on that is asked for, and not there and ready as it is asked for. */
export interface OpenAddon {
  readonly name: string;
  readonly isNetwork: boolean;
  /** For people, with its name. */
  readonly words: string;
  /** As its status has it; undefined: it has not failed. */
  readonly error: unknown;
}

/** The network that nobody has begun with is not among them: whoever brings it, nodes tell whether it works. */
export function openAddons(bkeCluster: KubeObject | undefined): OpenAddon[] {
  if (bkeCluster === undefined) return [];
  const statuses = listAt(bkeCluster, 'status', 'addons');
  return plannedAddons(bkeCluster).flatMap((addon) => {
    const { name, kind } = addon;
    const status = statuses.find((one) => fieldAt(one, 'name') === name);
    const isNetwork = kind === 'network';
    const words = status === undefined && isNetwork ? undefined : openWords(addon, status);
    return words === undefined ? [] : [{ name, isNetwork, words, error: fieldAt(status, 'error') }];
  });
}

function openWords({ name, version }: PlannedAddon, status: unknown): string | undefined {
  const [phase, error] = [textAt(status, 'phase'), fieldAt(status, 'error')];
  if (error !== undefined) {
    const parts = [textAt(error, 'code'), textAt(error, 'message')].filter((part) => part !== undefined);
    return [`add-on ${name}: ${parts.join(': ')}`, textAt(error, 'hint') ?? []].flat().join('\n');
  }
  if (phase === undefined) return `add-on ${name} is not applied yet`;
  const there = textAt(status, 'version');
  if (version !== undefined && there !== version) return `add-on ${name} ${version} is not applied yet`;
  if (phase === 'Ready') return undefined;
  return `add-on ${name} is not ready: ${textAt(status, 'message') ?? 'not all of its pods run yet'}`;
}
