// Holds a lease in a process of its own, so that a test can kill it: kubeconfig, name, identity. Prints `held` and `lost`.
import { readFile } from 'node:fs/promises';
import { createKubeClient } from '../../../src/kube/create-client.ts';
import { connectionFromKubeconfig } from '../../../src/kube/kubeconfig.ts';
import { holdLease } from '../../../src/kube/lease.ts';

const [file = '', name = '', identity = ''] = process.argv.slice(2);
const read = (path: string): Promise<string> => readFile(path, 'utf8');
const client = createKubeClient(await connectionFromKubeconfig(await read(file), { file, readFile: read }));
const timing = { durationMs: 2000, renewDeadlineMs: 1300, retryMs: 200 };
const lease = await holdLease({ client, namespace: 'default', name, identity, timing }, new AbortController().signal);
process.stdout.write('held\n');
lease.signal.addEventListener('abort', () => process.stdout.write('lost\n'));
