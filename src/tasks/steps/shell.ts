// The step `shell`: a command of a person, on hosts whose owner allows it.
import { z } from 'zod';
import { BkeError } from '../../lib/errors.ts';
import { printable } from '../../lib/text.ts';
import { stepKind } from './step.ts';

/** Of stdout and stderr each. */
const mostOutput = 32 * 1024;

export const shellStep = stepKind({
  parameters: z.strictObject({
    command: z.string().min(1).max(65_536),
    timeoutSeconds: z.int().min(1).max(3600).default(60),
    /** BKEHost.spec.allowShell, as the controller read it when it wrote the command. */
    allowShell: z.boolean().default(false),
  }),
  // What it changes nobody can record; the lock would only keep it from looking at a host that is being worked on.
  changes: false,
  title: () => 'Run a command',
  timeoutMs: ({ timeoutSeconds }) => (timeoutSeconds + 10) * 1000,
  run: async ({ scope }, { command, timeoutSeconds, allowShell }) => {
    if (!allowShell) {
      throw new BkeError('BKE_SHELL_NOT_ALLOWED', 'commands of people are not allowed on this host', {
        host: scope.host.name,
        hint: 'Allow them with spec.allowShell of its BKEHost, or use SSH.',
      });
    }
    const { exitCode, stdout, stderr } = await scope.host.run(['/bin/sh', '-c', command], {
      timeoutMs: timeoutSeconds * 1000,
      maxOutputBytes: mostOutput,
      signal: scope.signal,
    });
    return { exitCode, stdout: printable(stdout), stderr: printable(stderr) };
  },
});
