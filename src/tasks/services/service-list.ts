// The local services as data: unit, port, and how to see that one answers. Status, start, stop and the waits of init all use it.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { hostPort } from '../../lib/address.ts';
import { unitNames } from './layout.ts';
import type { ProbeTarget } from './probe.ts';

export type ServiceId = 'registry' | 'registry-push' | 'files' | 'charts';

export interface LocalService {
  readonly id: ServiceId;
  readonly unit: string;
  /** As other hosts reach it. */
  readonly url: string;
  /** Part of the data directory it serves. */
  readonly data: 'registry' | 'files' | 'charts';
  readonly probe: Omit<ProbeTarget, 'ca'>;
  /** The HTTP status of a healthy answer: 401 where a login is asked for. */
  readonly healthy: number;
}

export function localServices(settings: BootstrapSettings): LocalService[] {
  const { domain, hostIP, ports, pushOpen } = settings;
  const at = (address: string, port: number, path: string) => ({ address, port, path, serverName: domain });
  const url = (host: string, port: number): string => `https://${hostPort(host, port)}`;
  const pushAddress = pushOpen ? hostIP : '127.0.0.1';
  return [
    {
      id: 'registry',
      unit: unitNames.registry,
      url: url(domain, ports.registry),
      data: 'registry',
      probe: at(hostIP, ports.registry, '/v2/'),
      healthy: 200,
    },
    {
      id: 'registry-push',
      unit: unitNames.registryPush,
      url: url(pushOpen ? domain : '127.0.0.1', ports.registryPush),
      data: 'registry',
      probe: at(pushAddress, ports.registryPush, '/v2/'),
      healthy: 401,
    },
    {
      id: 'files',
      unit: unitNames.files,
      url: url(domain, ports.files),
      data: 'files',
      probe: at(hostIP, ports.files, '/healthz'),
      healthy: 200,
    },
    {
      id: 'charts',
      unit: unitNames.files,
      url: url(domain, ports.charts),
      data: 'charts',
      probe: at(hostIP, ports.charts, '/index.yaml'),
      healthy: 200,
    },
  ];
}
