// The text of containerd's configuration files: config.toml (version 3), hosts.toml per registry, crictl.yaml. Pure, kept as golden files by tests.
import { localFolder } from '../../release/oci/reference.ts';
import { ownHead } from '../../lib/own-mark.ts';
import { mergeToml, type TomlTable, toToml } from '../../lib/toml.ts';

export const containerdPaths = {
  config: '/etc/containerd/config.toml',
  certsDir: '/etc/containerd/certs.d',
  /** The CA of the registry that images come from; named by every hosts.toml. */
  ca: '/etc/containerd/site-ca.crt',
  root: '/var/lib/containerd',
  state: '/run/containerd',
  socket: '/run/containerd/containerd.sock',
  cniConfigDir: '/etc/cni/net.d',
  cniBinDir: '/opt/cni/bin',
  crictl: '/etc/crictl.yaml',
} as const;

export interface ContainerdOptions {
  /** Public name of the pause image, e.g. registry.k8s.io/pause:3.10.2. */
  readonly sandboxImage: string;
  readonly systemdCgroup: boolean;
  /** Path of runc. */
  readonly runc: string;
  /** Merged over everything else. */
  readonly settings: TomlTable;
}

export function containerdConfig(options: ContainerdOptions): string {
  const base: TomlTable = {
    version: 3,
    root: containerdPaths.root,
    state: containerdPaths.state,
    grpc: { address: containerdPaths.socket },
    plugins: {
      // Else containerd makes /opt/containerd, which is no place of its own.
      'io.containerd.internal.v1.opt': { path: `${containerdPaths.root}/opt` },
      'io.containerd.cri.v1.images': {
        pinned_images: { sandbox: options.sandboxImage },
        registry: { config_path: containerdPaths.certsDir },
      },
      'io.containerd.cri.v1.runtime': {
        cni: { bin_dirs: [containerdPaths.cniBinDir], conf_dir: containerdPaths.cniConfigDir },
        containerd: {
          default_runtime_name: 'runc',
          runtimes: {
            runc: {
              runtime_type: 'io.containerd.runc.v2',
              options: { BinaryName: options.runc, SystemdCgroup: options.systemdCgroup },
            },
          },
        },
      },
    },
  };
  return `${ownHead}${toToml(mergeToml(base, options.settings))}`;
}

export interface RegistrySource {
  /** domain:port of the registry that all images come from. */
  readonly registryHost: string;
  /** PEM of the CA that signed its certificate; undefined: one that the host trusts. */
  readonly ca?: string | undefined;
  /** Public registry -> path in this one, where that is not the one that a load of a bundle gives it. */
  readonly rewrites?: Readonly<Record<string, string>>;
}

/**
 * hosts.toml of one registry whose images the site's registry has. `server` itself is the site's registry: with a `[host]` entry only,
 * containerd would fall back to the internet.
 * @param registry as image names have it, e.g. registry.k8s.io
 */
export function hostsToml(registry: string, { registryHost, ca, rewrites = {} }: RegistrySource): string {
  const folder = rewrites[registry]?.replace(/\/+$/, '') ?? localFolder(registry);
  const path = registry === registryHost ? '/v2' : `/v2/${folder}`;
  const table = {
    server: `https://${registryHost}${path}`,
    capabilities: ['pull', 'resolve'],
    ...(ca === undefined ? {} : { ca: containerdPaths.ca }),
    override_path: true,
  };
  return `${ownHead}${toToml(table)}`;
}

export function crictlConfig(): string {
  const endpoint = `unix://${containerdPaths.socket}`;
  return `${ownHead}runtime-endpoint: ${endpoint}\nimage-endpoint: ${endpoint}\ntimeout: 30\n`;
}
