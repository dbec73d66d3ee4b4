// Values that a cluster.yaml may leave out.
export const defaultNamespace = 'bke';
export const defaultApiPort = 6443;
export const defaultRegistryPort = 40_443;
export const defaultNetwork = {
  podCIDR: '10.250.0.0/16',
  serviceCIDR: '10.96.0.0/16',
  dnsDomain: 'cluster.local',
  cni: 'flannel',
} as const;
