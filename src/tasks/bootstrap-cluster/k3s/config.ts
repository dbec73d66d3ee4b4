// The text of K3s's configuration files. Pure, kept as golden files by tests, and checked there against K3s's documented names.
import { stringify } from 'yaml';
import { ownHead } from '../../../lib/own-mark.ts';
import { type TomlTable, toToml } from '../../../lib/toml.ts';
import { localFolder } from '../../../release/oci/reference.ts';
import { k3sPaths } from './paths.ts';

function yamlFile(value: unknown): string {
  return `${ownHead}${stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

export interface K3sConfigOptions {
  readonly nodeName: string;
  readonly hostIP: string;
  readonly port: number;
  readonly podCIDR: string;
  readonly serviceCIDR: string;
  readonly clusterDNS: string;
  /** Public name of the pause image. */
  readonly pauseImage: string;
  /** File with the name servers for pods. */
  readonly resolvConf: string;
  /** As `name=value`. */
  readonly kubeProxyArgs: readonly string[];
}

/** config.yaml: the options of `k3s server`, without their dashes. */
export function k3sConfig(options: K3sConfigOptions): string {
  return yamlFile({
    'node-name': options.nodeName,
    'node-ip': options.hostIP,
    'https-listen-port': options.port,
    'tls-san': [...new Set([options.hostIP, options.nodeName])],
    'token-file': k3sPaths.token,
    'write-kubeconfig-mode': '0600',
    'cluster-cidr': options.podCIDR,
    'service-cidr': options.serviceCIDR,
    'cluster-dns': options.clusterDNS,
    // One node: its pods need no tunnel to others.
    'flannel-backend': 'host-gw',
    // CoreDNS comes from the bundle, under the name it has there; the others are not needed by a cluster that only manages.
    disable: ['coredns', 'local-storage', 'metrics-server', 'servicelb', 'traefik'],
    'disable-helm-controller': true,
    'disable-network-policy': true,
    'disable-default-registry-endpoint': true,
    'pause-image': options.pauseImage,
    // Else K3s makes a file of its own that names a public server.
    'resolv-conf': options.resolvConf,
    // Webhooks are called at their pods, not at the address of their Service, for which a host without a default route has no route.
    'kube-apiserver-arg': ['enable-aggregator-routing=true'],
    'kubelet-arg': [`config=${k3sPaths.kubelet}`],
    'kube-proxy-arg': options.kubeProxyArgs,
  });
}

/**
 * registries.yaml: every registry is taken from the local one, where the source registry is the first folder.
 * @param local domain:port of the local registry
 */
export function k3sRegistries(mirrored: readonly string[], local: string): string {
  const endpoint = [`https://${local}`];
  const mirrors = mirrored
    .filter((name) => name !== local)
    .map((name) => [name, { endpoint, rewrite: { '^(.*)$': `${localFolder(name)}/$1` } }] as const);
  return yamlFile({
    // The last entry is for registries nobody thought of: the local one has nothing of them, and no other is asked.
    mirrors: { ...Object.fromEntries(mirrors), '*': { endpoint } },
    configs: { [local]: { tls: { ca_file: k3sPaths.ca } } },
  });
}

/** Merged into the configuration that K3s renders (version 3). */
export function k3sContainerd(settings: TomlTable): string {
  return `${ownHead}${toToml({ version: 3, ...settings })}`;
}
