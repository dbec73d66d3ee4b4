// A watch: one long answer of the API server, event by event, ended where nothing comes for too long.
import type { IncomingMessage } from 'node:http';
import { BkeError } from '../lib/errors.ts';
import { tryJson } from '../lib/try-json.ts';
import { linesOf, readWhole } from './body.ts';
import { createBound } from './bound.ts';
import type { WatchEvent } from './client.ts';
import { fieldAt, isKubeObject, textAt } from './fields.ts';
import { faultOf, type Requester } from './requester.ts';
import { statusError, statusOfObject } from './status-error.ts';

export interface WatchRequest {
  readonly path: string;
  /** For messages. */
  readonly what: string;
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
}

/** The API server sends a bookmark about every minute; without one the connection is taken for dead. */
const silenceMs = 150_000;

/** Ends when the server ends it or the signal aborts. @throws BkeError as KubeClient.watch does */
export async function* watchEvents(requester: Requester, request: WatchRequest): AsyncGenerator<WatchEvent> {
  const { signal } = request;
  if (signal.aborted) return;
  const bound = createBound(silenceMs, signal);
  let response: IncomingMessage | undefined;
  try {
    response = await requester.open({ method: 'GET', path: request.path }, bound.signal);
    if (response.statusCode !== 200) throw await refusal(response, request.what);
    yield { type: 'BOOKMARK', resourceVersion: request.resourceVersion };
    for await (const line of linesOf(response)) {
      bound.renew();
      if (line !== '') yield eventOf(line, request.what);
    }
  } catch (thrown) {
    if (signal.aborted) return;
    throw faultOf(thrown, bound, signal);
  } finally {
    bound.release();
    response?.destroy();
  }
}

async function refusal(response: IncomingMessage, what: string): Promise<BkeError> {
  return statusError({ what, status: response.statusCode ?? 0, body: await readWhole(response) });
}

function eventOf(line: string, what: string): WatchEvent {
  const event = tryJson(line);
  const type = textAt(event, 'type');
  const object = fieldAt(event, 'object');
  if (type === 'ERROR') throw statusOfObject(what, object);
  if (isKubeObject(object)) {
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') return { type, object };
    if (type === 'BOOKMARK') return { type, resourceVersion: object.metadata.resourceVersion ?? '' };
  }
  throw new BkeError('BKE_KUBE_FAILED', `${what}: the API server sent something that is no event of a watch`);
}
