// Where K3s has what, by its documentation, and which of it K3s fills by itself.
import { kubeletFolder } from '../../../host/state/known-paths.ts';

const configDir = '/etc/rancher/k3s';
const dataDir = '/var/lib/rancher/k3s';

export const k3sUnit = 'k3s.service';
/** What people and bke call it by. */
export const k3sLink = '/usr/local/bin/k3s';

export const k3sPaths = {
  configDir,
  config: `${configDir}/config.yaml`,
  registries: `${configDir}/registries.yaml`,
  /** Fields of KubeletConfiguration; K3s copies it among the kubelet's drop-ins at every start. */
  kubelet: `${configDir}/kubelet.yaml`,
  /** Only where pods can't reach the name servers of the host's own file. */
  resolvConf: `${configDir}/resolv.conf`,
  /** The CA of the local registry. */
  ca: `${configDir}/site-ca.crt`,
  /** 0600, root: who has it can make this cluster's every node and credential. */
  token: `${configDir}/token`,
  /** 0600, root; written by K3s. */
  kubeconfig: `${configDir}/k3s.yaml`,
  dataDir,
  /** The token as K3s keeps it, in its long form. */
  keptToken: `${dataDir}/server/token`,
  /** What lies here is applied at start and whenever it changes. */
  manifests: `${dataDir}/server/manifests`,
  coredns: `${dataDir}/server/manifests/bke-coredns.yaml`,
  /** What containerd runs with, as K3s renders it. */
  containerdConfig: `${dataDir}/agent/etc/containerd/config.toml`,
  /** Imported by the file K3s renders. */
  containerdDropIn: `${dataDir}/agent/etc/containerd/config-v3.toml.d/50-bke.toml`,
} as const;

/**
 * Made before the zone they lie in, so that they are undone after it, empty. Modes as K3s makes them.
 * The data directory itself is no zone: data of volumes in it stays (docs/adr/0006-reset-rules.md, rule 5).
 */
export const k3sFolders: readonly { readonly path: string; readonly mode: number }[] = [
  { path: configDir, mode: 0o755 },
  { path: `${dataDir}/agent`, mode: 0o755 },
  { path: `${dataDir}/agent/etc`, mode: 0o755 },
  { path: `${dataDir}/agent/etc/containerd`, mode: 0o755 },
  { path: `${dataDir}/agent/etc/containerd/config-v3.toml.d`, mode: 0o755 },
  { path: `${dataDir}/server`, mode: 0o700 },
  { path: k3sPaths.manifests, mode: 0o700 },
];

/** Directories that K3s, its kubelet, its containerd and network plugins fill. */
export const k3sZones: readonly string[] = [
  '/etc/rancher',
  `${dataDir}/agent`,
  `${dataDir}/server`,
  `${dataDir}/data`,
  kubeletFolder,
  '/run/k3s',
  '/run/flannel',
  // Sockets of containerd's shims are here whatever its own state folder is.
  '/run/containerd',
  '/run/nri',
  // The kubelet makes it for volume plugins.
  '/usr/libexec/kubernetes',
  '/var/lib/cni',
  '/var/log/pods',
  '/var/log/containers',
];
