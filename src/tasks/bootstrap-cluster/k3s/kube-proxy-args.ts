// Settings of kube-proxy as its options: inside K3s it takes no configuration file without losing what K3s itself tells it.
import type { JsonObject, JsonValue } from '../../../config/node-settings.ts';
import { BkeError } from '../../../lib/errors.ts';
import { isMapping } from '../../../lib/is-mapping.ts';

/** Field of KubeProxyConfiguration -> option (kubernetes cmd/kube-proxy/app/options.go). */
export const kubeProxyOptions: Readonly<Record<string, string>> = {
  bindAddressHardFail: 'bind-address-hard-fail',
  'clientConnection.burst': 'kube-api-burst',
  'clientConnection.contentType': 'kube-api-content-type',
  'clientConnection.qps': 'kube-api-qps',
  configSyncPeriod: 'config-sync-period',
  'conntrack.maxPerCore': 'conntrack-max-per-core',
  'conntrack.min': 'conntrack-min',
  'conntrack.tcpBeLiberal': 'conntrack-tcp-be-liberal',
  'conntrack.tcpCloseWaitTimeout': 'conntrack-tcp-timeout-close-wait',
  'conntrack.tcpEstablishedTimeout': 'conntrack-tcp-timeout-established',
  'conntrack.udpStreamTimeout': 'conntrack-udp-timeout-stream',
  'conntrack.udpTimeout': 'conntrack-udp-timeout',
  enableProfiling: 'profiling',
  healthzBindAddress: 'healthz-bind-address',
  'iptables.localhostNodePorts': 'iptables-localhost-nodeports',
  'iptables.masqueradeAll': 'masquerade-all',
  'iptables.masqueradeBit': 'iptables-masquerade-bit',
  'iptables.minSyncPeriod': 'iptables-min-sync-period',
  'iptables.syncPeriod': 'iptables-sync-period',
  metricsBindAddress: 'metrics-bind-address',
  mode: 'proxy-mode',
  nodePortAddresses: 'nodeport-addresses',
  oomScoreAdj: 'oom-score-adj',
};

/** The kernel's own limits stay as they are: a single node that only manages needs no others, and what is not set need not be set back. */
const untouchedLimits: JsonObject = { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' };

const described = new Set(['apiVersion', 'kind']);

/** The settings of the site over what bke sets. */
export function kubeProxyFields(settings: JsonObject): JsonObject {
  const conntrack = settings['conntrack'];
  return { ...settings, conntrack: { ...untouchedLimits, ...(isMapping(conntrack) ? conntrack : {}) } };
}

/**
 * As `option=value`, sorted.
 * @throws BkeError BKE_K3S_SETTING naming every field that has no option.
 */
export function kubeProxyArgs(settings: JsonObject): string[] {
  const wanted = new Map(leaves(kubeProxyFields(settings)));
  const unknown = [...wanted.keys()].filter((field) => kubeProxyOptions[field] === undefined);
  if (unknown.length > 0) {
    throw new BkeError('BKE_K3S_SETTING', `kube-proxy inside K3s has no option for ${unknown.join(', ')}`, {
      hint: 'Leave these out of spec.settings.kubeProxy, or make the cluster with --bootstrap kubeadm.',
    });
  }
  // null: not this one.
  const given = [...wanted].filter(([, value]) => value !== null);
  return given.map(([field, value]) => `${kubeProxyOptions[field]}=${valueText(value)}`).sort();
}

function leaves(settings: JsonObject, above = ''): [string, JsonValue][] {
  return Object.entries(settings).flatMap(([name, value]): [string, JsonValue][] => {
    if (above === '' && described.has(name)) return [];
    const field = `${above}${name}`;
    return isMapping(value) ? leaves(value, `${field}.`) : [[field, value]];
  });
}

function valueText(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(String).join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
