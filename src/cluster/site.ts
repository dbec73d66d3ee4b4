// The site as hosts see it: the local services and the API servers of the management, kept in one ConfigMap that controllers hand on to agents.
import { z } from 'zod';
import type { AgentSite } from '../api/agent-config.ts';
import type { KubeObject, ObjectKey } from '../kube/client.ts';

export interface Site extends AgentSite {
  /** https URLs of the API servers of the management cluster, as hosts reach them. */
  readonly servers: readonly string[];
  /** PEM certificates that those are trusted by. */
  readonly serverCa: string;
}

export const siteKey = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'bke-system', name: 'bke-site' } as const;

/** Of bke's controllers one is at work: the holder of this lease. */
export const controllerLeaseKey = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  namespace: 'bke-system',
  name: 'bke-controller-manager',
} as const;

const port = z.string().regex(/^\d{1,5}$/, 'no port');
const data = z.object({
  domain: z.string().min(1),
  'host-ip': z.string().min(1),
  'registry-port': port,
  'files-port': port,
  'charts-port': port,
  'site-ca.crt': z.string().min(1),
  'api-servers': z.string().min(1),
  'api-ca.crt': z.string().min(1),
});

export function siteObject(site: Site): KubeObject {
  const values: z.input<typeof data> = {
    domain: site.domain,
    'host-ip': site.hostIP,
    'registry-port': String(site.ports.registry),
    'files-port': String(site.ports.files),
    'charts-port': String(site.ports.charts),
    'site-ca.crt': site.ca,
    'api-servers': site.servers.join('\n'),
    'api-ca.crt': site.serverCa,
  };
  const { apiVersion, kind, ...metadata } = siteKey satisfies ObjectKey;
  return { apiVersion, kind, metadata, data: values };
}

/** @returns what is wrong with the object, as one line, where it can't be used */
export function siteOf(object: KubeObject): Site | string {
  const parsed = data.safeParse(object['data']);
  if (!parsed.success) {
    return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  }
  const values = parsed.data;
  return {
    domain: values.domain,
    hostIP: values['host-ip'],
    ports: {
      registry: Number(values['registry-port']),
      files: Number(values['files-port']),
      charts: Number(values['charts-port']),
    },
    ca: values['site-ca.crt'],
    servers: values['api-servers'].split(/\s+/).filter((server) => server !== ''),
    serverCa: values['api-ca.crt'],
  };
}
