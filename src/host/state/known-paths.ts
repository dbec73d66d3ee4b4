// Paths that are Kubernetes' (or bke's own) on any host, by exact name: all that a reset may remove where no ledger tells (docs/adr/0006-reset-rules.md, rule 7).

type PathKind =
  /** A file or link. */
  | 'file'
  /** A directory with all that is in it. */
  | 'tree'
  /** A directory that goes only when nothing is left in it. */
  | 'folder';

export interface KnownPath {
  readonly path: string;
  readonly kind: PathKind;
  readonly what: string;
  /** `proof`: it shows that Kubernetes was installed here. `needsProof`: the name alone could be anybody's, it goes only where a proof was found. */
  readonly mark?: 'proof' | 'needsProof';
  /** Comes and goes with every pod and holds nobody's data. */
  readonly passing?: true;
  /** A reset that did not come to its end was about to take it: what proved it may be gone. */
  readonly remembered?: true;
}

/** kubelet's own directory. */
export const kubeletFolder = '/var/lib/kubelet';

const pki = [
  'ca',
  'apiserver',
  'apiserver-kubelet-client',
  'apiserver-etcd-client',
  'front-proxy-ca',
  'front-proxy-client',
];
const etcdPki = ['ca', 'server', 'peer', 'healthcheck-client'];

function pairs(folder: string, names: readonly string[]): string[] {
  return names.flatMap((name) => [`${folder}/${name}.crt`, `${folder}/${name}.key`]);
}

function known(kind: PathKind, what: string, paths: readonly string[], mark?: KnownPath['mark']): KnownPath[] {
  return paths.map((path) => ({ path, kind, what, ...(mark === undefined ? {} : { mark }) }));
}

function files(what: string, paths: readonly string[], mark?: KnownPath['mark']): KnownPath[] {
  return known('file', what, paths, mark);
}

function trees(what: string, paths: readonly string[], mark?: KnownPath['mark']): KnownPath[] {
  return known('tree', what, paths, mark);
}

const cniConfigurations = [
  '10-flannel.conflist',
  '10-canal.conflist',
  '10-calico.conflist',
  'calico-kubeconfig',
  '05-cilium.conf',
  '05-cilium.conflist',
  '10-kuberouter.conflist',
];

const kubeletTrees = [
  'pods',
  'plugins',
  'plugins_registry',
  'plugin-containers',
  'pod-resources',
  'pods-api',
  'device-plugins',
  'checkpoints',
  'pki',
  'image_manager',
];
const kubeletFiles = [
  'cpu_manager_state',
  'memory_manager_state',
  'dra_manager_state',
  'dra_health_state',
  'allocated_pods_state',
  'actuated_pods_state',
  'instance-config.yaml',
  'kubeadm-flags.env',
  'config.yaml',
];

