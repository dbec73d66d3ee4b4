// Names that K3s and Kubernetes document, as bke may use them; names only. A wrong one in a file that bke writes fails the tests beside this list.

/**
 * Options of `k3s server`, which are the keys of config.yaml without their dashes.
 * Source: k3s-io/docs docs/cli/server.md ("K3s Server CLI Help", commit 02434960); k3s-io/k3s pkg/cli/cmds/server.go and agent.go.
 */
export const serverOptions: ReadonlySet<string> = new Set([
  'advertise-address',
  'advertise-port',
  'agent-token',
  'agent-token-file',
  'bind-address',
  'cluster-cidr',
  'cluster-dns',
  'cluster-domain',
  'cluster-init',
  'cluster-reset',
  'config',
  'container-runtime-endpoint',
  'data-dir',
  'datastore-endpoint',
  'debug',
  'default-local-storage-path',
  'default-runtime',
  'disable',
  'disable-cloud-controller',
  'disable-default-registry-endpoint',
  'disable-helm-controller',
  'disable-kube-proxy',
  'disable-network-policy',
  'disable-scheduler',
  'egress-selector-mode',
  'embedded-registry',
  'enable-pprof',
  'etcd-arg',
  'flannel-backend',
  'flannel-cni-conf',
  'flannel-conf',
  'flannel-external-ip',
  'flannel-iface',
  'flannel-ipv6-masq',
  'helm-job-image',
  'https-listen-port',
  'image-credential-provider-bin-dir',
  'image-credential-provider-config',
  'image-service-endpoint',
  'kube-apiserver-arg',
  'kube-cloud-controller-manager-arg',
  'kube-controller-manager-arg',
  'kube-proxy-arg',
  'kube-scheduler-arg',
  'kubelet-arg',
  'lb-server-port',
  'log',
  'node-external-ip',
  'node-ip',
  'node-label',
  'node-name',
  'node-taint',
  'nonroot-devices',
  'pause-image',
  'prefer-bundled-bin',
  'private-registry',
  'protect-kernel-defaults',
  'resolv-conf',
  'secrets-encryption',
  'secrets-encryption-provider',
  'selinux',
  'server',
  'service-cidr',
  'service-node-port-range',
  'servicelb-namespace',
  'snapshotter',
  'supervisor-metrics',
  'system-default-registry',
  'tls-san',
  'tls-san-security',
  'token',
  'token-file',
  'with-node-id',
  'write-kubeconfig',
  'write-kubeconfig-group',
  'write-kubeconfig-mode',
]);

/** Options that take several values: lists in config.yaml (StringSlice flags of the same sources). */
export const listOptions: ReadonlySet<string> = new Set([
  'cluster-cidr',
  'cluster-dns',
  'disable',
  'etcd-arg',
  'kube-apiserver-arg',
  'kube-cloud-controller-manager-arg',
  'kube-controller-manager-arg',
  'kube-proxy-arg',
  'kube-scheduler-arg',
  'kubelet-arg',
  'node-external-ip',
  'node-ip',
  'node-label',
  'node-taint',
  'service-cidr',
  'tls-san',
]);

/** Switches (Bool flags of the same sources). */
export const switchOptions: ReadonlySet<string> = new Set([
  'cluster-init',
  'debug',
  'disable-cloud-controller',
  'disable-default-registry-endpoint',
  'disable-helm-controller',
  'disable-kube-proxy',
  'disable-network-policy',
  'disable-scheduler',
  'embedded-registry',
  'prefer-bundled-bin',
  'protect-kernel-defaults',
  'secrets-encryption',
  'selinux',
]);

/** Values of `disable`. Source: k3s-io/docs docs/cli/server.md, docs/installation/packaged-components.md. */
export const packagedComponents: ReadonlySet<string> = new Set([
  'coredns',
  'local-storage',
  'metrics-server',
  'runtimes',
  'servicelb',
  'traefik',
]);

/** Values of `flannel-backend`. Source: k3s-io/docs docs/cli/server.md. */
export const flannelBackends: ReadonlySet<string> = new Set(['none', 'vxlan', 'host-gw', 'wireguard-native']);

