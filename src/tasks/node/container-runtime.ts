// containerd with runc, crictl and the CNI plugins on one host, pulling every image from one registry of the site only.
import { readAsset } from '../../lib/assets.ts';
import { lastLog, startAnew } from '../../host/systemd.ts';
import { fillTemplate } from '../../lib/template.ts';
import { lastLine } from '../../lib/text.ts';
import type { TomlTable } from '../../lib/toml.ts';
import type { Task, TaskScope } from '../task.ts';
import { hasUnifiedCgroups } from './cgroups.ts';
import {
  containerdConfig,
  containerdPaths,
  crictlConfig,
  hostsToml,
  type RegistrySource,
} from './containerd-config.ts';
import { crictl, pullFailed, pullImage } from './images.ts';
import { installPrograms, linkPrograms, type ProgramArtifact, programFolder, restartKey } from './programs.ts';

export interface ContainerRuntimeParameters extends Omit<RegistrySource, 'ca'> {
  readonly containerd: ProgramArtifact;
  readonly runc: ProgramArtifact;
  readonly crictl: ProgramArtifact;
  readonly cniPlugins: ProgramArtifact;
  /** Public registries whose images that one has. */
  readonly mirrored: readonly string[];
  /** Public name of the pause image. */
  readonly sandboxImage: string;
  /** Merged into config.toml. */
  readonly settings: TomlTable;
}

export type RegistryCa = Pick<RegistrySource, 'ca'>;

const unitName = 'containerd.service';

/** Directories that containerd, the kubelet and network programs fill. */
export const runtimeZones = [
  containerdPaths.root,
  containerdPaths.state,
  containerdPaths.cniConfigDir,
  containerdPaths.cniBinDir,
  '/var/lib/cni',
  // containerd's plugin interface makes it at every start.
  '/run/nri',
];

export const containerRuntimeTask: Task<ContainerRuntimeParameters, RegistryCa> = {
  name: 'node/container-runtime',
  title: ({ containerd }) => `containerd ${containerd.version}`,
  timeoutMs: 10 * 60_000,
  run: runContainerRuntime,
};

async function runContainerRuntime(
  scope: TaskScope,
  parameters: ContainerRuntimeParameters & RegistryCa,
): Promise<void> {
  for (const path of runtimeZones) await scope.apply({ kind: 'zone', path });
  const programs = await installRuntimePrograms(scope, parameters);
  await linkPrograms(scope, programs);
  const config = await writeConfiguration(scope, parameters, programs.runc);
  const unit = await readAsset('assets/containerd/containerd.service');
  await scope.apply({
    kind: 'unit',
    name: unitName,
    text: fillTemplate(unit, { program: programs.containerd, config: containerdPaths.config }),
    enabled: true,
    running: true,
    restartKey: restartKey(config, parameters.containerd.digest, parameters.runc.digest),
  });
  await waitForRuntime(scope, programs.crictl);
}

/** Returns where each program is that people and services call by name. */
async function installRuntimePrograms(scope: TaskScope, parameters: ContainerRuntimeParameters) {
  const containerd = await installPrograms(scope, parameters.containerd);
  const runc = await installPrograms(scope, parameters.runc);
  const crictl = await installPrograms(scope, parameters.crictl);
  await installCniPlugins(scope, parameters.cniPlugins);
  return {
    containerd: await containerd.path('containerd'),
    'containerd-shim-runc-v2': await containerd.path('containerd-shim-runc-v2'),
    ctr: await containerd.path('ctr'),
    runc: await runc.path('runc'),
    crictl: await crictl.path('crictl'),
  };
}

/** Everything under /etc/containerd and crictl's file. Returns what a restart of containerd depends on; hosts.toml is read on every pull. */
async function writeConfiguration(
  scope: TaskScope,
  parameters: ContainerRuntimeParameters & RegistryCa,
  runc: string,
): Promise<string> {
  const { registryHost, ca, mirrored, rewrites = {} } = parameters;
  const file = (path: string, text: string): Promise<boolean> =>
    scope.apply({ kind: 'file', path, mode: 0o644, content: { text } });
  if (ca !== undefined) await file(containerdPaths.ca, ca);
  for (const name of new Set([...mirrored, ...Object.keys(rewrites), registryHost])) {
    await file(`${containerdPaths.certsDir}/${name}/hosts.toml`, hostsToml(name, parameters));
  }
  await file(containerdPaths.crictl, crictlConfig());
  const config = containerdConfig({
    sandboxImage: parameters.sandboxImage,
    systemdCgroup: await hasUnifiedCgroups(scope),
    runc,
    settings: parameters.settings,
  });
  await file(containerdPaths.config, config);
  return config;
}

