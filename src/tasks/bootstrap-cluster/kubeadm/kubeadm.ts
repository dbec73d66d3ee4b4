// The bootstrap cluster by kubeadm: the same node tasks as every cluster, with one control plane that also runs pods.
import type { Phase, Step } from '../../../operations/operation.ts';
import { environmentTask } from '../../node/environment.ts';
import { imagesTask } from '../../node/images.ts';
import { kubernetesTask } from '../../node/kubernetes.ts';
import { type TaskScope, taskStep } from '../../task.ts';
import type { BootstrapCluster, BootstrapPlan } from '../bootstrap-cluster.ts';
import { reachBy } from '../client.ts';
import { waitForCluster } from '../ready.ts';
import { type KubeadmArtifacts, kubeadmArtifacts, programOf } from './artifacts.ts';
import { kubeadmConfig } from './config.ts';
import { applyDns } from './dns.ts';
import { checkHost } from './host.ts';
import { initCluster } from './init.ts';
import { applyNetwork } from './network.ts';
import { kubeadmPaths, kubeletUnit } from './paths.ts';
import { systemTrouble } from './system-trouble.ts';

export { missingForKubeadm } from './artifacts.ts';

export function kubeadmBootstrap(plan: BootstrapPlan): BootstrapCluster {
  const artifacts = kubeadmArtifacts(plan);
  const nodeName = plan.hostname.toLowerCase();
  const ready = (scope: TaskScope): Promise<void> =>
    waitForCluster(scope, { kubeconfig: kubeadmPaths.kubeconfig, nodeName, unit: kubeletUnit, systemTrouble });
  return {
    kind: 'kubeadm',
    version: artifacts.version,
    kubeconfig: kubeadmPaths.kubeconfig,
    check: (host) => checkHost(host, artifacts.version),
    install: () => phases(plan, { artifacts, nodeName, ready }),
    ready,
  };
}

const reach = reachBy(kubeadmPaths.kubeconfig);

interface Parts {
  readonly artifacts: KubeadmArtifacts;
  readonly nodeName: string;
  readonly ready: (scope: TaskScope) => Promise<void>;
}

function phases(plan: BootstrapPlan, parts: Parts): Phase<TaskScope>[] {
  const phase = (id: string, title: string, steps: readonly Step<TaskScope>[]): Phase<TaskScope> => ({
    id,
    title,
    chains: [{ host: plan.host, steps }],
    stopOnFailure: true,
  });
  return [
    phase('node', 'Make this host ready to be a node', nodeSteps(plan, parts)),
    phase('cluster', 'Bootstrap cluster', clusterSteps(plan, parts)),
  ];
}

function nodeSteps(plan: BootstrapPlan, { artifacts, nodeName }: Parts): Step<TaskScope>[] {
  const { filesDir, hostIP, settings, registryHost } = plan;
  const { kubeadm, kubelet, kubectl } = artifacts.programs;
  const programs = {
    kubeadm: programOf(kubeadm, filesDir),
    kubelet: programOf(kubelet, filesDir),
    kubectl: programOf(kubectl, filesDir),
  };
  return [
    {
      name: 'kubeadm/host',
      title: 'No other Kubernetes is here',
      timeoutMs: 60_000,
      found: 'proven',
      run: (scope) => checkHost(scope.host, artifacts.version),
    },
    taskStep(environmentTask, { nodeName, nodeIP: hostIP }),
    taskStep(kubernetesTask, { ...programs, nodeIP: hostIP, settings }),
    taskStep(imagesTask, { images: artifacts.images, registryHost }),
  ];
}

function clusterSteps(plan: BootstrapPlan, { artifacts, nodeName, ready }: Parts): Step<TaskScope>[] {
  const { version, etcdTag, corednsTag, flannel } = artifacts;
  const { hostIP, port, podCIDR, serviceCIDR, settings } = plan;
  const endpoint = { host: hostIP, port };
  const options = { version, nodeName, hostIP, port, podCIDR, serviceCIDR, etcdTag, corednsTag, settings };
  return [
    {
      name: 'kubeadm/init',
      title: `Kubernetes ${version} by kubeadm`,
      timeoutMs: 20 * 60_000,
      run: (scope) => initCluster(scope, { nodeName, config: kubeadmConfig(options), reach }),
    },
    {
      name: 'kubeadm/network',
      title: `Network of the pods: flannel ${flannel.version}`,
      timeoutMs: 5 * 60_000,
      run: (scope) => applyNetwork(scope, { podCIDR, endpoint, file: `${plan.filesDir}/${flannel.path}`, reach }),
    },
    { name: 'kubeadm/dns', title: "The cluster's DNS", timeoutMs: 10 * 60_000, run: (scope) => applyDns(scope, reach) },
    { name: 'kubeadm/ready', title: 'The cluster is ready', timeoutMs: 20 * 60_000, found: 'proven', run: ready },
  ];
}
