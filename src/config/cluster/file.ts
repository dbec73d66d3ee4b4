// cluster.yaml as it is written (docs/guide/cluster-yaml.md): every field with its form. What holds between fields is in check.ts.
import { isIP } from 'node:net';
import { z } from 'zod';
import { isGlobalAddress } from '../../lib/address.ts';
import { isDnsName, isHostName, suggestHostName } from '../../lib/dns-name.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { readKubernetesVersion } from '../../lib/kubernetes-version.ts';
import {
  labelValueProblem,
  qualifiedNameProblem,
  reservedLabelProblem,
  reservedTaintProblem,
  taintEffects,
} from '../../lib/node-labels.ts';
import { truncate } from '../../lib/text.ts';
import { apiVersionField } from '../api-version.ts';
import { type JsonObject, nodeSettingsFile } from '../node-settings.ts';
import { port, reachable, sshFile } from './ssh-file.ts';

export const hostRoles = ['control-plane', 'worker'] as const;
export type HostRole = (typeof hostRoles)[number];
export const loadBalancers = ['keepalived', 'external'] as const;
export type LoadBalancer = (typeof loadBalancers)[number];
/** none: the user installs one. */
export const networkPlugins = ['flannel', 'none'] as const;

/** Text whose problem is told by a function; undefined: there is none. */
function textWith(problem: (text: string) => string | undefined): z.ZodType<string> {
  return z.string().superRefine((text, context) => {
    const message = problem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

function shown(text: string): string {
  return JSON.stringify(truncate(text, 40));
}

/** Names of Machines are made of it, which are labels of at most 63 letters (Cluster API). */
const longestClusterName = 40;

const clusterName = textWith((name) => {
  if (!isDnsName(name) || name.includes('.') || !/^[a-z]/.test(name))
    return `${shown(name)} is no name of a cluster: lower-case letters, digits and -, with a letter first`;
  return name.length > longestClusterName ? `must have at most ${longestClusterName} letters` : undefined;
});

const namespace = textWith((name) => {
  if (!isDnsName(name) || name.includes('.'))
    return `${shown(name)} is no name of a namespace: lower-case letters, digits and -`;
  return name.startsWith('kube-') ? `${name} is a namespace of Kubernetes itself` : undefined;
});

const hostName = textWith((name) =>
  isHostName(name) ? undefined : `${shown(name)} cannot be the name of a node; write ${suggestHostName(name)}`,
);

/** An address is the same everywhere; a name may lead somewhere else on every host. */
const hostAddress = textWith((text) => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  if (mapped !== undefined) return `write ${mapped} instead of ${text}`;
  if (isIP(text) === 0) return `${shown(text)} is no IP address`;
  return isGlobalAddress(text) ? undefined : `${text} cannot be reached from other machines`;
});

/** Kubernetes knows a node by it. */
const nodeAddress = textWith((text) => {
  if (isIP(text) === 6) return `${text} is IPv6, and nodes have IPv4 addresses here`;
  if (isIP(text) === 0) return `${shown(text)} is no IPv4 address`;
  return isGlobalAddress(text) ? undefined : `${text} cannot be reached from other machines`;
});

const labels = z.record(z.string(), z.string()).superRefine((found, context) => {
  for (const [key, value] of Object.entries(found)) {
    const message = qualifiedNameProblem(key) ?? reservedLabelProblem(key) ?? labelValueProblem(value);
    if (message !== undefined) context.addIssue({ code: 'custom', path: [key], message });
  }
});

const taint = z.strictObject({
  key: textWith((key) => qualifiedNameProblem(key) ?? reservedTaintProblem(key)),
  value: textWith(labelValueProblem).optional(),
  effect: z.enum(taintEffects),
});

const role = z.enum(hostRoles);

export const hostFile = z.strictObject({
  name: hostName,
  address: hostAddress,
  roles: z.array(role).min(1),
  nodeIP: nodeAddress.optional(),
  labels: labels.optional(),
  taints: z.array(taint).optional(),
  ssh: sshFile.optional(),
});
export type HostFile = z.infer<typeof hostFile>;

const addon = z.strictObject({
  name: textWith((name) =>
    isDnsName(name) && !name.includes('.') && name.length <= 53
      ? undefined
      : `${shown(name)} is no name of an add-on: at most 53 lower-case letters, digits and -`,
  ),
  chart: z.string().min(1).optional(),
  version: z.string().min(1).optional(),
  namespace: namespaceOfAddon().optional(),
  values: z.custom<JsonObject>(isMapping, { error: 'must be a mapping' }).optional(),
});

/** Add-ons may go to kube-system. */
function namespaceOfAddon(): z.ZodType<string> {
  return textWith((name) =>
    isDnsName(name) && !name.includes('.') ? undefined : `${shown(name)} is no name of a namespace`,
  );
}

const registryHost = textWith((text) => {
  if (text === '' || reachable.safeParse(text).success) return undefined;
  const port = /^[^:/]+:(\d+)$/.exec(text)?.[1];
  const more = port === undefined ? ', without scheme and path' : `: write ${port} into the field port`;
  return `${shown(text)} must be a DNS name or an IP address${more}`;
});

/** Where a site's own registry keeps the images of a public one: `docker.io: mirror/hub`. */
const rewrites = z.record(z.string(), z.string()).superRefine((found, context) => {
  for (const [from, to] of Object.entries(found)) {
    if (!/^[a-z0-9.-]+(:\d+)?$/.test(from))
      context.addIssue({ code: 'custom', path: [from], message: 'stands for no registry, such as docker.io' });
    else if (!/^[a-z0-9._/-]+$/.test(to) || to.startsWith('/'))
      context.addIssue({ code: 'custom', path: [from], message: 'must be a path in the registry, such as mirror/hub' });
  }
});

const registry = z.strictObject({
  /** Empty, like the other texts: not given. */
  host: registryHost.optional(),
  port: port.optional(),
  caFile: z.string().optional(),
  username: z.string().optional(),
  passwordFile: z.string().optional(),
  rewrites: rewrites.optional(),
});

/** Kubernetes left Docker in 1.24: a file that asks for it is told so where it asks. */
const containerRuntime = textWith((name) => {
  if (name === 'containerd') return undefined;
  return name === 'docker'
    ? `Docker is no container runtime of Kubernetes any more (dockershim left it in 1.24), and bke uses containerd: write containerd, or leave the field out`
    : 'must be containerd, or left out';
});

export const clusterFile = z.strictObject({
  apiVersion: apiVersionField,
  kind: z.literal('Cluster'),
  metadata: z.strictObject({ name: clusterName, namespace: namespace.optional() }),
  spec: z.strictObject({
    kubernetesVersion: textWith((text) => {
      const read = readKubernetesVersion(text);
      return 'problem' in read ? read.problem : undefined;
    }),
    management: z.boolean().optional(),
    controlPlaneEndpoint: z.strictObject({ host: reachable.optional(), port: port.optional() }).optional(),
    loadBalancer: z.enum(loadBalancers).optional(),
    containerRuntime: containerRuntime.optional(),
    network: z
      .strictObject({
        podCIDR: z.string().optional(),
        serviceCIDR: z.string().optional(),
        dnsDomain: textWith((name) =>
          isDnsName(name) ? undefined : `${shown(name)} is no DNS name of lower-case labels`,
        ).optional(),
        cni: z.enum(networkPlugins).optional(),
      })
      .optional(),
    registry: registry.optional(),
    ntp: z.array(reachable).optional(),
    settings: nodeSettingsFile.optional(),
    defaults: z
      .strictObject({ ssh: sshFile.optional(), labels: labels.optional(), taints: z.array(taint).optional() })
      .optional(),
    hosts: z.array(hostFile).min(1),
    addons: z.array(addon).optional(),
  }),
});
export type ClusterFile = z.infer<typeof clusterFile>;
