// Makes changes through the ledger of the machine it runs on, so that a reset finds a record: record.ts SCOPE JSON…
import { openLocalHost } from '../../../src/host/local/local-host.ts';
import { openLedger } from '../../../src/host/ledger/ledger.ts';
import type { Change, Scope } from '../../../src/host/changes/change.ts';

const [scope = 'node', ...changes] = process.argv.slice(2);
const host = await openLocalHost();
const ledger = await openLedger(host, { operation: 'test', command: 'bke init' });
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test writes what it wants to be a change
for (const change of changes) await ledger.apply(scope as Scope, JSON.parse(change) as Change);
await ledger.finish();
await ledger.close();
