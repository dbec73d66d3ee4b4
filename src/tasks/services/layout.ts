// Where everything of the local services is on their host, and what it is called.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import { hostPort } from '../../lib/address.ts';

/** The system user all services run as. */
export const serviceUser = 'bke';
/** Name of the login for pushes. */
export const pushUser = 'bke';

export const unitNames = {
  registry: 'bke-registry.service',
  registryPush: 'bke-registry-push.service',
  files: 'bke-files.service',
} as const;

const configDir = '/etc/bke/services';
const pkiDir = '/var/lib/bke/pki';

export const servicePaths = {
  configDir,
  /** Settings of the last init: what status, start and a later init go by. */
  settings: `${configDir}/settings.json`,
  /** What the last finished load brought. */
  content: `${configDir}/content.json`,
  registryConfig: `${configDir}/registry.yaml`,
  registryPushConfig: `${configDir}/registry-push.yaml`,
  htpasswd: `${configDir}/htpasswd`,
  certificate: `${configDir}/tls.crt`,
  /** 0600, of the services' user. */
  key: `${configDir}/tls.key`,
  /** The site CA's certificate for everyone on this host. */
  siteCa: '/etc/bke/site-ca.crt',
  pkiDir,
  /** 0600, root: who has it can pass for every service of the site. */
  siteCaKey: `${pkiDir}/site-ca.key`,
  siteCaCertificate: `${pkiDir}/site-ca.crt`,
  /** 0600, root: the login for pushes in clear, for bke's own loads. */
  pushPassword: `${pkiDir}/registry-push.password`,
} as const;

export interface DataPaths {
  readonly registry: string;
  readonly files: string;
  readonly charts: string;
  /** What loads know about the files; the service only reads it. */
  readonly digests: string;
}

/** The parts of the data directory; each is a zone. */
export function dataPaths(dataDir: string): DataPaths {
  return {
    registry: `${dataDir}/registry`,
    files: `${dataDir}/files`,
    charts: `${dataDir}/charts`,
    digests: `${dataDir}/.digests`,
  };
}

export interface ServiceUrls {
  /** domain:port, as image names and certs.d have it. */
  readonly registryHost: string;
  readonly registry: string;
  readonly registryPush: string;
  readonly files: string;
  readonly charts: string;
}

export function serviceUrls({ domain, ports }: BootstrapSettings): ServiceUrls {
  return {
    registryHost: hostPort(domain, ports.registry),
    registry: `https://${hostPort(domain, ports.registry)}`,
    registryPush: `https://${hostPort('127.0.0.1', ports.registryPush)}`,
    files: `https://${hostPort(domain, ports.files)}`,
    charts: `https://${hostPort(domain, ports.charts)}`,
  };
}
