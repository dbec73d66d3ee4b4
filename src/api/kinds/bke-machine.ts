// BKEMachine and its template: a node's claim to a host (Cluster API contract v1beta2, InfraMachine).
import { z } from 'zod';
import { conditions, labels, nameRef, templateMetadata, withRules } from './common.ts';

const spec = withRules(
  z.object({
    providerID: z
      .string()
      .max(512)
      .regex(/^bke:\/\/[^/]+\/[^/]+\/[^/]+$/)
      .optional()
      .describe('bke://<namespace>/<host>/<claim id>, once a host is claimed.'),
    hostSelector: z.object({ matchLabels: labels }).optional().describe('Hosts that may be claimed.'),
    hostRef: nameRef.optional().describe('The host that is claimed, or the only one that may be.'),
  }),
  [
    {
      rule: '!has(oldSelf.providerID) || (has(self.providerID) && self.providerID == oldSelf.providerID)',
      message: 'providerID cannot be changed: the node is known by it',
    },
    {
      rule: '!has(self.providerID) || has(self.hostRef)',
      message: 'providerID follows from hostRef',
    },
    {
      rule: '!has(oldSelf.providerID) || (has(self.hostRef) && has(oldSelf.hostRef) && self.hostRef.name == oldSelf.hostRef.name)',
      message: 'hostRef cannot be changed while the node is on it',
    },
  ],
);

const address = z.object({
  type: z.enum(['Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS']),
  address: z.string().min(1).max(253),
});

const status = z.object({
  initialization: z.object({ provisioned: z.boolean().optional() }).optional(),
  addresses: z.array(address).max(32).optional(),
  conditions,
});

export const bkeMachine = z.object({ spec, status: status.optional() });

/** A machine takes it over when it is made. */
const templateSpec = z.object({
  template: z.object({
    metadata: templateMetadata.optional(),
    spec: z.object({ hostSelector: z.object({ matchLabels: labels }).optional() }),
  }),
});

export const bkeMachineTemplate = z.object({ spec: templateSpec });
export type BKEMachineTemplateSpec = z.infer<typeof templateSpec>;
export type BKEMachineSpec = z.infer<typeof spec>;
