// BKECluster: what a cluster needs besides Kubernetes itself (Cluster API contract v1beta2, InfraCluster).
import { z } from 'zod';
import {
  anyMapping,
  conditions,
  endpoint,
  errorReport,
  listBy,
  nameRef,
  port,
  templateMetadata,
  time,
  withRules,
} from './common.ts';

const registry = z.object({
  host: z.string().min(1).max(253),
  port,
  ca: z.string().max(65_536).optional().describe('PEM'),
  secretRef: nameRef.optional().describe('Secret with `username` and `password`.'),
  rewrites: z.record(z.string(), z.string().max(253)).optional().describe('Public registry -> path in this one.'),
});

/** Reach the programs of every node as they are. */
const settings = z.object({
  kubelet: anyMapping.optional(),
  kubeProxy: anyMapping.optional(),
  containerd: anyMapping.optional(),
  ignoreChecks: z.array(z.string().max(63)).max(128).optional(),
});

const addon = z.object({
  name: z.string().min(1).max(53),
  chart: z.string().min(1).max(253).optional(),
  version: z.string().min(1).max(64).optional(),
  namespace: z.string().min(1).max(63).optional(),
  values: anyMapping.optional(),
});

const fields = z.object({
  controlPlaneEndpoint: endpoint.optional(),
  loadBalancer: z
    .enum(['keepalived', 'external'])
    .optional()
    .describe('Absent: the endpoint is the only control plane itself.'),
  cni: z.enum(['flannel', 'none']),
  management: z.boolean().optional().describe('It becomes the management cluster.'),
  registry: registry.optional().describe("Absent: the site's own."),
  ntp: z.array(z.string().min(1).max(253)).max(16).optional().describe("Absent: the site's own, or none."),
  settings: settings.optional(),
  addons: listBy('name', z.array(addon).max(64)).optional(),
});

const spec = withRules(fields, [
  {
    rule: '!has(self.loadBalancer) || has(self.controlPlaneEndpoint)',
    message: 'loadBalancer needs controlPlaneEndpoint: the address it has',
  },
  {
    // Certificates of the API server and kubeconfigs of every node are made for it.
    rule: '!has(oldSelf.controlPlaneEndpoint) || oldSelf.controlPlaneEndpoint.host == "" || (has(self.controlPlaneEndpoint) && self.controlPlaneEndpoint == oldSelf.controlPlaneEndpoint)',
    message: 'controlPlaneEndpoint cannot be changed once it is set',
  },
  { rule: 'self.cni == oldSelf.cni', message: 'cni cannot be changed: pods would lose their network' },
]);

/** requirements: states of a cluster, with the reason, since when, and what holds it. */
const state = z.object({
  name: z.string().max(32),
  reason: z.string().max(256).optional(),
  message: z.string().max(4096).optional(),
  since: time,
  host: z.string().max(253).optional(),
  step: z.string().max(253).optional(),
});

const status = z.object({
  initialization: z.object({ provisioned: z.boolean().optional() }).optional(),
  conditions,
  state: state.optional(),
  history: z.array(state).max(100).optional().describe('The newest last.'),
  stages: listBy(
    'name',
    z.array(z.object({ name: z.string().max(63), started: time, ended: time.optional() })).max(16),
  ).optional(),
  addons: listBy(
    'name',
    z
      .array(
        z.object({
          name: z.string().max(53),
          version: z.string().max(64).optional(),
          phase: z.string().max(32),
          message: z.string().max(4096).optional().describe('Why it is not ready yet.'),
          namespaces: z.array(z.string().max(63)).max(64).optional().describe('Their pods count for the health.'),
          error: errorReport.optional(),
        }),
      )
      .max(64),
  ).optional(),
});

export const bkeCluster = z.object({ spec, status: status.optional() });
export type BKEClusterSpec = z.infer<typeof spec>;

/** For a ClusterClass: the endpoint comes with each cluster, so that nothing is required between the fields. */
export const bkeClusterTemplate = z.object({
  spec: z.object({ template: z.object({ metadata: templateMetadata.optional(), spec: fields.partial() }) }),
});
