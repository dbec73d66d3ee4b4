// Standard output that may go away: a reader that has enough (`bke … | head`) is no error, a full disk is one.
import type { OutputStream } from './io.ts';

interface EmittingStream extends OutputStream {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
  off(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
}

export interface GuardedOutput extends OutputStream {
  /** The first error but EPIPE, e.g. ENOSPC. */
  failure(): NodeJS.ErrnoException | undefined;
  release(): void;
}

export function guardOutput(stream: OutputStream): GuardedOutput {
  let failure: NodeJS.ErrnoException | undefined;
  let closed = false;
  const onError = (error: NodeJS.ErrnoException): void => {
    closed = true;
    // EIO: the terminal itself is gone.
    if (error.code !== 'EPIPE' && error.code !== 'EIO') failure ??= error;
  };
  if (isEmitting(stream)) stream.on('error', onError);
  return {
    write: (text) => (closed || text === '' ? true : stream.write(text)),
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
    failure: () => failure,
    release: () => {
      if (isEmitting(stream)) stream.off('error', onError);
    },
  };
}

function isEmitting(stream: OutputStream): stream is EmittingStream {
  return 'on' in stream && 'off' in stream;
}
