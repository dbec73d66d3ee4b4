// A cluster as the file that says all of it: without a secret, and with where each value comes from.
import { apiVersion } from '../api-version.ts';
import type { Path } from '../yaml-source.ts';
import type { ClusterConfig, HostConfig, LoginConfig } from './config.ts';
import type { ClusterFile } from './file.ts';
import { isThere, writtenPath } from './written-path.ts';
import { defined } from '../../lib/defined.ts';

const mask = '[secret]';

/** In the form of cluster.yaml, every default written out. What is not set (no load balancer, the site's own registry) is left out. */
export function effectiveFile(config: ClusterConfig): object {
  const { name, namespace, hosts, addons, registry, ...spec } = config;
  return {
    apiVersion,
    kind: 'Cluster',
    metadata: { name, namespace },
    spec: {
      ...defined(spec),
      ...(registry === undefined ? {} : { registry: defined(registry) }),
      hosts: hosts.map(hostFile),
      addons: addons.map((addon) => ({ ...addon, values: masked(addon.values) })),
    },
  };
}

function hostFile({ ssh, ...host }: HostConfig): object {
  const { sudo, retain } = ssh;
  return { ...host, ssh: { ...loginFile(ssh), ...(sudo === undefined ? {} : { sudo: maskedPassword(sudo) }), retain } };
}

function loginFile({ bastion, ...login }: LoginConfig): object {
  return { ...maskedPassword(login), ...(bastion === undefined ? {} : { bastion: loginFile(bastion) }) };
}

function maskedPassword<Login extends { readonly password?: string }>(login: Login): Login {
  return login.password === undefined ? login : { ...login, password: mask };
}

/** Values of add-ons are others' fields: by their names alone it is told what may be secret. */
function masked(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, name));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner, key)]));
  }
  return /pass|secret|token|credential|key/i.test(name) && typeof value === 'string' ? mask : value;
}

/** Where the value at a path of the effective file comes from, in words for people. */
export function sourceOf(file: ClusterFile, lineOf: (path: Path) => number): (path: Path) => string {
  return (path) => {
    if (isThere(file, path)) return `line ${lineOf(path)}`;
    const [, , index, part] = path;
    if (path[1] !== 'hosts' || typeof index !== 'number') return derivedSource(path);
    // Taints are merged: one has another place in the list than it has in the file.
    if (part === 'taints') return file.spec.defaults?.taints === undefined ? 'default' : 'spec.defaults';
    const written = writtenPath(file, path);
    if (written !== path) return `line ${lineOf(written)}, spec.defaults`;
    return part === 'nodeIP' ? 'the address' : 'default';
  };
}

function derivedSource(path: Path): string {
  if (path.join('.') === 'spec.controlPlaneEndpoint.host') return 'the only control plane';
  return path[0] === 'apiVersion' || path[0] === 'kind' ? '' : 'default';
}
