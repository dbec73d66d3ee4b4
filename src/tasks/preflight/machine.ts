// What preflight checks look at: a host as it was found, in their own terms.

export interface Listener {
  readonly port: number;
  readonly address: string;
  readonly pid: number | undefined;
  readonly program: string | undefined;
  /** It is one of bke's own services. */
  readonly ours: boolean;
}

export interface DirectoryFound {
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
  readonly type: 'directory' | 'link' | 'file' | 'other';
}

/** Something that runs or starts containers, or Kubernetes, on the host. */
export interface RuntimeFound {
  /** e.g. `containerd.service, active` or `/usr/bin/dockerd`. */
  readonly what: string;
  readonly ours: boolean;
}

export interface FreeSpace {
  /** Mount point. */
  readonly fileSystem: string;
  readonly bytes: number;
}

export interface Machine {
  readonly hostname: string;
  readonly root: boolean;
  /** uname -s */
  readonly system: string;
  /** uname -m */
  readonly architecture: string;
  /** e.g. 2.36; undefined where the C library is another one. */
  readonly glibc: string | undefined;
  /** Highest symbol version of libstdc++, e.g. 3.4.30; undefined where there is none. */
  readonly glibcxx: string | undefined;
  readonly systemd: { readonly running: boolean; readonly version: number | undefined };
  readonly cgroup: 'v1' | 'v2' | 'hybrid' | 'none';
  readonly now: Date;
  readonly listeners: readonly Listener[];
  /** Where each path of the needs will be, and the free bytes there. */
  readonly free: ReadonlyMap<string, FreeSpace>;
  /** Programs of the needs that are not there. */
  readonly missingTools: readonly string[];
  /** Every existing directory on the way to the paths that must be reachable. */
  readonly directories: readonly DirectoryFound[];
  readonly runtimes: readonly RuntimeFound[];
  /** Firewalls that are active, e.g. firewalld. */
  readonly firewalls: readonly string[];
}
