// BKEHost: a machine that clusters can be made of. All that must outlive a move is in its spec; its status is derived.
import { z } from 'zod';
import { anyMapping, conditions, int32, labels, nameRef, objectName, port, time, withRules } from './common.ts';

const login = {
  user: z.string().min(1).max(64),
  port,
  secretRef: nameRef.optional().describe('Secret with what logs in; absent: nothing is kept, the host is not dialled.'),
  hostKeys: z
    .array(z.string().max(2048))
    .max(16)
    .optional()
    .describe('SHA256:… or public keys. Without any the host is never dialled.'),
};

const ssh = z.object({
  ...login,
  bastions: z
    .array(
      z.object({
        address: z.string().min(1).max(253),
        user: login.user,
        port: login.port,
        hostKeys: login.hostKeys,
      }),
    )
    .max(4)
    .optional()
    .describe(
      'Hosts to go through, the first one is dialled from here. Their secrets lie in the Secret of the host, by their place in this list.',
    ),
  retain: z.boolean().describe('false: the Secret goes once the agent is up.'),
});

const taint = z.object({
  key: z.string().min(1).max(316),
  value: z.string().max(63).optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
});

const spec = withRules(
  z.object({
    address: z.string().min(1).max(64),
    nodeIP: z.string().min(1).max(64).optional().describe('Of the node; absent: the address.'),
    roles: z
      .array(z.enum(['control-plane', 'worker']))
      .min(1)
      .max(2)
      .meta({ 'x-kubernetes-list-type': 'set' }),
    labels: labels.optional(),
    taints: z.array(taint).max(32).optional(),
    ssh: ssh.optional(),
    allowShell: z.boolean().optional().describe('Commands of people may be run on it through its inbox.'),
    services: z.boolean().optional().describe('It carries the local services and is never claimed.'),
    consumerRef: z
      .object({ namespace: objectName, name: objectName })
      .optional()
      .describe('The claim: which BKEMachine has it. Names only: a move changes every UID.'),
    claimID: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('New with each claim: a host that is used again is another one to Kubernetes.'),
    cleanUpPending: z.boolean().optional().describe('What a cluster left on it is not proven to be gone.'),
    quarantine: z
      .object({ reason: z.string().min(1).max(1024), since: time })
      .optional()
      .describe('It could not be cleaned and is not handed out until a person says so.'),
    maintenance: z
      .object({ reason: z.string().max(1024), since: time })
      .optional()
      .describe('Nothing new is done to it.'),
  }),
  [
    { rule: 'has(self.consumerRef) == has(self.claimID)', message: 'consumerRef and claimID come and go together' },
    {
      rule: '!has(self.consumerRef) || !has(self.services) || !self.services',
      message: 'the host of the local services cannot be claimed',
    },
    {
      rule: '!has(self.consumerRef) || has(oldSelf.consumerRef) || !has(self.quarantine)',
      message: 'a host in quarantine cannot be claimed',
    },
    {
      rule: '!has(self.consumerRef) || has(oldSelf.consumerRef) || !has(self.cleanUpPending) || !self.cleanUpPending',
      message: 'a host that is not cleaned cannot be claimed',
    },
    {
      rule: '!has(self.consumerRef) || !has(oldSelf.consumerRef) || self.consumerRef == oldSelf.consumerRef',
      message: 'a claimed host must be released before another machine can have it',
    },
    {
      rule: '!has(self.consumerRef) || self.address == oldSelf.address',
      message: 'address cannot be changed while a machine has the host',
      fieldPath: '.address',
    },
  ],
);

const status = z.object({
  facts: anyMapping.optional().describe('What the host is, as it was last probed.'),
  agent: z.object({ version: z.string().max(64), lastSeen: time }).optional(),
  leaseGeneration: int32.optional(),
  conditions,
});

export const bkeHost = z.object({ spec, status: status.optional() });
export type BKEHostSpec = z.infer<typeof spec>;