/** In the order they are removed: the proofs late, so that a reset that was interrupted still finds them. */
export const kubernetesPaths: readonly KnownPath[] = [
  ...trees('pod logs', ['/var/log/pods', '/var/log/containers']),
  ...trees('etcd data', ['/var/lib/etcd/member'], 'needsProof'),
  ...trees('flannel state', ['/run/flannel', '/var/lib/cni/flannel']),
  ...trees('addresses of pods', ['/var/lib/cni/networks/cbr0'], 'needsProof'),
  ...trees('Calico state', ['/run/calico', '/var/lib/calico', '/var/log/calico']),
  ...trees('Cilium state', ['/run/cilium', '/var/lib/cilium']),
  ...files(
    'network configuration of pods',
    cniConfigurations.map((name) => `/etc/cni/net.d/${name}`),
    'needsProof',
  ),
  ...files(
    'network plugin that a network program installed',
    ['flannel', 'calico', 'calico-ipam', 'cilium-cni'].map((name) => `/opt/cni/bin/${name}`),
    'needsProof',
  ),
  ...trees('kubeadm state', ['/run/kubeadm', '/etc/kubernetes/tmp'], 'needsProof'),
  ...trees('Cluster API state', ['/run/cluster-api'], 'needsProof'),
  ...files('kubelet settings', ['/etc/default/kubelet', '/etc/sysconfig/kubelet'], 'needsProof'),
  ...trees('K3s state', ['/run/k3s']),
  ...files(
    'K3s configuration',
    ['registries.yaml', 'config.yaml', 'kubelet.yaml', 'resolv.conf', 'site-ca.crt', 'token'].map(
      (name) => `/etc/rancher/k3s/${name}`,
    ),
    'needsProof',
  ),
  ...files('K3s node password', ['/etc/rancher/node/password'], 'needsProof'),
  ...files(
    'K3s unit',
    ['k3s', 'k3s-agent'].map((name) => `/etc/systemd/system/multi-user.target.wants/${name}.service`),
    'needsProof',
  ),
  ...files(
    'K3s unit',
    ['k3s', 'k3s-agent'].flatMap((name) => [
      `/etc/systemd/system/${name}.service`,
      `/etc/systemd/system/${name}.service.env`,
    ]),
    'proof',
  ),
  ...files('cluster certificate', pairs('/etc/kubernetes/pki/etcd', etcdPki), 'needsProof'),
  ...files('cluster certificate', pairs('/etc/kubernetes/pki', pki), 'needsProof'),
  ...files('service account key', ['/etc/kubernetes/pki/sa.key', '/etc/kubernetes/pki/sa.pub'], 'needsProof'),
  ...files(
    'kubelet unit',
    [
      '/etc/systemd/system/kubelet.service.d/10-kubeadm.conf',
      '/etc/systemd/system/multi-user.target.wants/kubelet.service',
      '/etc/systemd/system/kubelet.service',
    ],
    'needsProof',
  ),
  ...trees(
    'kubelet data',
    kubeletTrees.map((name) => `${kubeletFolder}/${name}`),
    'proof',
  ),
  { path: '/var/lib/rancher/k3s', kind: 'tree', what: 'K3s data', mark: 'proof' },
  ...files(
    'kubelet data',
    kubeletFiles.map((name) => `${kubeletFolder}/${name}`),
    'proof',
  ),
  ...files(
    'static pod',
    ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(
      (name) => `/etc/kubernetes/manifests/${name}.yaml`,
    ),
    'proof',
  ),
  ...files(
    'cluster credentials',
    ['admin', 'super-admin', 'controller-manager', 'scheduler', 'bootstrap-kubelet', 'kubelet'].map(
      (name) => `/etc/kubernetes/${name}.conf`,
    ),
    'proof',
  ),
  ...files('K3s credentials', ['/etc/rancher/k3s/k3s.yaml'], 'proof'),
];

/** Directories that Kubernetes' programs make and others may use: they go only once nothing is left in them. Deepest first. */
export const sharedFolders: readonly KnownPath[] = [
  '/etc/kubernetes/pki/etcd',
  '/etc/kubernetes/pki',
  '/etc/kubernetes/manifests',
  '/etc/kubernetes',
  '/etc/systemd/system/kubelet.service.d',
  '/etc/cni/net.d',
  '/etc/cni',
  '/opt/cni/bin',
  '/opt/cni',
  '/var/lib/cni/networks',
  '/var/lib/cni/results',
  '/var/lib/cni',
  '/var/lib/etcd',
  '/usr/libexec/kubernetes/kubelet-plugins/volume/exec',
  '/usr/libexec/kubernetes/kubelet-plugins/volume',
  '/usr/libexec/kubernetes/kubelet-plugins',
  '/usr/libexec/kubernetes',
  '/etc/rancher/k3s',
  '/etc/rancher/node',
  '/etc/rancher',
  '/var/lib/rancher',
  kubeletFolder,
].map((path) => ({ path, kind: 'folder', what: 'folder' }));

/** Volume data of users: kept unless --purge-volumes. */
export const volumePaths: readonly KnownPath[] = trees('volume data', [
  '/var/lib/rancher/k3s/storage',
  '/opt/local-path-provisioner',
  '/var/lib/longhorn',
  '/var/lib/rook',
]);

/** Below these everything that is mounted is unmounted before anything is removed. */
export const mountTops: readonly string[] = [
  kubeletFolder,
  '/run/containerd/io.containerd.runtime.v2.task/k8s.io',
  '/run/containerd/io.containerd.grpc.v1.cri',
  '/run/k3s',
  '/var/lib/rancher/k3s',
  '/var/lib/cni/networks',
  '/var/lib/cni/results',
  '/var/lib/cni',
  '/var/lib/etcd',
  '/run/cilium',
  '/run/calico',
  '/etc/kubernetes',
];

/** Network names in the CNI configurations these programs install; their chains are filed under them. cni-loopback: containerd's own, of each pod. */
export const podNetworkNames: readonly string[] = [
  'cbr0',
  'k8s-pod-network',
  'cilium',
  'kubernetes',
  'kindnet',
  'cni-loopback',
];
