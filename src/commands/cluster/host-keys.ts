// The keys that hosts and bastions are known by, put into the cluster's configuration: the controller has no known_hosts and never dials what has none.
import type { BastionConfig, ClusterConfig, LoginConfig } from '../../config/cluster/config.ts';
import { loadTrust } from '../../host/ssh/host-trust.ts';
import type { AcceptedKey, SshTarget } from '../../host/ssh/target.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, textAt } from '../../kube/fields.ts';

/** By `address port`. */
export type KnownKeys = ReadonlyMap<string, readonly string[]>;

/** What a BKEHost can hold. */
const mostKeys = 16;

export function keyPlace(address: string, port: number): string {
  return `${address} ${port}`;
}

/** Of targets and their bastions, by known_hosts and what was accepted just now. @throws BkeError BKE_SSH_HOST_KEYS_INVALID */
export async function knownKeys(targets: readonly SshTarget[], accepted: readonly AcceptedKey[]): Promise<KnownKeys> {
  const known = new Map<string, readonly string[]>();
  for (const target of targets.flatMap(withBastions)) {
    const place = keyPlace(target.address, target.port);
    if (!known.has(place)) known.set(place, (await loadTrust(target)).fingerprints);
  }
  for (const { target, key } of accepted) {
    const place = keyPlace(target.address, target.port);
    known.set(place, [...new Set([...(known.get(place) ?? []), key.fingerprint])]);
  }
  return known;
}

function withBastions(target: SshTarget): SshTarget[] {
  return target.bastion === undefined ? [target] : [target, ...withBastions(target.bastion)];
}

/** Those that hosts in the cluster are known by already. */
export function keysOfHosts(hosts: readonly KubeObject[]): KnownKeys {
  const found = hosts.flatMap((host): [string, readonly string[]][] => {
    const ssh = fieldAt(host, 'spec', 'ssh');
    const own = {
      address: fieldAt(host, 'spec', 'address'),
      port: fieldAt(ssh, 'port'),
      hostKeys: fieldAt(ssh, 'hostKeys'),
    };
    return [own, ...listAt(ssh, 'bastions')].map((login) => [
      keyPlace(textAt(login, 'address') ?? '', Number(fieldAt(login, 'port') ?? 22)),
      listAt(login, 'hostKeys').map(String),
    ]);
  });
  return new Map(found.filter(([, keys]) => keys.length > 0));
}

/** What stands in cluster.yaml is left as it is. */
export function withHostKeys(config: ClusterConfig, known: KnownKeys): ClusterConfig {
  return { ...config, hosts: config.hosts.map((host) => ({ ...host, ssh: withKeys(host.ssh, host.address, known) })) };
}

function withKeys<Login extends LoginConfig>(login: Login, address: string, known: KnownKeys): Login {
  const keys = login.hostKeys.length > 0 ? login.hostKeys : (known.get(keyPlace(address, login.port)) ?? []);
  const bastion: BastionConfig | undefined = login.bastion && withKeys(login.bastion, login.bastion.address, known);
  return { ...login, hostKeys: keys.slice(0, mostKeys), ...(bastion === undefined ? {} : { bastion }) };
}
