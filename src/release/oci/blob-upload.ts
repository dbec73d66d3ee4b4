// Pushes a blob: nothing where it is there, a mount where another repository has it, else an upload that survives broken connections.
import { type Readable, Transform } from 'node:stream';
import { BkeError } from '../../lib/errors.ts';
import type { Content, Digest } from '../../lib/digest.ts';
import { backOff } from '../../lib/back-off.ts';
import { isNetworkError, type RegistryConnection } from './registry-connection.ts';

export interface BlobUpload extends Content {
  /** The bytes from `offset` on; asked again after a broken connection. */
  readonly source: (offset: number) => Readable;
  /** A repository of the same registry that may have the blob. */
  readonly mountFrom?: string | undefined;
  /** Bytes that have been handed to the connection, counted from the blob's start. */
  readonly onBytes?: (sent: number) => void;
  readonly signal?: AbortSignal | undefined;
}

export type UploadOutcome = 'present' | 'mounted' | 'sent';

/** Tries without progress: after the third the upload begins anew, the sixth is the last. */
const restartAfter = 3;
const attemptLimit = 6;
const cancelAttempts = 5;
/** The registry hashes the whole blob before it answers the last request: at least so many bytes per second are expected. */
const hashRate = 20 * 1024 * 1024;

/** Where the registry wants the next bytes, and how many it has. */
interface UploadState {
  readonly location: URL;
  readonly offset: number;
}

export async function uploadBlob(
  connection: RegistryConnection,
  repository: string,
  upload: BlobUpload,
): Promise<UploadOutcome> {
  return new Upload(connection, repository, upload).run();
}

/** Bytes of a blob as the registry has it, undefined where it has none. */
export async function blobSize(
  connection: RegistryConnection,
  repository: string,
  digest: Digest,
): Promise<number | undefined> {
  const action = `look for blob ${digest}`;
  const target = `blobs/${digest}`;
  const { statusCode, headers } = await connection.head({
    method: 'HEAD',
    repository,
    target,
    action,
    expect: [200, 404],
  });
  return statusCode === 404 ? undefined : Number(headers['content-length'] ?? 0);
}

class Upload {
  readonly #connection: RegistryConnection;
  readonly #repository: string;
  readonly #blob: BlobUpload;
  readonly #action: string;

  constructor(connection: RegistryConnection, repository: string, blob: BlobUpload) {
    this.#connection = connection;
    this.#repository = repository;
    this.#blob = blob;
    this.#action = `push blob ${blob.digest}`;
  }

  async run(): Promise<UploadOutcome> {
    const there = await this.#sizeThere();
    if (there === this.#blob.size) return 'present';
    // A registry keeps what it has under a digest, whatever is pushed there.
    if (there !== undefined) throw this.#damaged(there);
    const started = await this.#start(this.#blob.mountFrom);
    if (started === 'mounted') return started;
    return this.#connection.naming(this.#action, () => this.#send(started));
  }

  #sizeThere(): Promise<number | undefined> {
    return blobSize(this.#connection, this.#repository, this.#blob.digest);
  }

  #damaged(size: number): BkeError {
    return new BkeError(
      'BKE_REGISTRY_REFUSED',
      `${this.#connection.registry}/${this.#repository} has the blob ${this.#blob.digest} with ${size} bytes instead of ${this.#blob.size}`,
      { hint: 'Its store is damaged: have the blob removed there, then run the same command again.' },
    );
  }

  async #start(mountFrom?: string): Promise<UploadState | 'mounted'> {
    const query =
      mountFrom === undefined
        ? ''
        : `?${new URLSearchParams({ mount: this.#blob.digest, from: mountFrom }).toString()}`;
    const response = await this.#head('POST', `blobs/uploads/${query}`, [201, 202]);
    if (response.statusCode === 201) return 'mounted';
    return { location: this.#location(response.headers.location, this.#connection.base), offset: 0 };
  }

