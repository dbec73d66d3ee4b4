// The bootstrap cluster by K3s, set up by bke's own unit and files instead of K3s's install script (docs/adr/0002-own-k3s-unit.md).
import { addressAt, parseCidr } from '../../../lib/cidr.ts';
import { environmentTask } from '../../node/environment.ts';
import { type TaskScope, taskStep } from '../../task.ts';
import type { BootstrapCluster, BootstrapPlan } from '../bootstrap-cluster.ts';
import { waitForCluster } from '../ready.ts';
import { k3sArtifacts } from './artifacts.ts';
import { checkHost, k3sHostTask } from './host.ts';
import { k3sInstallTask } from './install.ts';
import { kubeProxyArgs } from './kube-proxy-args.ts';
import { k3sPaths, k3sUnit } from './paths.ts';
import { waitForServer } from './server.ts';
import { warnOfUnread } from './settings-read.ts';

export { k3sMissing, missingForK3s } from './artifacts.ts';

/** Kubernetes' habit, which people look for: the tenth address of the services' block. */
const dnsAddress = 10;

/** @throws BkeError BKE_K3S_MISSING, BKE_K3S_SETTING */
export function k3sBootstrap(plan: BootstrapPlan): BootstrapCluster {
  const artifacts = k3sArtifacts(plan);
  // Before anything is changed: a setting that has no place is a mistake in a file.
  kubeProxyArgs(plan.settings.kubeProxy);
  // As Kubernetes writes names of nodes.
  const nodeName = plan.hostname.toLowerCase();
  const ready = async (scope: TaskScope): Promise<void> => {
    await waitForServer(scope);
    await waitForCluster(scope, { kubeconfig: k3sPaths.kubeconfig, nodeName, unit: k3sUnit });
    await warnOfUnread(scope, plan.settings);
  };
  const parameters = { ...plan, ...artifacts, nodeName, clusterDNS: clusterDNS(plan.serviceCIDR) };
  const steps = [
    taskStep(k3sHostTask, { version: artifacts.k3s.version }),
    taskStep(environmentTask, { nodeName, nodeIP: plan.hostIP }),
    taskStep(k3sInstallTask, parameters, () => ({ ca: plan.siteCa() })),
    {
      name: 'k3s/ready',
      title: 'API server, node and cluster DNS',
      timeoutMs: 20 * 60_000,
      found: 'proven',
      run: ready,
    },
  ];
  const title = `Bootstrap cluster (K3s ${artifacts.k3s.version})`;
  return {
    kind: 'k3s',
    version: artifacts.k3s.version,
    kubeconfig: k3sPaths.kubeconfig,
    check: (host) => checkHost(host, artifacts.k3s.version),
    install: () => [{ id: 'bootstrap-cluster', title, chains: [{ host: plan.host, steps }], stopOnFailure: true }],
    ready,
  };
}

function clusterDNS(serviceCIDR: string): string {
  const block = parseCidr(serviceCIDR);
  if (block === undefined) throw new Error(`${serviceCIDR} is no block of addresses`);
  return addressAt(block, dnsAddress);
}
