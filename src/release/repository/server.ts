// The HTTPS server of files and charts that `bke serve` runs: read-only, ranges, ETag = digest, no limit on how long a download takes.
import type { FileRepository } from './store.ts';

export interface AccessRecord {
  readonly time: string;
  readonly area: 'files' | 'charts';
  readonly client: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Body bytes sent. */
  readonly bytes: number;
  readonly durationMs: number;
  readonly range?: string;
  readonly userAgent?: string;
  /** false where the client went away before the end. */
  readonly complete: boolean;
}

export interface FileServerOptions {
  readonly repository: FileRepository;
  /** Address to listen on; default all. */
  readonly address?: string;
  readonly filesPort: number;
  readonly chartsPort: number;
  /** PEM files; read again when they change or `reloadCertificates` is called. */
  readonly tls: { readonly certificate: string; readonly key: string };
  /** Downloads at once; more are answered 429 with Retry-After. Default 128. */
  readonly maxStreams?: number;
  /** Longest silence of a client; default 60 000 ms. */
  readonly idleTimeoutMs?: number;
  readonly onAccess?: (record: AccessRecord) => void;
  /** What is wrong without stopping the server: a bad chart, a certificate that can't be read. */
  readonly onWarning?: (message: string) => void;
}

export interface FileServer {
  /** The ports it listens on (where 0 was asked, the one it got). */
  readonly filesPort: number;
  readonly chartsPort: number;
  reloadCertificates(): Promise<void>;
  /** Takes no more connections, lets downloads finish for at most `graceMs`, then ends them. */
  stop(graceMs?: number): Promise<void>;
}

export async function startFileServer(_options: FileServerOptions): Promise<FileServer> {
  throw new Error('not built yet');
}
