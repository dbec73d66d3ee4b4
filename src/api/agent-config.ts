// What the agent of a host is told when it is installed (`bke agent install` reads it as JSON on stdin), and what its objects in the cluster are called.
import { isIP } from 'node:net';
import { z } from 'zod';
import { isDnsName, isHostName } from '../lib/dns-name.ts';

const pem = z.string().regex(/-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/, 'no certificate in PEM');
const port = z.int().min(1).max(65_535);

const server = z.string().refine(isServer, 'no https address of an API server, e.g. https://10.0.0.5:6443');

function isServer(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.search === '' && url.hash === '';
}

const site = z.strictObject({
  domain: z.string().refine((name) => isDnsName(name), 'no DNS name'),
  hostIP: z.string().refine((text) => isIP(text) !== 0, 'no IP address'),
  ports: z.strictObject({ registry: port, files: port, charts: port }),
  ca: pem.describe('Certificate of the site CA (PEM), or several one after another.'),
});
export type AgentSite = z.infer<typeof site>;

/** Everything but what is secret: kept on the host as it came. */
const settings = {
  host: z
    .string()
    .refine(isHostName, 'no valid name of a host')
    .describe('Name of the BKEHost and of its HostCommand.'),
  namespace: z.string().refine((name) => isDnsName(name) && !name.includes('.'), 'no name of a namespace'),
  servers: z.array(server).min(1).max(16).describe('API servers of one cluster, tried in turn.'),
  ca: pem.describe('Certificates (PEM) that the API servers are trusted by, and no others.'),
  site,
};

export const agentSettings = z.strictObject(settings);
export type AgentSettings = z.infer<typeof agentSettings>;

export const agentConfig = z.strictObject({
  ...settings,
  token: z
    .string()
    .regex(/^[\x21-\x7e]{16,16384}$/, 'no token')
    .describe("Of the host's own service account. One of an hour is enough: the agent gets its own with it at once."),
  broughtTo: z
    .string()
    .startsWith('/')
    .max(4096)
    .optional()
    .describe('Temporary path that this bke was brought to: noted in the ledger, and removed once the agent runs.'),
});
export type AgentConfig = z.infer<typeof agentConfig>;

export interface AgentObjects {
  /** Of ServiceAccount, Role, RoleBinding and Lease alike. */
  readonly account: string;
  readonly hostCommand: string;
  /** Secret with what must not stand in a HostCommand. */
  readonly inbox: string;
}

/** Names of the objects that an agent has in the namespace of its host. */
export function agentObjects(host: string): AgentObjects {
  return { account: `agent-${host}`, hostCommand: host, inbox: `inbox-${host}` };
}

/** On the agent's Lease, beside its heartbeat. */
export const agentAnnotations = {
  version: 'bke.io/agent-version',
  /** Of the host's kernel: another one after a reboot. */
  bootID: 'bke.io/boot-id',
} as const;

/** Seconds after a heartbeat during which an agent is taken to be there (the Lease's leaseDurationSeconds). */
export const heartbeatSeconds = { interval: 10, valid: 40 } as const;
