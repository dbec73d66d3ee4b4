// Fields of KubeletConfiguration v1beta1 (https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/): those that are bke's own, and the
// forms of those that people set. What is not here is handed on as it is.

/** Name -> whose it is and what to do instead. */
export const ownKubeletFields: Readonly<Record<string, string>> = {
  apiVersion: 'is written by bke: leave it out',
  kind: 'is written by bke: leave it out',
  staticPodPath: 'is where kubeadm puts the control plane, and bke looks for it there: leave it out',
  cgroupDriver: 'is chosen for each host, the same for containerd: leave it out',
  resolvConf: "is chosen for each host, so that pods reach its name servers: set those in the host's own resolv.conf",
  containerRuntimeEndpoint: 'is the socket of the containerd that bke installs: leave it out',
  imageServiceEndpoint: 'is the socket of the containerd that bke installs: leave it out',
  clusterDomain: 'follows from the network of the cluster (spec.network.dnsDomain of cluster.yaml): leave it out',
  providerID: 'says which machine the node is, and bke gives it: leave it out',
  registerNode: 'must stay true: a host becomes a node by it',
  registerWithTaints: 'would be for every host: write taints at the host or below spec.defaults',
  port: 'is 10250: checks, the API server and what firewalls let through go by it',
  healthzPort: 'is 10248: kubeadm asks there whether the kubelet is up, whatever is written here',
};

export type KubeletForm =
  | { readonly is: 'integer'; readonly least?: number; readonly most?: number }
  | { readonly is: 'number' | 'boolean' | 'text' | 'duration' | 'quantity' | 'list' | 'mapping' }
  | { readonly is: 'word'; readonly words: readonly string[] }
  /** A mapping with values of that form. */
  | { readonly is: 'each'; readonly form: KubeletForm }
  /** A quantity, or a share of the whole such as 10%. */
  | { readonly is: 'threshold' };

const bool: KubeletForm = { is: 'boolean' };
const duration: KubeletForm = { is: 'duration' };
const text: KubeletForm = { is: 'text' };
const list: KubeletForm = { is: 'list' };
const mapping: KubeletForm = { is: 'mapping' };
const count: KubeletForm = { is: 'integer', least: 0 };
const percent: KubeletForm = { is: 'integer', least: 0, most: 100 };
const any: KubeletForm = { is: 'integer' };
const words = (...known: string[]): KubeletForm => ({ is: 'word', words: known });
const each = (form: KubeletForm): KubeletForm => ({ is: 'each', form });

function all(form: KubeletForm, ...names: string[]): Record<string, KubeletForm> {
  return Object.fromEntries(names.map((name) => [name, form]));
}

export const kubeletForms: Readonly<Record<string, KubeletForm>> = {
  maxPods: { is: 'integer', least: 1 },
  containerLogMaxFiles: { is: 'integer', least: 2 },
  containerLogMaxWorkers: { is: 'integer', least: 1 },
  maxParallelImagePulls: { is: 'integer', least: 1 },
  oomScoreAdj: { is: 'integer', least: -1000, most: 1000 },
  podPidsLimit: { is: 'integer', least: -1 },
  memoryThrottlingFactor: { is: 'number' },
  containerLogMaxSize: { is: 'quantity' },
  readOnlyPort: { is: 'integer', least: 0, most: 65_535 },
  // It is asked there whether the node is well.
  healthzBindAddress: words('127.0.0.1', '0.0.0.0'),
  ...all(percent, 'imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'),
  ...all(count, 'podsPerCore', 'registryPullQPS', 'registryBurst', 'eventRecordQPS', 'eventBurst', 'maxOpenFiles'),
  ...all(count, 'kubeAPIBurst', 'evictionMaxPodGracePeriod', 'nodeLeaseDurationSeconds'),
  ...all(any, 'kubeAPIQPS', 'nodeStatusMaxImages', 'iptablesMasqueradeBit', 'iptablesDropBit'),
  ...all(bool, 'enableServer', 'rotateCertificates', 'serverTLSBootstrap', 'enableDebuggingHandlers', 'seccompDefault'),
  ...all(bool, 'enableContentionProfiling', 'cpuCFSQuota', 'serializeImagePulls', 'enableControllerAttachDetach'),
  ...all(bool, 'protectKernelDefaults', 'makeIPTablesUtilChains', 'failSwapOn', 'kernelMemcgNotification'),
  ...all(bool, 'enableSystemLogHandler', 'enableSystemLogQuery', 'enableProfilingHandler', 'enableDebugFlagsHandler'),
  ...all(bool, 'localStorageCapacityIsolation', 'singleProcessOOMKill', 'failCgroupV1'),
  ...all(bool, 'cgroupsPerQOS', 'mergeDefaultEvictionSettings', 'runOnce'),
  ...all(duration, 'syncFrequency', 'fileCheckFrequency', 'httpCheckFrequency', 'streamingConnectionIdleTimeout'),
  ...all(duration, 'nodeStatusUpdateFrequency', 'nodeStatusReportFrequency', 'imageMinimumGCAge', 'imageMaximumGCAge'),
  ...all(duration, 'volumeStatsAggPeriod', 'cpuManagerReconcilePeriod', 'runtimeRequestTimeout', 'cpuCFSQuotaPeriod'),
  ...all(duration, 'evictionPressureTransitionPeriod', 'shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'),
  ...all(duration, 'containerLogMonitorInterval'),
  ...all(text, 'address', 'podCIDR', 'cgroupRoot', 'kubeletCgroups', 'systemCgroups'),
  ...all(text, 'systemReservedCgroup', 'kubeReservedCgroup', 'volumePluginDir', 'reservedSystemCPUs', 'podLogsDir'),
  ...all(text, 'tlsCertFile', 'tlsPrivateKeyFile', 'tlsMinVersion', 'staticPodURL', 'showHiddenMetricsForVersion'),
  ...all(text, 'contentType', 'imagePullCredentialsVerificationPolicy', 'memoryReservationPolicy'),
  hairpinMode: words('promiscuous-bridge', 'hairpin-veth', 'none'),
  cpuManagerPolicy: words('none', 'static'),
  memoryManagerPolicy: words('None', 'Static'),
  topologyManagerPolicy: words('none', 'best-effort', 'restricted', 'single-numa-node'),
  topologyManagerScope: words('container', 'pod'),
  configMapAndSecretChangeDetectionStrategy: words('Get', 'Cache', 'Watch'),
  ...all(list, 'clusterDNS', 'tlsCipherSuites', 'enforceNodeAllocatable', 'allowedUnsafeSysctls', 'reservedMemory'),
  ...all(list, 'shutdownGracePeriodByPodPriority', 'tlsCurvePreferences', 'preloadedImagesVerificationAllowlist'),
  ...all(mapping, 'authentication', 'authorization', 'memorySwap', 'logging', 'tracing', 'crashLoopBackOff'),
  ...all(mapping, 'userNamespaces', 'staticPodURLHeader'),
  ...all(each({ is: 'threshold' }), 'evictionHard', 'evictionSoft', 'evictionMinimumReclaim'),
  ...all(each({ is: 'quantity' }), 'systemReserved', 'kubeReserved'),
  ...all(each(text), 'qosReserved', 'cpuManagerPolicyOptions', 'topologyManagerPolicyOptions'),
  evictionSoftGracePeriod: each(duration),
  featureGates: each(bool),
};
