// Which file tells pods their name servers, and whether it names any.
import { isIP } from 'node:net';
import type { Host } from '../../../host/host.ts';
import { k3sPaths } from './paths.ts';

/** systemd-resolved keeps the servers behind its own address here. */
const candidates = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'];

export interface NameServers {
  /** What the kubelet is told. */
  readonly file: string;
  /** false: pods have no name server beyond the cluster's own. */
  readonly any: boolean;
}

/**
 * The first file all of whose servers pods can reach. An address of the host's own loopback is the pod's own inside a pod; with such a file, or
 * without any server, K3s would write one of its own that names a public server (k3s-io/k3s pkg/agent/config/config.go).
 */
export async function findNameServers(host: Host): Promise<NameServers> {
  for (const file of candidates) {
    const text = (await host.files.read(file).catch(() => undefined))?.toString('utf8') ?? '';
    if (isUsable(text)) return { file, any: true };
  }
  return { file: k3sPaths.resolvConf, any: false };
}

/** Whether a resolv.conf names servers, and only such as K3s takes for usable. */
export function isUsable(text: string): boolean {
  const servers = [...text.matchAll(/^nameserver\s+(\S*)/gm)].map((match) => match[1] ?? '');
  return servers.length > 0 && servers.every(isGlobal);
}

/** Neither loopback, link-local, multicast nor unspecified. */
function isGlobal(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !/^(127|0|22[4-9]|23\d|255\.255\.255\.255)\b|^169\.254\./.test(address);
  return version === 6 && !/^(::1?$|fe[89ab]|ff)/i.test(address);
}
