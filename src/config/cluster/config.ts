// A cluster as it is meant: every field there, defaults filled in, the defaults of hosts merged into each.
import type { Taint } from '../../lib/node-labels.ts';
import { readKubernetesVersion } from '../../lib/kubernetes-version.ts';
import { type JsonObject, type NodeSettings, noNodeSettings } from '../node-settings.ts';
import { givenLogins } from './check-ssh.ts';
import { defaultApiPort, defaultNamespace, defaultNetwork, defaultRegistryPort } from './defaults.ts';
import type { ClusterFile, HostFile, HostRole, LoadBalancer, networkPlugins } from './file.ts';
import type { BastionFile, SshFile } from './ssh-file.ts';
import { defined } from '../../lib/defined.ts';

export interface ClusterConfig {
  readonly name: string;
  readonly namespace: string;
  /** v1.36.3 */
  readonly kubernetesVersion: string;
  readonly management: boolean;
  readonly controlPlaneEndpoint: { readonly host: string; readonly port: number };
  /** undefined: the endpoint is the only control plane itself. */
  readonly loadBalancer: LoadBalancer | undefined;
  readonly network: {
    readonly podCIDR: string;
    readonly serviceCIDR: string;
    readonly dnsDomain: string;
    readonly cni: (typeof networkPlugins)[number];
  };
  /** undefined: the site's own. */
  readonly registry: RegistryConfig | undefined;
  /** undefined: the site's own, or none. */
  readonly ntp: readonly string[] | undefined;
  readonly settings: NodeSettings;
  readonly hosts: readonly HostConfig[];
  readonly addons: readonly AddonConfig[];
}

export interface RegistryConfig {
  readonly host: string;
  readonly port: number;
  readonly caFile: string | undefined;
  readonly username: string | undefined;
  readonly passwordFile: string | undefined;
  /** Public registry -> path in this one. */
  readonly rewrites: Readonly<Record<string, string>>;
}

export interface HostConfig {
  readonly name: string;
  readonly address: string;
  readonly nodeIP: string;
  readonly roles: readonly HostRole[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly ssh: SshConfig;
}

export interface LoginConfig {
  readonly user: string;
  readonly port: number;
  readonly hostKeys: readonly string[];
  /** One of these four, except at a bastion without any, which takes the host's. */
  readonly password?: string;
  readonly passwordFile?: string;
  readonly privateKeyFile?: string;
  readonly agent?: true;
  readonly passphraseFile?: string;
  readonly bastion?: BastionConfig;
}

export interface BastionConfig extends LoginConfig {
  readonly address: string;
}

export interface SshConfig extends LoginConfig {
  readonly sudo?: { readonly password?: string; readonly passwordFile?: string };
  readonly retain: boolean;
}

export interface AddonConfig {
  readonly name: string;
  readonly chart?: string;
  readonly version?: string;
  readonly namespace?: string;
  readonly values: JsonObject;
}

/** @param file one in which no problem was found. */
export function clusterConfig({ metadata, spec }: ClusterFile): ClusterConfig {
  const hosts = spec.hosts.map((host) => hostConfig(host, spec.defaults ?? {}));
  const read = readKubernetesVersion(spec.kubernetesVersion);
  if ('problem' in read) throw new Error(`spec.kubernetesVersion ${read.problem}`);
  const controlPlaneEndpoint = endpointOf(spec, hosts);
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? defaultNamespace,
    kubernetesVersion: read.version,
    management: spec.management ?? false,
    controlPlaneEndpoint,
    loadBalancer: spec.loadBalancer ?? impliedLoadBalancer(controlPlaneEndpoint.host, hosts),
    network: { ...defaultNetwork, ...defined(spec.network ?? {}) },
    registry: registryConfig(spec.registry),
    ntp: spec.ntp,
    settings: nodeSettings(spec.settings),
    hosts,
    addons: (spec.addons ?? []).map(({ values = {}, ...addon }) => ({ ...defined(addon), values })),
  };
}

