// Secrets of a cluster: what logs in to its hosts and its registry. Values come from a resolver, so that nothing here reads a file.
import type { BastionConfig, ClusterConfig, HostConfig, LoginConfig } from '../../config/cluster/config.ts';
import type { KubeObject } from '../../kube/client.ts';
import { coreLabels, registrySecretName, secretOfLabel, sshSecretName } from './names.ts';

/** As it stands in cluster.yaml. */
export type SecretSource = { readonly value: string } | { readonly file: string };
/** The secret itself, without the line end that editors add. */
export type SecretResolver = (source: SecretSource) => string;

/** Keys of the Secret; of the n-th bastion, from 0, with `bastion-<n>.` before them. */
export const secretKeys = {
  password: 'password',
  privateKey: 'ssh-privatekey',
  passphrase: 'passphrase',
  sudo: 'sudo-password',
} as const;

/** undefined where there is nothing to be kept: the SSH agent of a person logs in. */
export function sshSecret(host: HostConfig, cluster: ClusterConfig, resolve: SecretResolver): KubeObject | undefined {
  const { sudo } = host.ssh;
  const sources = new Map<string, SecretSource>([
    ...loginSources(host.ssh, ''),
    ...(sudo?.password === undefined ? [] : [[secretKeys.sudo, { value: sudo.password }] as const]),
    ...(sudo?.passwordFile === undefined ? [] : [[secretKeys.sudo, { file: sudo.passwordFile }] as const]),
    ...bastionsOf(host.ssh).flatMap((bastion, index) => loginSources(bastion, `bastion-${index}.`)),
  ]);
  if (sources.size === 0) return undefined;
  return secret(
    { name: sshSecretName(host.name), of: host.name },
    cluster,
    Object.fromEntries([...sources].map(([key, from]) => [key, resolve(from)])),
  );
}

/** The first is dialled first. */
export function bastionsOf({ bastion }: LoginConfig): BastionConfig[] {
  return bastion === undefined ? [] : [...bastionsOf(bastion), bastion];
}

export function registrySecret(cluster: ClusterConfig, resolve: SecretResolver): KubeObject | undefined {
  const { username, passwordFile } = cluster.registry ?? {};
  if (username === undefined || passwordFile === undefined) return undefined;
  return secret({ name: registrySecretName(cluster), of: cluster.name }, cluster, {
    username,
    password: resolve({ file: passwordFile }),
  });
}

function loginSources(login: LoginConfig, before: string): [string, SecretSource][] {
  const { password, passwordFile, privateKeyFile, passphraseFile } = login;
  return [
    ...(password === undefined ? [] : [[before + secretKeys.password, { value: password }] as [string, SecretSource]]),
    ...(passwordFile === undefined
      ? []
      : [[before + secretKeys.password, { file: passwordFile }] as [string, SecretSource]]),
    ...(privateKeyFile === undefined
      ? []
      : [[before + secretKeys.privateKey, { file: privateKeyFile }] as [string, SecretSource]]),
    ...(passphraseFile === undefined
      ? []
      : [[before + secretKeys.passphrase, { file: passphraseFile }] as [string, SecretSource]]),
  ];
}

function secret(
  { name, of }: { readonly name: string; readonly of: string },
  { name: cluster, namespace }: ClusterConfig,
  values: Readonly<Record<string, string>>,
): KubeObject {
  const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    // clusterctl moves it with the cluster: nothing of Cluster API owns it.
    metadata: {
      name,
      namespace,
      labels: { [coreLabels.cluster]: cluster, [secretOfLabel]: of, 'clusterctl.cluster.x-k8s.io/move': '' },
    },
    type: 'Opaque',
    data: Object.fromEntries(data),
  };
}
