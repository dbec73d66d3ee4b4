// Hosts among each other: nobody twice, and control planes that can keep a quorum.
import { parseCidr } from '../../lib/cidr.ts';
import type { Finding, WrittenSource } from '../read-yaml.ts';
import type { ClusterSketch, HostSketch } from './sketch.ts';

export function hostFindings(sketch: ClusterSketch, source: WrittenSource): Finding[] {
  const { hosts } = sketch;
  const sshPort = ({ ssh }: HostSketch): number => ssh.port ?? sketch.defaultSsh.port ?? 22;
  return [
    ...twice(hosts, source, {
      field: 'name',
      keyOf: ({ writtenName }) => writtenName?.toLowerCase() || undefined,
      message: (_host, first) => `another host has this name: ${first}`,
    }),
    ...twice(hosts, source, {
      field: 'address',
      // Forwarded ports of one address lead to different machines.
      keyOf: (host) => (host.address === undefined ? undefined : `${canonical(host.address)} ${sshPort(host)}`),
      message: ({ address }, first) => `${address} is also the address of ${first}`,
    }),
    ...nodeAddressFindings(hosts, source),
    ...hosts.flatMap(roleFindings),
    ...hosts.flatMap((host) => taintFindings(host)),
    ...quorumFindings(sketch),
  ];
}

interface Twice {
  readonly field: string;
  readonly keyOf: (host: HostSketch) => string | undefined;
  readonly message: (host: HostSketch, first: string) => string;
  readonly warning?: (host: HostSketch, first: HostSketch) => boolean;
}

function twice(
  hosts: readonly HostSketch[],
  source: WrittenSource,
  { field, keyOf, message, warning }: Twice,
): Finding[] {
  const seen = new Map<string, HostSketch>();
  return hosts.flatMap((host) => {
    const key = keyOf(host);
    const first = key === undefined ? undefined : seen.get(key);
    if (key === undefined) return [];
    if (first === undefined) {
      seen.set(key, host);
      return [];
    }
    const { line } = source.positionOf(['spec', 'hosts', first.index]);
    const words = `${first.name ?? 'the host'} (line ${line})`;
    const found = { path: ['spec', 'hosts', host.index, field], message: message(host, words) };
    return [warning?.(host, first) === true ? { ...found, warning: true } : found];
  });
}

/** Kubernetes tells nodes apart by it. Behind one address with forwarded ports it has to be named, which only the hosts themselves can prove. */
function nodeAddressFindings(hosts: readonly HostSketch[], source: WrittenSource): Finding[] {
  const own = hosts.filter(({ nodeIP }) => nodeIP !== undefined);
  const implied = hosts.filter(({ nodeIP }) => nodeIP === undefined);
  const needed = implied.flatMap(({ address, index, name }) =>
    address?.includes(':') === true
      ? [
          {
            path: ['spec', 'hosts', index, 'address'],
            message: `${name ?? 'the host'} needs nodeIP: nodes have IPv4 addresses here, and ${address} is IPv6`,
          },
        ]
      : [],
  );
  const sameAddress = (host: HostSketch, first: HostSketch): boolean =>
    host.nodeIP === undefined && first.nodeIP === undefined;
  const all = [...implied, ...own].toSorted((a, b) => a.index - b.index);
  const clashes = twice(all, source, {
    field: 'nodeIP',
    keyOf: ({ nodeIP, address }) => nodeIP ?? address,
    message: ({ nodeIP, address }, first) =>
      `${nodeIP ?? address} is also the node address of ${first}; give each host its own nodeIP`,
    warning: sameAddress,
  });
  // The same address and the same port are told already.
  const told = new Set(
    twice(hosts, source, { field: '', keyOf: addressAndPort, message: () => '' }).map(({ path }) => path[2]),
  );
  return [...needed, ...clashes.filter(({ path }) => !told.has(path[2]))];
}

function addressAndPort({ address, nodeIP, ssh }: HostSketch): string | undefined {
  return address === undefined || nodeIP !== undefined ? undefined : `${canonical(address)} ${ssh.port ?? ''}`;
}

/** One form of each address, e.g. of fd00::0:1 and FD00::1. */
function canonical(address: string): string {
  return parseCidr(`${address}/${address.includes(':') ? 128 : 32}`)?.text ?? address;
}

function roleFindings({ roles = [], index }: HostSketch): Finding[] {
  return roles.flatMap((role, at) =>
    roles.indexOf(role) === at
      ? []
      : [{ path: ['spec', 'hosts', index, 'roles', at], message: `${role} is there twice` }],
  );
}

function taintFindings({ taints = [], index }: HostSketch): Finding[] {
  const keys = taints.map(({ key, effect }) => `${key}:${effect}`);
  return keys.flatMap((key, at) =>
    keys.indexOf(key) === at
      ? []
      : [{ path: ['spec', 'hosts', index, 'taints', at], message: `${key} is there twice` }],
  );
}

/** etcd: of an even number one more may not fail than of one less. */
function quorumFindings({ hosts, rolesKnown }: ClusterSketch): Finding[] {
  if (!rolesKnown) return [];
  const path = ['spec', 'hosts'];
  const count = hosts.filter(({ roles }) => roles?.includes('control-plane') === true).length;
  if (count === 0) return [{ path, message: 'no host has the role control-plane' }];
  if (count % 2 === 0) {
    const message = `${count} hosts have the role control-plane, and it must be an odd number: ${count} bear the loss of no more hosts than ${count - 1}`;
    return [{ path, message }];
  }
  if (hosts.some(({ roles }) => roles?.includes('worker') === true)) return [];
  return [{ path, message: 'no host has the role worker: nothing but Kubernetes itself will run', warning: true }];
}
