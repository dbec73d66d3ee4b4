// The table of components: which module, which programs, how they are compiled.
import { type Component, type Versions, defaultVersions } from './component.ts';

/** Every component of the test bed in the order in which it is built (quick ones first). */
export function componentTable(versions: Versions = defaultVersions): Component[] {
  return [
    registry(versions.registry),
    crictl(versions.crictl),
    runc(versions.runc),
    cniPlugins(versions.cniPlugins),
    flannelCniPlugin,
    containerd(versions.containerd),
    helm(versions.helm),
    kubernetes(versions.kubernetes),
    etcd(versions.etcd),
    coredns(versions.coredns),
    flannel(versions.flannel),
    ...clusterApi(versions.clusterApi),
  ];
}

const staticGoTags = ['netgo', 'osusergo'];

function kubernetes(version: string): Component {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
  const values = {
    gitVersion: version,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
    gitCommit: `module-${version}`,
  };
  const programs = [
    'kubeadm',
    'kubelet',
    'kubectl',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
    'kube-proxy',
  ];
  return {
    name: 'kubernetes',
    module: 'k8s.io/kubernetes',
    version,
    programs: Object.fromEntries(programs.map((name) => [name, `k8s.io/kubernetes/cmd/${name}`])),
    replaces: 'staging',
    cgo: false,
    tags: [],
    variables: {
      ...prefixed('k8s.io/component-base/version', values),
      ...prefixed('k8s.io/client-go/pkg/version', values),
    },
  };
}

function containerd(version: string): Component {
  const module = 'github.com/containerd/containerd/v2';
  return {
    name: 'containerd',
    module,
    version,
    programs: {
      containerd: `${module}/cmd/containerd`,
      'containerd-shim-runc-v2': `${module}/cmd/containerd-shim-runc-v2`,
      ctr: `${module}/cmd/ctr`,
    },
    cgo: false,
    tags: ['no_btrfs', 'no_devmapper', 'no_zfs', ...staticGoTags],
    variables: { [`${module}/version.Version`]: version },
  };
}

function runc(version: string): Component {
  return {
    name: 'runc',
    module: 'github.com/opencontainers/runc',
    version,
    programs: { runc: 'github.com/opencontainers/runc' },
    cgo: true,
    static: true,
    tags: ['seccomp', 'urfave_cli_no_docs', ...staticGoTags],
    variables: {},
  };
}

function crictl(version: string): Component {
  return {
    name: 'crictl',
    module: 'sigs.k8s.io/cri-tools',
    version,
    programs: { crictl: 'sigs.k8s.io/cri-tools/cmd/crictl' },
    cgo: false,
    tags: [],
    variables: { 'sigs.k8s.io/cri-tools/pkg/version.Version': version },
  };
}

function cniPlugins(version: string): Component {
  const plugins = 'github.com/containernetworking/plugins';
  return {
    name: 'cni-plugins',
    module: plugins,
    version,
    programs: {
      bridge: `${plugins}/plugins/main/bridge`,
      loopback: `${plugins}/plugins/main/loopback`,
      'host-local': `${plugins}/plugins/ipam/host-local`,
      portmap: `${plugins}/plugins/meta/portmap`,
      firewall: `${plugins}/plugins/meta/firewall`,
    },
    cgo: false,
    tags: [],
    variables: { [`${plugins}/pkg/utils/buildversion.BuildVersion`]: version },
  };
}

/** flannel's own repository of its CNI plugin is no module of the proxy; the last release of the common plugins with it is. */
const flannelCniPlugin: Component = {
  name: 'flannel-cni-plugin',
  module: 'github.com/containernetworking/plugins',
  version: 'v0.9.1',
  programs: { flannel: 'github.com/containernetworking/plugins/plugins/meta/flannel' },
  cgo: false,
  tags: [],
  variables: { 'github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion': 'v0.9.1' },
};

function etcd(version: string): Component {
  return {
    name: 'etcd',
    module: 'go.etcd.io/etcd/server/v3',
    version,
    programs: { etcd: 'go.etcd.io/etcd/server/v3', etcdctl: 'go.etcd.io/etcd/etcdctl/v3' },
    requires: [`go.etcd.io/etcd/etcdctl/v3@${version}`],
    cgo: false,
    tags: [],
    variables: { 'go.etcd.io/etcd/api/v3/version.GitSHA': `module-${version}` },
  };
}

function coredns(version: string): Component {
  return {
    name: 'coredns',
    module: 'github.com/coredns/coredns',
    version,
    programs: { coredns: 'github.com/coredns/coredns' },
    cgo: false,
    tags: [],
    variables: { 'github.com/coredns/coredns/coremain.GitCommit': `module-${version}` },
  };
}

/** With cgo, because its udp backend doesn't compile without. */
function flannel(version: string): Component {
  return {
    name: 'flannel',
    module: 'github.com/flannel-io/flannel',
    version,
    programs: { flanneld: 'github.com/flannel-io/flannel' },
    cgo: true,
    static: true,
    tags: staticGoTags,
    variables: { 'github.com/flannel-io/flannel/pkg/version.Version': version },
    keep: [{ from: 'Documentation/kube-flannel.yml', to: 'kube-flannel.yml' }],
  };
}

function registry(version: string): Component {
  const module = 'github.com/distribution/distribution/v3';
  return {
    name: 'registry',
    module,
    version,
    programs: { registry: `${module}/cmd/registry` },
    cgo: false,
    tags: [],
    variables: { [`${module}/version.version`]: version },
  };
}

function helm(version: string): Component {
  return {
    name: 'helm',
    module: 'helm.sh/helm/v4',
    version,
    programs: { helm: 'helm.sh/helm/v4/cmd/helm' },
    cgo: false,
    tags: [],
    variables: { 'helm.sh/helm/v4/internal/version.version': version },
  };
}

/** The three controllers and clusterctl; each controller keeps the manifests of its folder (CRDs, webhooks, RBAC, Deployment). */
function clusterApi(version: string): Component[] {
  const module = 'sigs.k8s.io/cluster-api';
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const common = {
    module,
    version,
    replaces: [`${module}/api@${version}`],
    cgo: false,
    tags: [],
    variables: prefixed(`${module}/version`, values),
  };
  const controller = (name: string, folder: string): Component => ({
    ...common,
    name,
    programs: { [`${name}-manager`]: `${module}/${folder}` },
    keep: [
      { from: `${folder}/config`, to: 'config' },
      { from: 'metadata.yaml', to: 'metadata.yaml' },
    ],
  });
  return [
    controller('cluster-api-core', 'core'),
    controller('cluster-api-bootstrap-kubeadm', 'bootstrap/kubeadm'),
    controller('cluster-api-control-plane-kubeadm', 'controlplane/kubeadm'),
    {
      ...common,
      name: 'clusterctl',
      programs: { clusterctl: `${module}/cmd/clusterctl` },
      keep: [{ from: 'cmd/clusterctl/config/manifest/clusterctl-api.yaml', to: 'clusterctl-api.yaml' }],
    },
  ];
}

function prefixed(prefix: string, values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}.${name}`, value]));
}
