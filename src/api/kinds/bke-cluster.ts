// BKECluster: what a cluster needs besides Kubernetes itself (Cluster API contract v1beta2, InfraCluster).
import { z } from 'zod';
import { anyMapping, conditions, endpoint, errorReport, listBy, nameRef, port, time, withRules } from './common.ts';

const registry = z.object({
  host: z.string().min(1).max(253),
  port,
  /** PEM */
  ca: z.string().max(65_536).optional(),
  /** Secret with `username` and `password`. */
  secretRef: nameRef.optional(),
  /** Public registry -> path in this one. */
  rewrites: z.record(z.string(), z.string().max(253)).optional(),
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

const spec = withRules(
  z.object({
    controlPlaneEndpoint: endpoint.optional(),
    /** Absent: the endpoint is the only control plane itself. */
    loadBalancer: z.enum(['keepalived', 'external']).optional(),
    cni: z.enum(['flannel', 'none']),
    /** It becomes the management cluster. */
    management: z.boolean().optional(),
    /** Absent: the site's own. */
    registry: registry.optional(),
    /** Absent: the site's own, or none. */
    ntp: z.array(z.string().min(1).max(253)).max(16).optional(),
    settings: settings.optional(),
    addons: listBy('name', z.array(addon).max(64)).optional(),
  }),
  [
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
  ],
);

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
  /** The newest last. */
  history: z.array(state).max(100).optional(),
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
          error: errorReport.optional(),
        }),
      )
      .max(64),
  ).optional(),
});

export const bkeCluster = z.object({ spec, status: status.optional() });
export type BKEClusterSpec = z.infer<typeof spec>;
