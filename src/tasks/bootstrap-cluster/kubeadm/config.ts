// The text of kubeadm's configuration file (kubeadm.k8s.io/v1beta4). Pure, kept as golden files by tests.
import { stringify } from 'yaml';
import type { JsonObject, NodeSettings } from '../../../config/node-settings.ts';
import { isMapping } from '../../../lib/is-mapping.ts';
import { ownHead } from '../../../lib/own-mark.ts';
import { containerdPaths } from '../../node/containerd-config.ts';

export interface KubeadmConfigOptions {
  /** e.g. v1.36.3 */
  readonly version: string;
  readonly nodeName: string;
  readonly hostIP: string;
  readonly port: number;
  readonly podCIDR: string;
  readonly serviceCIDR: string;
  readonly etcdTag: string;
  readonly corednsTag: string;
  readonly settings: Pick<NodeSettings, 'kubelet' | 'kubeProxy' | 'kubeadm'>;
}

const apiVersion = 'kubeadm.k8s.io/v1beta4';
/** Nobody renews the certificates of a cluster that only makes others; whoever can read a key here can read the CA's too. */
const tenYears = '87600h0m0s';

export function kubeadmConfig(options: KubeadmConfigOptions): string {
  const documents = [
    initConfiguration(options),
    clusterConfiguration(options),
    {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      ...withoutNulls({ failSwapOn: false, ...options.settings.kubelet }),
    },
    {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      ...withoutNulls(options.settings.kubeProxy),
    },
  ];
  const texts = documents.map((document) => stringify(document, { lineWidth: 0 }));
  return `${ownHead}${texts.join('---\n')}`;
}

function initConfiguration({ nodeName, hostIP, port, settings }: KubeadmConfigOptions): object {
  return {
    apiVersion,
    kind: 'InitConfiguration',
    // kubeadm makes one whether it is wanted or not, at random; bke deletes it, and where bke was ended first it ends by itself.
    bootstrapTokens: [{ description: 'nobody joins this cluster', ttl: '5m0s' }],
    localAPIEndpoint: { advertiseAddress: hostIP, bindPort: port },
    nodeRegistration: {
      name: nodeName,
      criSocket: `unix://${containerdPaths.socket}`,
      // The one node runs everything.
      taints: [],
      // bke has pulled them.
      imagePullPolicy: 'Never',
      ignorePreflightErrors: settings.kubeadm.ignorePreflightErrors,
    },
  };
}

function clusterConfiguration(options: KubeadmConfigOptions): object {
  const { version, podCIDR, serviceCIDR, etcdTag, corednsTag } = options;
  return {
    apiVersion,
    kind: 'ClusterConfiguration',
    clusterName: 'bke-bootstrap',
    kubernetesVersion: version,
    encryptionAlgorithm: 'ECDSA-P256',
    certificateValidityPeriod: tenYears,
    networking: { podSubnet: podCIDR, serviceSubnet: serviceCIDR, dnsDomain: 'cluster.local' },
    etcd: { local: { dataDir: '/var/lib/etcd', imageTag: etcdTag } },
    dns: { imageTag: corednsTag },
    // Webhooks are called at their pods, not at the address of their Service, for which a host without a default route has no route.
    apiServer: { extraArgs: [{ name: 'enable-aggregator-routing', value: 'true' }] },
  };
}

/** null in settings means: not this one; kubeadm takes a field that is absent for that. */
function withoutNulls(fields: JsonObject): JsonObject {
  const kept = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([name, value]) => [name, isMapping(value) ? withoutNulls(value) : value]));
}