function endpointOf(
  { controlPlaneEndpoint: given }: ClusterFile['spec'],
  hosts: readonly HostConfig[],
): ClusterConfig['controlPlaneEndpoint'] {
  const own = hosts.find(({ roles }) => roles.includes('control-plane'))?.nodeIP ?? '';
  return { host: given?.host ?? own, port: given?.port ?? defaultApiPort };
}

/** An endpoint that no host has is somebody's load balancer: with several control planes the file says so itself (check-endpoint.ts). */
function impliedLoadBalancer(endpoint: string, hosts: readonly HostConfig[]): LoadBalancer | undefined {
  return hosts.some(({ address, nodeIP }) => address === endpoint || nodeIP === endpoint) ? undefined : 'external';
}

function registryConfig(registry: ClusterFile['spec']['registry']): RegistryConfig | undefined {
  const host = notEmpty(registry?.host);
  if (registry === undefined || host === undefined) return undefined;
  return {
    host,
    port: registry.port ?? defaultRegistryPort,
    caFile: notEmpty(registry.caFile),
    username: notEmpty(registry.username),
    passwordFile: notEmpty(registry.passwordFile),
    rewrites: registry.rewrites ?? {},
  };
}

function nodeSettings(settings: ClusterFile['spec']['settings'] = {}): NodeSettings {
  const { kubeadm, ...rest } = settings;
  return {
    ...noNodeSettings,
    ...defined(rest),
    kubeadm: { ignorePreflightErrors: kubeadm?.ignorePreflightErrors ?? [] },
  };
}

function hostConfig(host: HostFile, defaults: NonNullable<ClusterFile['spec']['defaults']>): HostConfig {
  return {
    name: host.name,
    address: host.address,
    nodeIP: host.nodeIP ?? host.address,
    roles: host.roles,
    labels: { ...defaults.labels, ...host.labels },
    taints: mergedTaints(defaults.taints ?? [], host.taints ?? []),
    ssh: sshConfig(host.ssh ?? {}, defaults.ssh ?? {}),
  };
}

/** A host's own word on the same key and effect wins. */
function mergedTaints(defaults: readonly Taint[], own: readonly Taint[]): Taint[] {
  const isOwn = ({ key, effect }: Taint): boolean => own.some((taint) => taint.key === key && taint.effect === effect);
  return [...own, ...defaults.filter((taint) => !isOwn(taint))];
}

function sshConfig(own: SshFile, defaults: SshFile): SshConfig {
  const merged = mergedSsh(own, defaults);
  const { sudo, retain = true } = merged;
  return { ...loginConfig(merged), ...(sudo === undefined ? {} : { sudo: defined(sudo) }), retain };
}

/** A way to log in, sudo and bastion are taken as a whole: half of one host's and half of the defaults' would be neither. */
function mergedSsh(own: SshFile, defaults: SshFile): SshFile {
  if (givenLogins(own).length === 0) return { ...defaults, ...withoutLogin(own) };
  return { ...withoutLogin(defaults), ...defined(own) };
}

function withoutLogin(ssh: SshFile): SshFile {
  const { password: _1, passwordFile: _2, privateKeyFile: _3, agent: _4, passphraseFile: _5, ...rest } = ssh;
  return rest;
}

function loginConfig(login: SshFile): LoginConfig {
  const { user = 'root', port = 22, hostKeys = [], passphraseFile, bastion } = login;
  const given = Object.fromEntries(givenLogins(login).map((field) => [field, login[field]]));
  return {
    user,
    port,
    hostKeys,
    ...given,
    ...(passphraseFile === undefined ? {} : { passphraseFile }),
    ...(bastion === undefined ? {} : { bastion: bastionConfig(bastion) }),
  };
}

function bastionConfig(bastion: BastionFile): BastionConfig {
  return { address: bastion.address, ...loginConfig(bastion) };
}

function notEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
