// The reset command whose question is answered with yes after a shell script has run: confirm-driver.ts SCRIPT
import { spawnSync } from 'node:child_process';
import type { CommandContext } from '../../../src/commands/context.ts';
import { runReset } from '../../../src/commands/reset/handler.ts';
import { openLocalHost } from '../../../src/host/local/local-host.ts';
import { BkeError } from '../../../src/lib/errors.ts';

const [script = ''] = process.argv.slice(2);
const context: CommandContext = {
  env: {},
  cwd: '/',
  textWidth: 80,
  now: () => new Date(),
  operationsDirectory: '/var/lib/bke/operations',
  onStop: () => undefined,
  looksIn: () => undefined,
  signal: new AbortController().signal,
  stdin: process.stdin,
  argv: ['reset', '--all', '--mount'],
  openLocalHost,
  events: () => undefined,
  note: (line) => process.stderr.write(`${line}\n`),
  verbosity: 0,
  confirm: async () => spawnSync('bash', ['-c', script], { stdio: 'inherit' }).status === 0,
};
try {
  await runReset(context, { all: true, mount: true, purgeVolumes: false, dryRun: false, yes: false });
} catch (thrown) {
  if (!(thrown instanceof BkeError)) throw thrown;
  process.stderr.write(`${[thrown.code, thrown.message, ...thrown.details].join('\n')}\n`);
  process.exitCode = thrown.exitCode;
}
