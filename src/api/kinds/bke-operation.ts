// BKEOperation: a change of a cluster that outlives whoever asked for it, with the events that front ends show.
import { z } from 'zod';
import { anyMapping, conditions, errorReport, int32, listBy, objectName, time, withRules } from './common.ts';

const operationActions = ['create', 'scale', 'upgrade', 'delete', 'move', 'repair'] as const;

/** Events that are kept: older ones are in nobody's view any more. */
const mostEvents = 500;

const spec = withRules(
  z.object({
    action: z.enum(operationActions),
    target: z.object({ kind: z.enum(['Cluster', 'BKEHost']), name: objectName }),
    parameters: anyMapping.optional(),
    planDigest: z
      .string()
      .max(71)
      .regex(/^sha256:[0-9a-f]{64}$/)
      .optional()
      .describe('Of the plan a person agreed to: something else than that is not carried out.'),
    cancelRequested: z.boolean().optional(),
    retryToken: z.string().max(64).optional().describe('A new one asks for another attempt.'),
  }),
  [
    {
      rule: 'self.action == oldSelf.action && self.target == oldSelf.target',
      message: 'an operation stays what it is: make another one',
    },
    {
      rule: 'has(self.planDigest) == has(oldSelf.planDigest) && (!has(self.planDigest) || self.planDigest == oldSelf.planDigest)',
      message: 'the plan was agreed to: make another operation',
    },
    {
      rule: '!has(oldSelf.cancelRequested) || !oldSelf.cancelRequested || (has(self.cancelRequested) && self.cancelRequested)',
      message: 'a cancel cannot be taken back',
    },
  ],
);

/** Of one phase, and of one host in it. Untouched: nothing was begun there. */
const hostState = z.enum(['Running', 'Done', 'Failed', 'Stopped', 'Untouched']);

const status = z.object({
  phase: z.enum(['Pending', 'Running', 'Done', 'Failed', 'Cancelled']).optional(),
  started: time.optional(),
  finished: time.optional(),
  retryToken: z.string().max(64).optional().describe('Which retryToken the attempt is for.'),
  error: errorReport.optional(),
  phases: listBy(
    'name',
    z
      .array(
        z.object({
          name: z.string().max(63),
          state: z.enum(['Running', 'Done', 'Failed', 'Stopped']),
          started: time,
          finished: time.optional(),
        }),
      )
      .max(16),
  ).optional(),
  hosts: listBy(
    'name',
    z
      .array(
        z.object({
          name: objectName.describe('A host; `cluster/<name>` for what belongs to none.'),
          phase: z.string().max(63).optional(),
          step: z.string().max(253).optional(),
          state: hostState,
          since: time.describe('When the step began.'),
          message: z.string().max(1024).optional().describe('What it waits for, and why.'),
          told: time.optional().describe('When an event said so last.'),
          troubled: time.optional().describe('Since when something is wrong with it that may pass.'),
          changed: z.boolean().optional(),
          error: errorReport.optional(),
        }),
      )
      .max(2001),
  ).optional(),
  events: z
    .array(z.object({ seq: int32, at: time, type: z.string().max(63), data: anyMapping.optional() }))
    .max(mostEvents)
    .optional()
    .describe('A ring, the newest last; `data` is as in the events of local operations.'),
  conditions,
});

export const bkeOperation = z.object({ spec, status: status.optional() });
export type BKEOperationSpec = z.infer<typeof spec>;
export type BKEOperationStatus = z.infer<typeof status>;
