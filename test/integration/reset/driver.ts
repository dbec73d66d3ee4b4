// The reset command alone, as a process of its own inside a sandbox.
import { openLocalHost } from '../../../src/host/local/local-host.ts';
import { main } from '../../../src/cli/main.ts';
import { reset } from '../../../src/commands/reset/reset.ts';

process.exitCode = await main(process.argv.slice(2), { commands: [reset], openLocalHost });
