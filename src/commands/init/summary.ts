// What stands after `bke init`, and what a person is likely to type next.
import { hostPort } from '../../lib/address.ts';
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import type { BootstrapCluster } from '../../tasks/bootstrap-cluster/bootstrap-cluster.ts';
import { type ArtifactSource, providerVersion } from '../../tasks/cluster-api/artifacts.ts';
import { providers } from '../../tasks/cluster-api/providers.ts';
import { serviceUrls } from '../../tasks/services/layout.ts';

export interface Standing {
  readonly settings: BootstrapSettings;
  readonly cluster: BootstrapCluster | undefined;
  /** What the managers in the cluster are made of. */
  readonly release: ArtifactSource;
  /** This run changed something. */
  readonly changed: boolean;
  /** A cluster is made next. */
  readonly goesOn: boolean;
}

export function summaryLines({ settings, cluster, release, changed, goesOn }: Standing): string[] {
  const { registry, files, charts } = serviceUrls(settings);
  return [
    changed ? 'Set up on this host:' : 'Nothing to do. On this host are set up already:',
    `  images      ${registry}`,
    `  files       ${files}`,
    `  charts      ${charts}`,
    ...(cluster === undefined ? ['  containerd  which pulls from there'] : clusterLines(settings, cluster, release)),
    ...(goesOn ? [] : ['next:', '  bke status', ...(cluster === undefined ? [] : clusterCommands)]),
  ];
}

const clusterCommands = ['  bke config init -o cluster.yaml', '  bke cluster create -f cluster.yaml'];

function clusterLines(
  { hostIP, ports }: BootstrapSettings,
  { kind, version, kubeconfig }: BootstrapCluster,
  release: ArtifactSource,
): string[] {
  const managers = providers.map((provider) => `${provider.title} ${providerVersion(release, provider) ?? 'unknown'}`);
  return [
    `  cluster     https://${hostPort(hostIP, ports.kubernetes)}, Kubernetes ${version} by ${kind}`,
    `  kubeconfig  ${kubeconfig}`,
    `  managers    ${managers.join(', ')}`,
  ];
}
