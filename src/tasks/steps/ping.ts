// The step `ping`: the agent takes commands, and says who it is.
import { z } from 'zod';
import { bkeVersion } from '../../lib/version.ts';
import { stepKind } from './step.ts';

export const pingStep = stepKind({
  parameters: z.strictObject({}),
  changes: false,
  title: () => 'Answer',
  timeoutMs: () => 30_000,
  run: async ({ scope }) => ({
    version: await bkeVersion(),
    hostname: scope.host.name,
    time: new Date().toISOString(),
    bootID: (await scope.host.files.read('/proc/sys/kernel/random/boot_id'))?.toString('utf8').trim() ?? '',
  }),
});
