// Holds a lease in a process of its own and writes as fast as it can, so that a test can kill, stop or block it: kubeconfig, name, identity.
// Prints `held` and `lost`; a line on stdin is a number of ms for which nothing else runs. Writes ConfigMaps NAME-0 … NAME-3.
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { createKubeClient } from '../../../src/kube/create-client.ts';
import { connectionFromKubeconfig } from '../../../src/kube/kubeconfig.ts';
import { holdLease } from '../../../src/kube/lease.ts';

const [file = '', name = '', identity = ''] = process.argv.slice(2);
const read = (path: string): Promise<string> => readFile(path, 'utf8');
const connection = await connectionFromKubeconfig(await read(file), { file, readFile: read });
const timing = { durationMs: 2000, renewDeadlineMs: 1200, requestTimeoutMs: 600, retryMs: 200 };
const options = { client: createKubeClient(connection), namespace: 'default', name, identity, timing };
const lease = await holdLease(options, new AbortController().signal);
process.stdout.write('held\n');
lease.signal.addEventListener('abort', () => process.stdout.write('lost\n'));
createInterface(process.stdin).on('line', (line) => {
  const end = performance.now() + Number(line);
  while (performance.now() < end);
});

const client = createKubeClient(connection, lease.fence);

/** Goes on whatever happens: only the fence holds it back. */
async function write(index: number): Promise<never> {
  for (let count = 0; ; count += 1) {
    const metadata = { namespace: 'default', name: `${name}-${index}` };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { by: identity, count: String(count) } };
    await client.apply(object, { fieldManager: 'lease-cli' }).catch(() => undefined);
    // Also where it was held back at once.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
await Promise.all([0, 1, 2, 3].map((index) => write(index)));
