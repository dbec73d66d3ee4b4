// The cluster.yaml and bootstrap.yaml of hosts of the bed: what the hosts are, and the limits of this machine as ordinary settings.
import { stringify } from 'yaml';
import { defaultVersions } from './builds/component.ts';

/** The limits of this machine, for control groups v1 and hosts in a container (README.md, "Limits of hosts in a container"). */
export const machineSettings = {
  kubelet: {
    failCgroupV1: false,
    oomScoreAdj: 0,
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'nodefs.inodesFree': '1%',
      'imagefs.available': '1%',
      'imagefs.inodesFree': '1%',
    },
  },
  kubeProxy: {
    oomScoreAdj: 0,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  },
  containerd: { plugins: { 'io.containerd.cri.v1.runtime': { restrict_oom_score_adj: true } } },
  kubeadm: { ignorePreflightErrors: ['SystemVerification'] },
} as const;

/** Where `prepareSite` puts the key that opens every host of the bed. */
export const siteKeyFile = '/root/id_ed25519';

type Fields = Readonly<Record<string, unknown>>;

/** A host of the file; a `TestHost` is one. */
export interface FileHost {
  readonly name: string;
  readonly address: string;
  /** Its own way to log in, instead of the default one. */
  readonly ssh?: Fields;
}

/** What `clusterFile` writes. */
export interface ClusterFileOptions {
  readonly name: string;
  readonly controlPlane: readonly FileHost[];
  readonly workers: readonly FileHost[];
  /** Of all hosts; the site's key where it is not given. */
  readonly ssh?: Fields;
  readonly kubernetesVersion?: string;
  /** Further fields of spec.settings, beside the limits of this machine. */
  readonly settings?: Fields;
  /** Further fields of spec (addons, network, controlPlaneEndpoint, …). */
  readonly spec?: Fields;
}

/** The text of a cluster.yaml for hosts of the bed. */
export function clusterFile(options: ClusterFileOptions): string {
  const { name, controlPlane, workers, ssh = { privateKeyFile: siteKeyFile } } = options;
  return stringify({
    apiVersion: 'bke.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: {
      kubernetesVersion: options.kubernetesVersion ?? defaultVersions.kubernetes,
      settings: { ...machineSettings, ...options.settings },
      defaults: { ssh },
      hosts: [
        ...controlPlane.map((host) => fileHost(host, 'control-plane')),
        ...workers.map((host) => fileHost(host, 'worker')),
      ],
      ...options.spec,
    },
  });
}

/** The text of a bootstrap.yaml for a host of the bed. */
export function bootstrapFile(): string {
  return stringify({ apiVersion: 'bke.io/v1alpha1', kind: 'Bootstrap', spec: { settings: machineSettings } });
}

function fileHost({ name, address, ssh }: FileHost, role: string): Fields {
  return { name, address, roles: [role], ...(ssh === undefined ? {} : { ssh }) };
}
