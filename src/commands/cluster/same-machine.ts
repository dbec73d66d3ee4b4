// Hosts of a file that are, by another name and address, machines that the management cluster has already: told by what machines say of themselves.
import type { ClusterConfig } from '../../config/cluster/config.ts';
import type { HostFacts } from '../../host/facts/schema.ts';
import type { KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { type Existing, refuseTakenHosts, whose } from './existing.ts';

export interface Found {
  readonly facts: ReadonlyMap<string, Pick<HostFacts, 'machineId' | 'bootId'>>;
  /** Names of checks that were left out. */
  readonly ignored: readonly string[];
}

/** @throws BkeError BKE_HOST_TAKEN */
export function refuseSameMachines(config: ClusterConfig, existing: Existing, found: Found): void {
  const known = [...existing.otherHosts, ...existing.hosts.values()];
  const taken = config.hosts.flatMap(({ name, address }) => {
    const facts = found.facts.get(name);
    const twin = known.find((host) => isAnother(host, name, config) && isSame(host, facts, found.ignored));
    return twin === undefined || facts === undefined ? [] : [words(`${name} (${address})`, twin, { facts, config })];
  });
  refuseTakenHosts(config.name, taken);
}

function isAnother({ metadata }: KubeObject, name: string, { namespace }: ClusterConfig): boolean {
  return metadata.name !== name || metadata.namespace !== namespace;
}

type Facts = Pick<HostFacts, 'machineId' | 'bootId'>;

/** Clones have the id of a machine that is not theirs: who leaves that check out has them. */
function isSame(host: KubeObject, facts: Facts | undefined, ignored: readonly string[]): boolean {
  const { machineId } = facts ?? {};
  if (facts === undefined || machineId === undefined || machineId !== told(host, 'machineId')) return false;
  return !ignored.includes('machine-id') || isSameBoot(host, facts);
}

function isSameBoot(host: KubeObject, { bootId }: Facts): boolean {
  return bootId !== undefined && bootId === told(host, 'bootId');
}

/** What was found at an address that it has no more is of another machine. */
function told(host: KubeObject, fact: 'machineId' | 'bootId'): string | undefined {
  const isOld = textAt(host, 'status', 'facts', 'probedAddress') !== textAt(host, 'spec', 'address');
  return isOld ? undefined : textAt(host, 'status', 'facts', fact);
}

function words(
  what: string,
  twin: KubeObject,
  { facts, config }: { readonly facts: Facts; readonly config: ClusterConfig },
): string {
  const address = textAt(twin, 'spec', 'address') ?? '?';
  const other = `${twin.metadata.name} (${address})${whose(twin, config.namespace)}`;
  if (isSameBoot(twin, facts)) return `${what} is the same machine as ${other}`;
  return `${what} has the /etc/machine-id of ${other}: it is the same machine, or a clone that needs one of its own (rm -f /etc/machine-id; systemd-machine-id-setup; then reboot it)`;
}