/** Of registries.yaml. Source: k3s-io/docs docs/installation/private-registry.md. */
export const registryKeys = {
  top: new Set(['mirrors', 'configs']),
  mirror: new Set(['endpoint', 'rewrite']),
  config: new Set(['auth', 'tls']),
  tls: new Set(['ca_file', 'cert_file', 'key_file', 'insecure_skip_verify']),
} as const;

/**
 * Options of the kubelet that K3s takes for itself: it copies the file among its drop-ins, which override one another in the order of their names.
 * Source: k3s-io/docs docs/installation/configuration.md ("Kubelet Configuration Files", v1.32 and above); k3s-io/k3s pkg/daemons/agent/agent.go.
 */
export const kubeletOptions: ReadonlySet<string> = new Set(['config', 'config-dir']);

/** Options of the API server that bke uses. Source: kubernetes/kubernetes v1.36.3 pkg/controlplane/apiserver/options/options.go (AddFlags). */
export const apiServerOptionNames: ReadonlySet<string> = new Set(['enable-aggregator-routing']);

/** Options of kube-proxy. Source: kubernetes/kubernetes v1.36.3 cmd/kube-proxy/app/options.go (AddFlags). */
export const kubeProxyOptionNames: ReadonlySet<string> = new Set([
  'bind-address',
  'bind-address-hard-fail',
  'cluster-cidr',
  'config',
  'config-sync-period',
  'conntrack-max-per-core',
  'conntrack-min',
  'conntrack-tcp-be-liberal',
  'conntrack-tcp-timeout-close-wait',
  'conntrack-tcp-timeout-established',
  'conntrack-udp-timeout',
  'conntrack-udp-timeout-stream',
  'detect-local-mode',
  'feature-gates',
  'healthz-bind-address',
  'hostname-override',
  'iptables-localhost-nodeports',
  'iptables-masquerade-bit',
  'iptables-min-sync-period',
  'iptables-sync-period',
  'ipvs-scheduler',
  'kube-api-burst',
  'kube-api-content-type',
  'kube-api-qps',
  'masquerade-all',
  'metrics-bind-address',
  'nodeport-addresses',
  'oom-score-adj',
  'profiling',
  'proxy-mode',
]);

/** Files and folders that K3s reads or writes by these names, and where that is told. */
export const documentedPaths: Readonly<Record<string, string>> = {
  '/etc/rancher/k3s/config.yaml': 'k3s-io/docs docs/installation/configuration.md ("Configuration File")',
  '/etc/rancher/k3s/registries.yaml': 'k3s-io/docs docs/installation/private-registry.md',
  '/etc/rancher/k3s/k3s.yaml': 'k3s-io/docs docs/cluster-access.md; docs/cli/server.md (write-kubeconfig)',
  '/var/lib/rancher/k3s': 'k3s-io/docs docs/cli/server.md (data-dir)',
  '/var/lib/rancher/k3s/server/token': 'k3s-io/docs docs/cli/token.md ("Server")',
  '/var/lib/rancher/k3s/server/manifests': 'k3s-io/docs docs/installation/packaged-components.md',
  '/var/lib/rancher/k3s/agent/etc/containerd/config.toml': 'k3s-io/docs docs/advanced.md ("Configuring containerd")',
  '/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d': 'k3s-io/k3s#13680, k3s-io/docs#567',
};

/** Of K3s's own unit that bke's has too. Source: k3s-io/k3s install.sh (create_systemd_service_file). */
export const unitLines: readonly string[] = [
  'WantedBy=multi-user.target',
  'ExecStartPre=-/sbin/modprobe br_netfilter',
  'ExecStartPre=-/sbin/modprobe overlay',
  'KillMode=process',
  'Delegate=yes',
  'User=root',
  'LimitNOFILE=1048576',
  'LimitNPROC=infinity',
  'LimitCORE=infinity',
  'TasksMax=infinity',
  'Restart=always',
];
