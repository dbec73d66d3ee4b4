// HostCommand: the inbox of one host's agent. It has the host's name; there is never more than one.
import { z } from 'zod';
import { anyMapping, errorReport, int32, listBy, nameRef, time, withRules } from './common.ts';

const stepID = z.string().min(1).max(63);

const spec = withRules(
  z.object({
    commandID: z
      .string()
      .min(8)
      .max(64)
      .regex(/^[a-z0-9-]+$/)
      .describe('New with every write: an agent never runs the same one twice.'),
    operationRef: nameRef.optional(),
    leaseGeneration: int32.describe(
      "Of the controller's lease: an agent refuses a command that is older than one it has seen.",
    ),
    cancelRequested: z.boolean().optional().describe('The agent ends the step it is in and starts no further one.'),
    steps: listBy(
      'id',
      z.array(z.object({ id: stepID, task: z.string().min(1).max(63), parameters: anyMapping.optional() })).max(64),
    ).describe('In this order; the first that fails ends the command.'),
  }),
  [
    {
      rule: 'self.leaseGeneration >= oldSelf.leaseGeneration',
      message: 'a controller that is not the leader any more wrote this',
    },
    {
      rule: 'self.commandID != oldSelf.commandID || self.steps == oldSelf.steps',
      message: 'other steps need a new commandID',
    },
  ],
);

const stepStatus = z.object({
  id: stepID,
  state: z.enum(['Pending', 'Running', 'Done', 'Failed', 'Cancelled']),
  attempt: int32,
  started: time.optional(),
  finished: time.optional(),
  message: z.string().max(1024).optional().describe('What it does or waits for now.'),
  result: anyMapping
    .optional()
    .describe('What it found out, as its task says; bounded by the agent, { omitted } where it was too much.'),
  error: errorReport.optional(),
});
export type HostCommandStep = z.infer<typeof stepStatus>;

const status = z.object({
  commandID: z.string().max(64).optional().describe('Which command the steps are of.'),
  steps: listBy('id', z.array(stepStatus).max(64)).optional(),
});

export type HostCommandSpec = z.infer<typeof spec>;
export type HostCommandStatus = z.infer<typeof status>;

/** For who keeps them elsewhere than in a cluster. */
export const hostCommandSpec = spec;
export const hostCommandStep = stepStatus;
export const hostCommand = z.object({ spec, status: status.optional() });
