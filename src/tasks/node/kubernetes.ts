// kubeadm, kubelet and kubectl on one host, with everything the kubelet needs before kubeadm makes the host a node.
import { readKernelValue } from '../../host/changes/sysctl.ts';
import type { JsonObject, NodeSettings } from '../../config/node-settings.ts';
import { isUp, readUnit } from '../../host/systemd.ts';
import { readAsset } from '../../lib/assets.ts';
import type { Task, TaskScope } from '../task.ts';
import { hasUnifiedCgroups } from './cgroups.ts';
import { kubeletKernelValues, kubeProxyKernelValues, type KernelValues } from './kernel-values.ts';
import { kubeletDropIn, kubeletPaths, kubeletUnit, podResolvConf } from './kubelet-config.ts';
import { installPrograms, linkPrograms, type ProgramArtifact, restartKey } from './programs.ts';

export interface KubernetesParameters {
  readonly kubeadm: ProgramArtifact;
  readonly kubelet: ProgramArtifact;
  readonly kubectl: ProgramArtifact;
  readonly nodeIP: string;
  readonly providerID?: string;
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly settings: Pick<NodeSettings, 'kubelet' | 'kubeProxy'>;
}

/** Directories that kubeadm, the kubelet, the control plane and flannel fill. */
export const kubernetesZones = [
  '/etc/kubernetes',
  '/var/lib/kubelet',
  '/var/lib/etcd',
  '/run/kubeadm',
  '/run/flannel',
  '/var/log/pods',
  '/var/log/containers',
  // The kubelet and the controller manager make it for volume plugins.
  '/usr/libexec/kubernetes',
];

/** What pods of every node take from their host: the kubelet makes those that are missing, and nobody takes them away again. */
const mountedDirectories = ['/lib/modules', '/etc/ssl/certs'];
const mountedFile = '/run/xtables.lock';

export const kubernetesTask: Task<KubernetesParameters> = {
  name: 'node/kubernetes',
  title: ({ kubelet }) => `kubeadm, kubelet and kubectl ${kubelet.version}`,
  timeoutMs: 10 * 60_000,
  run: runKubernetes,
};

async function runKubernetes(scope: TaskScope, parameters: KubernetesParameters): Promise<void> {
  for (const path of kubernetesZones) await scope.apply({ kind: 'zone', path });
  await makeMounted(scope);
  const programs = await installNodePrograms(scope, parameters);
  await linkPrograms(scope, programs);
  await setKernelValues(scope, parameters.settings);
  const configuration = await writeConfiguration(scope, parameters);
  const template = await readAsset('assets/kubelet/kubelet.service');
  await scope.apply({
    kind: 'unit',
    name: kubeletPaths.unit,
    text: kubeletUnit(template, { ...parameters, program: programs.kubelet }),
    enabled: true,
    // kubeadm starts it, once its configuration is there.
    running: 'others',
    restartKey: restartKey(parameters.kubelet.digest, ...configuration),
  });
}

async function makeMounted(scope: TaskScope): Promise<void> {
  const isMissing = async (path: string): Promise<boolean> => (await scope.host.files.stat(path)) === undefined;
  for (const path of mountedDirectories) {
    if (await isMissing(path)) await scope.apply({ kind: 'directory', path, mode: 0o755 });
  }
  if (await isMissing(mountedFile)) {
    await scope.apply({ kind: 'file', path: mountedFile, mode: 0o644, content: { text: '' } });
  }
}

async function installNodePrograms(scope: TaskScope, { kubeadm, kubelet, kubectl }: KubernetesParameters) {
  const path = async (artifact: ProgramArtifact, name: string): Promise<string> =>
    (await installPrograms(scope, artifact)).path(name);
  return {
    kubeadm: await path(kubeadm, 'kubeadm'),
    kubelet: await path(kubelet, 'kubelet'),
    kubectl: await path(kubectl, 'kubectl'),
  };
}

/** Those that this kernel has; what it lacks, kubelet and kube-proxy do without. */
export async function setKernelValues(scope: TaskScope, settings: KubernetesParameters['settings']): Promise<void> {
  const cpus = (await scope.host.files.list('/sys/devices/system/cpu')).filter((name) => /^cpu\d+$/.test(name)).length;
  const buckets = Number((await readKernelValue(scope.host, 'net.netfilter.nf_conntrack_buckets')) ?? 0);
  const values: KernelValues = {
    ...kubeletKernelValues(settings.kubelet),
    ...kubeProxyKernelValues(settings.kubeProxy, { cpus, buckets }),
  };
  for (const [name, value] of Object.entries(values)) {
    if ((await readKernelValue(scope.host, name)) !== undefined) await scope.apply({ kind: 'sysctl', name, value });
  }
}

/** Before kubeadm: the kubelet does not start with an empty or missing directory. Returns what a restart of the kubelet depends on. */
async function writeConfiguration(scope: TaskScope, { nodeIP, settings }: KubernetesParameters): Promise<string[]> {
  const file = async (path: string, text: string): Promise<string> => {
    await scope.apply({ kind: 'file', path, mode: 0o644, content: { text } });
    return text;
  };
  const hosts = await hostResolvConf(scope);
  const resolvConf = podResolvConf(hosts.text, nodeIP);
  const own: JsonObject = {
    // A host's swap is its owner's; pods get none of it (the kubelet's own default, NoSwap).
    failSwapOn: false,
    cgroupDriver: (await hasUnifiedCgroups(scope)) ? 'systemd' : 'cgroupfs',
    resolvConf: resolvConf === undefined ? hosts.path : kubeletPaths.resolvConf,
  };
  return [
    await file(`${kubeletPaths.configDir}/10-bke.conf`, kubeletDropIn(own)),
    await file(`${kubeletPaths.configDir}/50-settings.conf`, kubeletDropIn(settings.kubelet)),
    ...(resolvConf === undefined ? [] : [await file(kubeletPaths.resolvConf, resolvConf)]),
  ];
}

/** As kubeadm chooses it, and said all the same: the list behind systemd-resolved's own server, where that runs. */
async function hostResolvConf({
  host,
}: TaskScope): Promise<{ readonly path: string; readonly text: string | undefined }> {
  const resolved = isUp(await readUnit(host, 'systemd-resolved.service'));
  const path = resolved ? '/run/systemd/resolve/resolv.conf' : '/etc/resolv.conf';
  const real = await host.files.realPath(path);
  const text = real === undefined ? undefined : (await host.files.read(real))?.toString('utf8');
  return { path, text };
}
