// The step `collect`: a piece of a log file of the host. Only what is a log: a credential of the cluster must not become a credential of the host.
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Host } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';
import { operationsDirectory } from '../../operations/state-dir.ts';
import { stepKind } from './step.ts';

const most = 64 * 1024;
const folders = ['/var/log/', `${operationsDirectory({}, 0) ?? ''}/`];

export const collectStep = stepKind({
  parameters: z.strictObject({
    path: z.string().startsWith('/').max(4096),
    /** Bytes from the beginning; negative: from the end. */
    offset: z.int().default(0),
    length: z.int().min(1).max(most).default(most),
  }),
  changes: false,
  title: ({ path }) => `Read ${path}`,
  timeoutMs: () => 60_000,
  run: async ({ scope }, { path, offset, length }) => {
    const real = await allowed(scope.host, path);
    const stat = await scope.host.files.stat(real);
    if (stat?.type !== 'file') throw refused(scope.host, path, 'it is no file');
    const start = offset < 0 ? Math.max(0, stat.size + offset) : offset;
    const data = await piece(scope.host.files.stream(real), start, length);
    return { path, size: stat.size, offset: start, encoding: 'base64', data: data.toString('base64') };
  },
});

/** By where it really is: a link may lead anywhere. */
async function allowed(host: Host, path: string): Promise<string> {
  const real = await host.files.realPath(path);
  if (real === undefined) throw refused(host, path, 'it is not there');
  if (!folders.some((folder) => real.startsWith(folder)))
    throw refused(host, path, `only files below ${folders.join(' and ')} are read`);
  return real;
}

function refused(host: Host, path: string, why: string): BkeError {
  return new BkeError('BKE_COLLECT_REFUSED', `${path} is not read: ${why}`, { host: host.name });
}

/** Never more of a file in memory than was asked for. */
async function piece(stream: Readable, start: number, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let at = 0;
  let left = length;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const from = Math.max(0, start - at);
    at += chunk.length;
    if (from >= chunk.length) continue;
    const part = chunk.subarray(from, from + left);
    parts.push(Buffer.from(part));
    left -= part.length;
    if (left === 0) break;
  }
  return Buffer.concat(parts);
}
