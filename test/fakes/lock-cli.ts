// A bke that holds the lock of a state directory while a program of it runs: lock-cli.ts STATE_DIR PROGRAM…
import { openLedger } from '../../src/host/ledger/ledger.ts';
import { openLocalHost } from '../../src/host/local/local-host.ts';

const [stateDir = '', program = 'true', ...args] = process.argv.slice(2);
const host = await openLocalHost();
const ledger = await openLedger(host, { operation: 'test', command: 'bke init', stateDir });
await host.run([program, ...args]);
await ledger.close();
