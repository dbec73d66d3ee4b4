// Answers one request for files or charts: read-only, and nothing outside the repository can be named.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { renderIndex } from './charts.ts';
import type { Downloads } from './downloads.ts';
import { answerFor, etagOf, sendRange } from './http-file.ts';
import { listingHtml, listingJson, type Listing } from './listing.ts';
import type { Area, FileRepository, OpenFile } from './store.ts';
import { digestOf } from '../../lib/digest.ts';

export interface Site {
  readonly repository: FileRepository;
  readonly area: Area;
  readonly downloads: Downloads;
}

interface Request {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Decoded, begins with a slash. */
  readonly path: string;
}

/** Seconds after which a host that was turned away may come again. */
const retryAfter = '5';

/** Returns the body bytes that were sent. */
export async function handle(site: Site, message: IncomingMessage, response: ServerResponse): Promise<number> {
  response.setHeader('x-content-type-options', 'nosniff');
  if (message.method !== 'GET' && message.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return sendText(message, response, { status: 405, body: 'only GET and HEAD\n' });
  }
  const path = pathOf(message.url ?? '');
  if (path === undefined) return sendText(message, response, { status: 400, body: 'the path cannot be decoded\n' });
  const request = { message, response, path };
  if (path === '/healthz') return sendText(message, response, { status: 200, body: 'ok\n' });
  return site.area === 'charts' ? handleCharts(site, request) : handlePlace(site, request, path);
}

async function handleCharts(site: Site, request: Request): Promise<number> {
  if (request.path === '/index.yaml') return sendIndex(site, request, 'charts/');
  if (request.path === '/charts/index.yaml') return sendIndex(site, request, '');
  if (request.path === '/') return redirect(request, '/charts/');
  const [, rest] = /^\/charts(\/.*)$/s.exec(request.path) ?? [];
  return rest === undefined ? notFound(request) : handlePlace(site, request, rest);
}

/** @param place path in the area, begins with a slash. */
async function handlePlace(site: Site, request: Request, place: string): Promise<number> {
  const path = place.slice(1);
  if (path === '' || path.endsWith('/')) return sendListing(site, request, path.slice(0, -1));
  const open = await site.repository.open(site.area, path);
  if (open !== undefined) return sendAndClose(site, request, open);
  const folder = await site.repository.entries(site.area, path);
  return folder === undefined ? notFound(request) : redirect(request, `${request.path}/`);
}

async function sendAndClose(site: Site, request: Request, open: OpenFile): Promise<number> {
  try {
    return await sendFile(site, request, open);
  } finally {
    await open.handle.close();
  }
}

async function sendFile(
  site: Site,
  { message, response }: Request,
  { handle: bytes, file }: OpenFile,
): Promise<number> {
  const answer = answerFor(message.headers, file);
  response.setHeader('etag', etagOf(file));
  response.setHeader('last-modified', file.modified.toUTCString());
  response.setHeader('accept-ranges', 'bytes');
  if (answer.status === 304) return sendEmpty(response, 304);
  if (answer.status === 416) {
    response.setHeader('content-range', `bytes */${file.size}`);
    return sendText(message, response, { status: 416, body: 'the file ends before this range\n' });
  }
  const { start, length } = answer.range;
  const download = message.method === 'GET' ? site.downloads.begin(message, response) : undefined;
  if (message.method === 'GET' && download === undefined) {
    response.setHeader('retry-after', retryAfter);
    return sendText(message, response, { status: 429, body: 'too many downloads at once; come again\n' });
  }
  response.setHeader('content-type', file.path.endsWith('.tgz') ? 'application/gzip' : 'application/octet-stream');
  response.setHeader('content-length', length);
  if (answer.status === 206) response.setHeader('content-range', `bytes ${start}-${start + length - 1}/${file.size}`);
  if (download === undefined) return sendEmpty(response, answer.status);
  try {
    response.writeHead(answer.status);
    const sent = await sendRange(bytes, answer.range, response, (taken) => download.took(taken));
    response.end();
    return sent;
  } finally {
    download.end();
  }
}

async function sendIndex(site: Site, { message, response }: Request, folder: string): Promise<number> {
  const body = renderIndex(await site.repository.charts(), folder);
  const etag = etagOf({ digest: digestOf(body) });
  response.setHeader('etag', etag);
  if (message.headers['if-none-match'] === etag) return sendEmpty(response, 304);
  return sendText(message, response, { status: 200, body, type: 'application/yaml' });
}

async function sendListing(site: Site, request: Request, folder: string): Promise<number> {
  const { message, response, path } = request;
  const entries = await site.repository.entries(site.area, folder);
  if (entries === undefined) return notFound(request);
  const bad = site.area === 'charts' ? (await site.repository.charts()).bad : undefined;
  const listing: Listing = { path, entries, ...(bad === undefined ? {} : { bad }) };
  const json = /\bapplication\/json\b/.test(message.headers.accept ?? '');
  response.setHeader('vary', 'accept');
  const body = json ? listingJson(listing) : listingHtml(listing);
  return sendText(message, response, {
    status: 200,
    body,
    type: json ? 'application/json' : 'text/html; charset=utf-8',
  });
}

function redirect({ message, response }: Request, to: string): number {
  response.setHeader('location', to.split('/').map(encodeURIComponent).join('/'));
  return sendText(message, response, { status: 301, body: 'it is a folder\n' });
}

function notFound({ message, response }: Request): number {
  return sendText(message, response, { status: 404, body: 'there is no such file\n' });
}

interface TextAnswer {
  readonly status: number;
  readonly body: string | Buffer;
  readonly type?: string;
}

export function sendText(
  message: IncomingMessage,
  response: ServerResponse,
  { status, body, type }: TextAnswer,
): number {
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-type': type ?? 'text/plain; charset=utf-8', 'content-length': bytes.length });
  response.end(message.method === 'HEAD' ? undefined : bytes);
  return message.method === 'HEAD' ? 0 : bytes.length;
}

function sendEmpty(response: ServerResponse, status: number): number {
  if (!response.headersSent) response.writeHead(status);
  response.end();
  return 0;
}

function pathOf(url: string): string | undefined {
  const [path = ''] = url.split(/[?#]/);
  try {
    const decoded = decodeURIComponent(path);
    return decoded.startsWith('/') ? decoded : undefined;
  } catch {
    return undefined;
  }
}