  async #send(first: UploadState): Promise<UploadOutcome> {
    let state = first;
    let attempts = 0;
    while (true) {
      const before = state.offset;
      try {
        if (state.offset < this.#blob.size) state = await this.#patch(state);
        await this.#finish(state.location);
        return 'sent';
      } catch (thrown) {
        attempts += 1;
        if (!canGoOn(thrown) || attempts >= attemptLimit) {
          await this.#cancel(state.location);
          throw thrown;
        }
        await backOff(attempts, 250, this.#blob.signal);
        if ((await this.#sizeThere()) === this.#blob.size) return 'sent';
        state = await this.#resumed(state, attempts);
        if (state.offset > before) attempts = 0;
      }
    }
  }

  /** What the registry has by now; from the start where it knows nothing or has refused to go on several times. */
  async #resumed(state: UploadState, attempts: number): Promise<UploadState> {
    const response = await this.#head('GET', state.location, [200, 204, 404]);
    if (response.statusCode !== 404 && attempts !== restartAfter) {
      return {
        location: this.#location(response.headers.location, state.location),
        offset: offsetOf(response.headers['range']),
      };
    }
    if (response.statusCode !== 404) await this.#cancel(state.location);
    const again = await this.#start();
    if (again === 'mounted') throw new Error('a registry mounted a blob without being asked');
    return again;
  }

  async #patch({ location, offset }: UploadState): Promise<UploadState> {
    const { size, source } = this.#blob;
    const response = await this.#connection.call({
      method: 'PATCH',
      repository: this.#repository,
      target: location,
      action: this.#action,
      expect: [202, 404, 416],
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': size - offset,
        'content-range': `${offset}-${size - 1}`,
      },
      body: this.#counted(source(offset), offset),
      signal: this.#blob.signal,
    });
    response.resume();
    if (response.statusCode !== 202) throw new UploadLost();
    return { location: this.#location(response.headers.location, location), offset: size };
  }

  #counted(source: Readable, offset: number): Readable {
    let sent = offset;
    const { onBytes } = this.#blob;
    if (onBytes === undefined) return source;
    const counter = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        sent += chunk.length;
        onBytes(sent);
        done(null, chunk);
      },
    });
    source.on('error', (error) => counter.destroy(error));
    counter.on('close', () => source.destroy());
    return source.pipe(counter);
  }

  async #finish(location: URL): Promise<void> {
    const target = new URL(location);
    target.searchParams.set('digest', this.#blob.digest);
    const response = await this.#connection.call({
      method: 'PUT',
      repository: this.#repository,
      target,
      action: this.#action,
      expect: [201, 404, 416],
      headers: { 'content-length': 0 },
      idleTimeoutMs: 30_000 + (this.#blob.size / hashRate) * 1000,
      signal: this.#blob.signal,
    });
    response.resume();
    if (response.statusCode !== 201) throw new UploadLost();
  }

  /** So that nothing half-sent stays on the registry's disk; it has its own purge where even this fails. */
  async #cancel(location: URL): Promise<void> {
    try {
      for (let attempt = 1; attempt <= cancelAttempts; attempt += 1) {
        if (await this.#cancelOnce(location)) return;
        await backOff(attempt, 100);
      }
    } catch {
      // The fault that led here is the one to tell.
    }
  }

  /** false while the registry is still writing what it received: then its count and ours differ, and it refuses (416). */
  async #cancelOnce(location: URL): Promise<boolean> {
    const state = await this.#head('GET', location, [200, 204, 404]);
    if (state.statusCode === 404) return true;
    const target = this.#location(state.headers.location, location);
    const answer = await this.#head('DELETE', target, [200, 202, 204, 404, 416]);
    return answer.statusCode !== 416;
  }

  #head(method: 'GET' | 'HEAD' | 'POST' | 'DELETE', target: string | URL, expect: readonly number[]) {
    const headers = method === 'POST' ? { 'content-length': 0 } : {};
    return this.#connection.head({
      method,
      repository: this.#repository,
      target,
      action: this.#action,
      expect,
      headers,
    });
  }

  #location(header: string | undefined, base: URL): URL {
    if (header !== undefined && URL.canParse(header, base.href)) {
      const location = new URL(header, base);
      if (location.protocol === 'https:') return location;
    }
    throw new BkeError(
      'BKE_REGISTRY_REFUSED',
      `${this.#connection.registry}/${this.#repository}: the registry gave no usable place to upload to`,
    );
  }
}

/** The registry no longer has the upload, or has another number of bytes than we think. */
class UploadLost extends Error {
  override readonly name = 'UploadLost';
}

function canGoOn(thrown: unknown): boolean {
  return isNetworkError(thrown) || thrown instanceof UploadLost;
}

/** `0-41` = 42 bytes. `0-0` is what registries say of an empty upload. */
function offsetOf(range: string | undefined): number {
  const last = Number(/^(?:bytes=)?0-(\d+)$/.exec(range ?? '')?.[1] ?? 0);
  return last === 0 ? 0 : last + 1;
}