/** Plain files, not links: network programs that run in containers see /opt/cni/bin, but nothing that a link in it leads to. */
async function installCniPlugins(scope: TaskScope, artifact: ProgramArtifact): Promise<void> {
  await installPrograms(scope, artifact);
  const folder = programFolder(artifact);
  const { files } = scope.host;
  const inBin = (await files.stat(`${folder}/bin`))?.type === 'directory' ? `${folder}/bin` : folder;
  for (const name of await files.list(inBin)) {
    const source = `${inBin}/${name}`;
    const stat = await files.stat(source);
    if (stat?.type !== 'file' || (stat.mode & 0o111) === 0) continue;
    const content = { source, digest: await files.digest(source) };
    await scope.apply({ kind: 'file', path: `${containerdPaths.cniBinDir}/${name}`, mode: 0o755, content });
  }
}

/** containerd goes on without the part that speaks with the kubelet where that cannot begin; only a new start tries it again. */
const lacksKubernetes = /unknown service runtime\./;

async function waitForRuntime(scope: TaskScope, program: string): Promise<void> {
  let startedAnew = false;
  await scope.wait({
    for: `containerd to answer on ${containerdPaths.socket}`,
    timeoutMs: 60_000,
    intervalMs: 500,
    next: `journalctl -u ${unitName}`,
    probe: async () => {
      const result = await scope.host.run([program, 'version'], { timeoutMs: 10_000 });
      if (result.exitCode === 0) return { ready: true };
      if (!lacksKubernetes.test(result.stderr)) return { ready: false, cause: lastLine(result.stderr) };
      const cause = await whyPluginFailed(scope);
      if (!startedAnew) await startAnew(scope.host, unitName);
      startedAnew = true;
      return { ready: false, cause };
    },
  });
}

/** In containerd's own words, from its last start. */
async function whyPluginFailed({ host }: TaskScope): Promise<string> {
  const lines = await lastLog(host, unitName, { lines: 500, timeoutMs: 20_000 });
  const line = lines.findLast((text) => /failed to load plugin.*grpc\.v1\.cri/.test(text));
  const why = /error="((?:[^"\\]|\\.)*)"/.exec(line ?? '')?.[1] ?? 'see its log';
  const mend = why.includes('too many open files')
    ? '; sysctl fs.inotify.max_user_instances is too small for what runs here'
    : '';
  return `its part for Kubernetes did not start: ${why}${mend}`;
}

export interface PullProofParameters {
  /** Public name, e.g. registry.k8s.io/pause:3.10.2. */
  readonly image: string;
  readonly registryHost: string;
}

/** Asks the registry itself: what containerd has already is no proof of what it could pull. */
export interface RegistryLook {
  /** A line for each part of the image that the registry lacks. @throws BkeError where it does not answer. */
  readonly missingParts: () => Promise<readonly string[]>;
}

/** Pulls one image by its public name: the only proof that names, mirrors, certificates and store fit together. */
export const pullProofTask: Task<PullProofParameters, RegistryLook> = {
  name: 'node/pull-proof',
  title: ({ image }) => `Pull ${image} from the local registry`,
  timeoutMs: 5 * 60_000,
  found: 'proven',
  run: async (scope, parameters) => {
    const { image, registryHost, missingParts } = parameters;
    const present = await hasImage(scope, image);
    if (scope.dryRun && present) return;
    const missing = scope.dryRun ? [] : await missingParts();
    if (missing.length > 0) throw pullFailed(scope, parameters, missing.join('; '));
    // containerd asks the registry by all the ways of a pull also for what it has; nothing changes then.
    if (present) await pullImage(scope, parameters);
    else await scope.act(`pull ${image} from ${registryHost}`, () => pullImage(scope, parameters));
  },
};

/** Asks only, so that a dry run may do it too; on its first run there is no crictl yet. */
async function hasImage(scope: TaskScope, image: string): Promise<boolean> {
  if ((await scope.host.files.stat(crictl)) === undefined) return false;
  const result = await scope.host.run([crictl, 'inspecti', '-q', image], { timeoutMs: 15_000 });
  return result.exitCode === 0;
}
