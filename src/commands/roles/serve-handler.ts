// The work of `bke serve`: starts the server, logs, and ends it gracefully.
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { readInput } from '../../lib/input.ts';
import { startFileServer } from '../../release/repository/server.ts';
import { openFileRepository } from '../../release/repository/store.ts';
import type { CommandContext } from '../context.ts';
import { openRoleLog } from './log.ts';

/** Downloads that are running may go on for so long after TERM; the unit's TimeoutStopSec is longer. */
const graceMs = 30_000;

export async function runServe(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const address = read.text('address');
  const log = openRoleLog();
  const repository = await openFileRepository(resolve(context.cwd, read.requiredText('dataDir')));
  const server = await startFileServer({
    repository,
    filesPort: read.requiredNumber('filePort'),
    chartsPort: read.requiredNumber('chartPort'),
    tls: {
      certificate: resolve(context.cwd, read.requiredText('tlsCert')),
      key: resolve(context.cwd, read.requiredText('tlsKey')),
    },
    maxStreams: read.requiredNumber('maxDownloads'),
    onAccess: ({ time: _time, ...record }) => log.info(record, 'request'),
    onWarning: (message) => log.warn(message),
    ...(address === undefined ? {} : { address }),
  });
  log.info({ dir: repository.dir, filesPort: server.filesPort, chartsPort: server.chartsPort }, 'listening');
  if (!context.signal.aborted) await once(context.signal, 'abort');
  log.info('stopping');
  await server.stop(graceMs);
  log.info('stopped');
  return { kind: 'none' };
}
