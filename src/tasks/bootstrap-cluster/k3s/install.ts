// Puts K3s on the host and starts it: every file it is configured by, the token, the program and bke's own unit.
import type { NodeSettings } from '../../../config/node-settings.ts';
import { readAsset } from '../../../lib/assets.ts';
import { fillTemplate } from '../../../lib/template.ts';
import { kubeletDropIn } from '../../node/kubelet-config.ts';
import { setKernelValues } from '../../node/kubernetes.ts';
import { installPrograms, linkPrograms, restartKey } from '../../node/programs.ts';
import type { Task, TaskScope } from '../../task.ts';
import type { BootstrapPlan } from '../bootstrap-cluster.ts';
import type { K3sArtifacts } from './artifacts.ts';
import { k3sConfig, k3sContainerd, k3sRegistries } from './config.ts';
import { kubeProxyArgs, kubeProxyFields } from './kube-proxy-args.ts';
import { k3sFolders, k3sPaths, k3sUnit, k3sZones } from './paths.ts';
import { chooseResolvConf } from './resolv-conf.ts';
import { ensureToken } from './token.ts';

type Planned = Pick<BootstrapPlan, 'hostIP' | 'port' | 'podCIDR' | 'serviceCIDR' | 'registryHost' | 'mirrored'> & {
  readonly settings: Pick<NodeSettings, 'kubelet' | 'kubeProxy' | 'containerd'>;
};

export interface K3sParameters extends Planned, K3sArtifacts {
  readonly nodeName: string;
  /** Address of cluster DNS. */
  readonly clusterDNS: string;
}

interface Made {
  /** PEM of the site CA. */
  readonly ca: string;
}

export const k3sInstallTask: Task<K3sParameters, Made> = {
  name: 'k3s/install',
  title: ({ k3s }) => `K3s ${k3s.version}`,
  timeoutMs: 15 * 60_000,
  run: async (scope, parameters) => {
    await makePlaces(scope);
    await setKernelValues(scope, {
      kubelet: parameters.settings.kubelet,
      kubeProxy: kubeProxyFields(parameters.settings.kubeProxy),
    });
    const program = await (await installPrograms(scope, parameters.k3s)).path('k3s');
    // Called by its name kubectl, the program is one, and finds this cluster by itself.
    await linkPrograms(scope, { k3s: program, kubectl: program });
    const configuration = await writeConfiguration(scope, parameters);
    const unit = await asset('k3s.service');
    await scope.apply({
      kind: 'unit',
      name: k3sUnit,
      text: fillTemplate(unit, { program }),
      enabled: true,
      running: true,
      restartKey: restartKey(parameters.k3s.digest, ...configuration),
    });
  },
};

async function makePlaces(scope: TaskScope): Promise<void> {
  for (const { path, mode } of k3sFolders) {
    // K3s may change modes in its own data directory later.
    if ((await scope.host.files.stat(path)) === undefined) await scope.apply({ kind: 'directory', path, mode });
  }
  await scope.apply({ kind: 'base-chains' });
  for (const path of k3sZones) await scope.apply({ kind: 'zone', path });
}

/** Returns what a restart of K3s depends on: it reads these files at start only. */
async function writeConfiguration(scope: TaskScope, parameters: K3sParameters & Made): Promise<string[]> {
  const { settings, mirrored, registryHost, ca } = parameters;
  const write = async (path: string, text: string, mode = 0o644): Promise<string> => {
    await scope.apply({ kind: 'file', path, mode, content: { text } });
    return text;
  };
  await ensureToken(scope);
  const resolvConf = await chooseResolvConf(scope, parameters.hostIP);
  const config = k3sConfig({
    ...parameters,
    resolvConf: resolvConf.file,
    kubeProxyArgs: kubeProxyArgs(settings.kubeProxy),
  });
  const texts = [
    await write(k3sPaths.ca, ca),
    await write(k3sPaths.registries, k3sRegistries(mirrored, registryHost), 0o600),
    await write(k3sPaths.kubelet, kubeletDropIn(settings.kubelet)),
    await write(k3sPaths.containerdDropIn, k3sContainerd(settings.containerd)),
    ...(resolvConf.text === undefined ? [] : [await write(resolvConf.file, resolvConf.text)]),
    await write(k3sPaths.config, config, 0o600),
  ];
  const { corednsImage: image, clusterDNS } = parameters;
  await write(k3sPaths.coredns, fillTemplate(await asset('coredns.yaml'), { image, clusterDNS }));
  return texts;
}

function asset(name: string): Promise<string> {
  return readAsset(`assets/k3s/${name}`);
}
