// Outputs that may go away: a reader that has enough (`bke … | head`) is no error, a full disk is one.
import { isErrno } from '../lib/errno.ts';
import type { OutputStream } from './io.ts';

interface EmittingStream extends OutputStream {
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

export interface GuardedOutput extends OutputStream {
  /** The first error but a closed pipe, e.g. ENOSPC. */
  failure(): Error | undefined;
  release(): void;
}

/** @param open gives the stream when it is first needed: Node takes milliseconds to make each of its own. */
export function guardOutput(open: () => OutputStream): GuardedOutput {
  let opened: OutputStream | undefined;
  let failure: Error | undefined;
  let closed = false;
  const onError = (error: Error): void => {
    closed = true;
    // EIO: the terminal itself is gone.
    if (!isErrno(error, 'EPIPE', 'EIO')) failure ??= error;
  };
  const stream = (): OutputStream => {
    if (opened === undefined) {
      opened = open();
      if (isEmitting(opened)) opened.on('error', onError);
    }
    return opened;
  };
  return {
    write: (text) => (closed || text === '' ? true : stream().write(text)),
    get isTTY() {
      return stream().isTTY === true;
    },
    get columns() {
      return stream().columns;
    },
    get rows() {
      return stream().rows;
    },
    failure: () => failure,
    release: () => {
      if (opened !== undefined && isEmitting(opened)) opened.off('error', onError);
    },
  };
}

function isEmitting(stream: OutputStream): stream is EmittingStream {
  return 'on' in stream && 'off' in stream;
}
