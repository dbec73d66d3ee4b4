// flannel's manifest fitted to a cluster: its pods' network, where its API server is, and the address that nodes reach each other by. Pure.
import type { KubeObject } from '../../kube/client.ts';
import { parseManifests } from '../../kube/manifests.ts';
import { BkeError } from '../../lib/errors.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { tryJson } from '../../lib/try-json.ts';

export interface FlannelOptions {
  readonly podCIDR: string;
  /** Of the API server. With it flannel does not wait for kube-proxy, which makes the address of the Service. */
  readonly endpoint: { readonly host: string; readonly port: number };
}

type Fields = Readonly<Record<string, unknown>>;

/** Name of the DaemonSet in flannel's own manifest. */
export const flannelDaemonSet = { namespace: 'kube-flannel', name: 'kube-flannel-ds' } as const;
const containerName = 'kube-flannel';
const nodeAddress = 'BKE_NODE_IP';

/**
 * @param manifest text of kube-flannel.yml
 * @throws BkeError BKE_KUBE_MANIFEST_INVALID, or BKE_ARTIFACT_UNUSABLE where it is that of something else.
 */
export function flannelObjects(manifest: string, options: FlannelOptions): KubeObject[] {
  const objects = parseManifests(manifest, 'the manifest of flannel');
  if (!objects.some(isDaemonSet) || !objects.some(isConfiguration)) {
    throw unusable(`it has no DaemonSet ${flannelDaemonSet.name} or no net-conf.json`);
  }
  return objects.map((object) => {
    if (isConfiguration(object)) return withNetwork(object, options.podCIDR);
    return isDaemonSet(object) ? withNode(object, options) : object;
  });
}

/** Full names of the images it runs. */
export function flannelImages(manifest: string): string[] {
  const pods = parseManifests(manifest, 'the manifest of flannel')
    .filter(isDaemonSet)
    .map((object) => podOf(object));
  const containers = pods.flatMap((pod) => [...list(pod, 'initContainers'), ...list(pod, 'containers')]);
  const images = containers.flatMap(({ image }) => (typeof image === 'string' ? [image] : []));
  return [...new Set(images)].sort();
}

function fields(parent: Fields, name: string): Fields {
  const value = parent[name];
  return isMapping(value) ? value : {};
}

function list(parent: Fields, name: string): Fields[] {
  const value = parent[name];
  return Array.isArray(value) ? value.filter(isMapping) : [];
}

function isDaemonSet({ kind, metadata }: KubeObject): boolean {
  return kind === 'DaemonSet' && metadata.name === flannelDaemonSet.name;
}

function isConfiguration(object: KubeObject): boolean {
  return object.kind === 'ConfigMap' && typeof fields(object, 'data')['net-conf.json'] === 'string';
}

function podOf(daemonSet: KubeObject): Fields {
  return fields(fields(fields(daemonSet, 'spec'), 'template'), 'spec');
}

function withNetwork(object: KubeObject, podCIDR: string): KubeObject {
  const data = fields(object, 'data');
  const network = tryJson(String(data['net-conf.json']));
  if (!isMapping(network)) throw unusable('its net-conf.json is no JSON');
  const text = `${JSON.stringify({ ...network, ...networkOf(podCIDR) }, undefined, 2)}\n`;
  return { ...object, data: { ...data, 'net-conf.json': text } };
}

/** `Network` is of IPv4; a cluster of IPv6 alone says so (flannel, Documentation/configuration.md). */
function networkOf(podCIDR: string): Fields {
  if (!podCIDR.includes(':')) return { Network: podCIDR };
  return { EnableIPv4: false, EnableIPv6: true, IPv6Network: podCIDR };
}

function withNode(object: KubeObject, options: FlannelOptions): KubeObject {
  const spec = fields(object, 'spec');
  const template = fields(spec, 'template');
  const pod = podOf(object);
  const containers = list(pod, 'containers').map((container) =>
    container['name'] === containerName ? withAddresses(container, options) : container,
  );
  return { ...object, spec: { ...spec, template: { ...template, spec: { ...pod, containers } } } };
}

/** Without an address flannel takes the link of the default route: a host may have none, or another network for its nodes. */
function withAddresses(container: Fields, { endpoint }: FlannelOptions): Fields {
  const own = [
    { name: 'KUBERNETES_SERVICE_HOST', value: endpoint.host },
    { name: 'KUBERNETES_SERVICE_PORT', value: String(endpoint.port) },
    { name: nodeAddress, valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
  ];
  const names = new Set(own.map(({ name }) => name));
  const env = list(container, 'env').filter(({ name }) => typeof name !== 'string' || !names.has(name));
  const args = Array.isArray(container['args']) ? container['args'] : [];
  return { ...container, args: [...args, `--iface=$(${nodeAddress})`], env: [...env, ...own] };
}

function unusable(why: string): BkeError {
  return new BkeError('BKE_ARTIFACT_UNUSABLE', `the manifest of flannel cannot be used: ${why}`, {
    hint: 'The bundle must have kube-flannel.yml as flannel publishes it. Correct it and build the bundle again.',
  });
}
