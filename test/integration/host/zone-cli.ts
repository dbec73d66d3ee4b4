// Applies or undoes one zone through a ledger of its own: the part of a mount test that runs in its namespace.
import { openLedger } from '../../../src/host/ledger/ledger.ts';
import { openLocalHost } from '../../../src/host/local/local-host.ts';

const [verb, path = '', stateDir = ''] = process.argv.slice(2);
const host = await openLocalHost();
const ledger = await openLedger(host, { operation: 'zone', command: `zone ${verb}`, stateDir });
if (verb === 'apply') await ledger.apply('node', { kind: 'zone', path });
else {
  for (const resource of ledger.resources())
    process.stdout.write(`${JSON.stringify([resource.key, await ledger.undo(resource)])}\n`);
}
await ledger.close();
