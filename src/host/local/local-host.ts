// This machine as a Host.
import { hostname } from 'node:os';
import { digesting } from '../../lib/digest.ts';
import { pipeline, type Readable } from 'node:stream';
import { BkeError } from '../../lib/errors.ts';
import type { Host, HostFiles, RunOptions, RunResult, UploadTarget } from '../host.ts';
import { LocalFiles } from './local-files.ts';
import { runProgram } from './run.ts';

export interface LocalHostOptions {
  /** Stands before every path of `files`: for tests only. Programs are run as they are. */
  readonly root?: string;
}

/** Streams to `path`; what is not `target.digest` is never renamed into place. */
export async function uploadTo(files: HostFiles, source: Readable, path: string, target: UploadTarget): Promise<void> {
  const through = digesting(({ digest }) =>
    digest === target.digest
      ? undefined
      : new BkeError('BKE_DIGEST_MISMATCH', `what arrived for ${path} is ${digest}, expected ${target.digest}`),
  );
  // Errors and early ends pass both ways; who reads `through` sees them.
  pipeline(source, through, () => undefined);
  await files.write(path, through, { mode: target.mode, uid: 0, gid: 0 });
}

class LocalHost implements Host {
  readonly name = hostname();
  readonly files: HostFiles;

  constructor(files: HostFiles) {
    this.files = files;
  }

  run(argv: readonly [string, ...string[]], options?: RunOptions): Promise<RunResult> {
    return runProgram(argv, options);
  }

  upload(source: Readable, path: string, target: UploadTarget): Promise<void> {
    return uploadTo(this.files, source, path, target);
  }

  async close(): Promise<void> {
    // Nothing is held open.
  }
}

export async function openLocalHost(options: LocalHostOptions = {}): Promise<Host> {
  return new LocalHost(new LocalFiles(options));
}
