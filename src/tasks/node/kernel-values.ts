// Kernel values that kubelet and kube-proxy set by themselves. bke sets them first, so that the record knows what they were before. Pure.
import type { JsonObject, JsonValue } from '../../config/node-settings.ts';
import { isMapping } from '../../lib/is-mapping.ts';

export type KernelValues = Readonly<Record<string, string>>;

/** What kubelet sets unless it is told to fail instead (Kubernetes, pkg/kubelet/cm/container_manager_linux.go, setupKernelTunables). */
export function kubeletKernelValues(settings: JsonObject): KernelValues {
  if (settings['protectKernelDefaults'] === true) return {};
  return {
    'vm.overcommit_memory': '1',
    'vm.panic_on_oom': '0',
    'kernel.panic': '10',
    'kernel.panic_on_oops': '1',
    'kernel.keys.root_maxkeys': '1000000',
    'kernel.keys.root_maxbytes': '25000000',
  };
}

/**
 * What kube-proxy sets (Kubernetes, pkg/proxy/conntrack/sysctls.go and pkg/proxy/iptables/proxier.go), its own defaults included.
 * @param buckets of the connection table now; it is only ever made larger.
 */
export function kubeProxyKernelValues(
  settings: JsonObject,
  { cpus, buckets }: { readonly cpus: number; readonly buckets: number },
): KernelValues {
  const conntrack = object(settings['conntrack']);
  const max = conntrackMax(conntrack, cpus);
  const seconds = (field: string, fallback: string): number => durationSeconds(conntrack[field] ?? fallback);
  const timeouts = {
    tcp_timeout_established: seconds('tcpEstablishedTimeout', '24h'),
    tcp_timeout_close_wait: seconds('tcpCloseWaitTimeout', '1h'),
    udp_timeout: seconds('udpTimeout', '0s'),
    udp_timeout_stream: seconds('udpStreamTimeout', '0s'),
  };
  return {
    ...(max === 0 ? {} : { 'net.netfilter.nf_conntrack_max': String(max) }),
    ...(buckets >= Math.floor(max / 4) ? {} : { 'net.netfilter.nf_conntrack_buckets': String(Math.floor(max / 4)) }),
    ...Object.fromEntries(
      Object.entries(timeouts).flatMap(([name, value]) =>
        value === 0 ? [] : [[`net.netfilter.nf_conntrack_${name}`, String(value)]],
      ),
    ),
    ...(conntrack['tcpBeLiberal'] === true ? { 'net.netfilter.nf_conntrack_tcp_be_liberal': '1' } : {}),
    ...(opensLocalNodePorts(settings) ? { 'net.ipv4.conf.all.route_localnet': '1' } : {}),
  };
}

const maxLimit = 1_048_576;

function conntrackMax({ maxPerCore = 32_768, min = 131_072 }: JsonObject, cpus: number): number {
  const scaled = Number(maxPerCore) * cpus;
  if (!(scaled > 0)) return 0;
  return scaled > maxLimit ? maxLimit : Math.max(scaled, Number(min));
}

/** In iptables mode, the default, node ports answer on loopback too unless told otherwise. */
function opensLocalNodePorts(settings: JsonObject): boolean {
  const { mode = '', nodePortAddresses = [] } = settings;
  if (mode !== '' && mode !== 'iptables') return false;
  if (object(settings['iptables'])['localhostNodePorts'] === false) return false;
  return !Array.isArray(nodePortAddresses) || nodePortAddresses.length === 0 || includesLoopback(nodePortAddresses);
}

function includesLoopback(blocks: readonly JsonValue[]): boolean {
  return blocks.some((block) => block === '0.0.0.0/0' || (typeof block === 'string' && block.startsWith('127.')));
}

function object(value: JsonValue | undefined): JsonObject {
  return isMapping(value) ? value : {};
}

const unitSeconds: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

/** A duration as Go writes it, in whole seconds: 1h30m, 24h0m0s. */
function durationSeconds(value: JsonValue): number {
  if (typeof value !== 'string') return 0;
  let seconds = 0;
  for (const [, count, unit] of value.matchAll(/([\d.]+)(h|ms|m|s|us|ns)/g)) {
    seconds += Number(count) * (unitSeconds[unit ?? ''] ?? 0);
  }
  return Math.floor(seconds);
}
