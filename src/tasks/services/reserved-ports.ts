// Keeps the kernel from giving the services' ports to outgoing connections: they lie in the ephemeral range (ip_local_reserved_ports in the kernel's ip-sysctl.rst).
import type { Ports } from '../../config/bootstrap.ts';
import { formatPortRanges, parsePortRanges } from '../../lib/port-ranges.ts';
import type { TaskScope } from '../task.ts';

const SYSCTL = 'net.ipv4.ip_local_reserved_ports';
const LIVE = '/proc/sys/net/ipv4/ip_local_reserved_ports';
export const reservedPortsFile = '/etc/sysctl.d/90-bke-services.conf';

/** Adds to what is reserved already; the file has the whole list, because a later file replaces the value of an earlier one. */
export async function reservePorts(scope: TaskScope, ports: Ports): Promise<void> {
  const live = (await scope.host.files.read(LIVE))?.toString('utf8') ?? '';
  const value = formatPortRanges([...parsePortRanges(live), ...Object.values(ports)]);
  const text = `# Written by bke: ports of the local services, and what was reserved before.\n${SYSCTL} = ${value}\n`;
  await scope.apply({ kind: 'file', path: reservedPortsFile, mode: 0o644, content: { text } });
  await scope.apply({ kind: 'sysctl', name: SYSCTL, value });
}
