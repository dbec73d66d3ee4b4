// Removes one tree with the product's own function and prints the result as JSON: the part of a mount test that runs in its namespace.
import { removeTree } from '../../../src/host/changes/remove-tree.ts';
import type { Host } from '../../../src/host/host.ts';
import { LocalFiles } from '../../../src/host/local/local-files.ts';
import { openLocalHost } from '../../../src/host/local/local-host.ts';

const [path = '', view = 'view', ...keep] = process.argv.slice(2);
const local = await openLocalHost();
const host: Host =
  view === 'view' ? local : { ...local, name: local.name, files: new LocalFiles({ privateView: false }) };
const result = await removeTree(host, path, { keep: new Set(keep), timeoutMs: 60_000 });
process.stdout.write(JSON.stringify(result));
