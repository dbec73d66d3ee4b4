import { createServer } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { openLocalHost } from '../../../../src/host/local/local-host.ts';
import { readLibraryVersions } from '../../../../src/tasks/preflight/libraries.ts';
import { parseSockets, readListeners } from '../../../../src/tasks/preflight/listeners.ts';
import { readMachine } from '../../../../src/tasks/preflight/read-machine.ts';

const host = await openLocalHost();
afterAll(() => host.close());

describe('looking at this machine', () => {
  it('finds who listens on a port', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const found = await readListeners(host, [port]);
    expect(found).toMatchObject([{ port, address: '127.0.0.1', pid: process.pid, ours: false }]);
    await new Promise((resolve) => server.close(resolve));
    expect(await readListeners(host, [port])).toEqual([]);
  });

  it('reads the versions of its libraries from the libraries', async () => {
    const { glibc, glibcxx } = await readLibraryVersions(host);
    expect(glibc).toBe(glibcOfNode());
    expect(glibcxx).toMatch(/^3\.4\.\d+$/);
  });

  it('sees room, directories and what is missing', async () => {
    const needs = {
      ports: [],
      space: [{ path: '/var/lib/none/of/this', bytes: 1, use: 'x' }],
      tools: ['mount', 'no-such-program'],
      reachable: ['/var/lib/none'],
      runtime: false,
    };
    const machine = await readMachine(host, needs, new Date());
    expect(machine.system).toBe('Linux');
    expect(machine.missingTools).toEqual(['no-such-program']);
    expect(machine.directories.map(({ path }) => path)).toEqual(['/', '/var', '/var/lib']);
    expect(machine.free.get('/var/lib/none/of/this')?.bytes).toBeGreaterThan(0);
  });
});

function glibcOfNode(): string | undefined {
  const report: unknown = process.report.getReport();
  const header: unknown = typeof report === 'object' && report !== null ? Reflect.get(report, 'header') : undefined;
  const version: unknown =
    typeof header === 'object' && header !== null ? Reflect.get(header, 'glibcVersionRuntime') : undefined;
  return typeof version === 'string' ? version : undefined;
}

describe('the table of sockets', () => {
  it('is read for those that listen, in both families', () => {
    const text = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:9DFC 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0',
      '   1: 00000000000000000000000000000000:9DFB 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0',
      '   2: 0100007F:9DFC 0100007F:1234 01 00000000:00000000 00:00000000 00000000     0        0 13 1 0',
    ].join('\n');
    expect(parseSockets(text)).toEqual([
      { port: 40_444, address: '127.0.0.1', inode: '11' },
      { port: 40_443, address: '*', inode: '12' },
    ]);
  });
});
