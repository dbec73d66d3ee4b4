// The version that a file of bke names: the one that this bke reads, or words about who reads it.
import { z } from 'zod';
import { truncate } from '../lib/text.ts';

export const apiVersion = 'bke.io/v1alpha1';

/** The field `apiVersion` of every file that people write. A file of a later bke is told to be that. */
export const apiVersionField = z.string().superRefine((text, context) => {
  if (text === apiVersion) return;
  const shown = JSON.stringify(truncate(text, 40));
  const message = text.startsWith('bke.io/')
    ? `${shown} is not known to this bke, which reads ${apiVersion}: it takes a newer bke`
    : `must be ${apiVersion}, but is ${shown}`;
  context.addIssue({ code: 'custom', message });
});
