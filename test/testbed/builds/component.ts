// What one component is built from: an entry of the table of components.

/** CPU architectures in Go's words. */
export type Arch = 'amd64' | 'arm64';

/** Files of a module that are kept beside the binaries (manifests), as a folder of the module and the name it gets. */
interface KeptFolder {
  from: string;
  to: string;
}

/** A set of programs built from one Go module. */
export interface Component {
  name: string;
  module: string;
  version: string;
  /** Program name -> import path of its main package. */
  programs: Record<string, string>;
  /** Further modules the wrapper requires, as `path@version`. */
  requires?: string[];
  /** `staging`: the module's own `./staging/` replacements become released modules; else `path@version` pairs. */
  replaces?: 'staging' | string[];
  cgo: boolean;
  /** Build a static program although C code is in it. */
  static?: boolean;
  tags: string[];
  /** Variables set by the linker: `importpath.name` -> value. */
  variables: Record<string, string>;
  keep?: KeptFolder[];
}

/** Versions of everything; each can be given another value (`kubernetes` most often). */
export interface Versions {
  kubernetes: string;
  containerd: string;
  runc: string;
  crictl: string;
  cniPlugins: string;
  etcd: string;
  coredns: string;
  flannel: string;
  registry: string;
  helm: string;
  clusterApi: string;
}

/** The versions that the test bed runs when nothing else is asked for. */
export const defaultVersions: Versions = {
  kubernetes: 'v1.36.3',
  containerd: 'v2.3.7',
  runc: 'v1.4.4',
  crictl: 'v1.37.0',
  cniPlugins: 'v1.9.1',
  etcd: 'v3.6.16',
  coredns: 'v1.14.6',
  flannel: 'v0.27.4',
  registry: 'v3.1.2',
  helm: 'v4.3.2',
  clusterApi: 'v1.14.2',
};
