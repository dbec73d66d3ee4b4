// What a cluster may ask for by its fields, and this bke does not do: told before anything is made, so that nothing of a file is ignored. Pure.
import type { BKEClusterSpec } from '../api/kinds/bke-cluster.ts';

export interface Unsupported {
  /** As cluster.yaml has it, e.g. spec.management. */
  readonly field: string;
  readonly message: string;
}

type Asked = Pick<BKEClusterSpec, 'loadBalancer' | 'management' | 'registry' | 'addons'>;

export function unsupportedIn({ loadBalancer, management, registry, addons = [] }: Asked): Unsupported[] {
  const found = [
    loadBalancer === 'keepalived' ? keepalived : undefined,
    management === true ? moves : undefined,
    registry?.secretRef === undefined ? undefined : login,
    ...addons.map(addonTrouble),
  ];
  return found.filter((one) => one !== undefined);
}

const keepalived: Unsupported = {
  field: 'spec.loadBalancer',
  message:
    'keepalived is not run yet: put a load balancer of your own in front (external), or take one control plane without',
};

const moves: Unsupported = {
  field: 'spec.management',
  message: 'no cluster becomes the management cluster yet: leave it out or write false',
};

const login: Unsupported = {
  field: 'spec.registry.username',
  message: 'hosts log in to no registry yet: let it give images without a login, or use the one of the site',
};

function addonTrouble(
  { name, chart, values }: NonNullable<Asked['addons']>[number],
  index: number,
): Unsupported | undefined {
  const field = `spec.addons[${index}]`;
  if (chart !== undefined) {
    const message = `${name}: charts are not installed yet, only manifests of a release: leave it out, and install it with helm when the cluster is there`;
    return { field: `${field}.chart`, message };
  }
  return values === undefined ? undefined : { field: `${field}.values`, message: `${name}: only charts have values` };
}
