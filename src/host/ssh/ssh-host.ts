// A host over SSH as the rest of bke sees it: runs programs as root, takes files, closes.
import type { Readable } from 'node:stream';
import { BkeError } from '../../lib/errors.ts';
import { shellCommand } from '../../lib/quote.ts';
import type { HostShell, RunOptions, RunResult, UploadTarget } from '../host.ts';
import type { Connection } from './connection.ts';
import { noDirectory, programScript } from './script.ts';
import { lastLines } from '../../lib/text.ts';
import type { AcceptedKey, HostKey } from './target.ts';
import { upload } from './upload.ts';

export class SshHost implements HostShell {
  readonly name: string;
  /** The key the host proved to have. */
  readonly hostKey: HostKey;
  /** Keys (of the host and its bastions) that were new and accepted: the caller records them. */
  readonly newHostKeys: readonly AcceptedKey[];
  readonly #connection: Connection;

  constructor(connection: Connection, hostKey: HostKey, newHostKeys: readonly AcceptedKey[]) {
    this.name = connection.target.name;
    this.hostKey = hostKey;
    this.newHostKeys = newHostKeys;
    this.#connection = connection;
  }

  async run(argv: readonly [string, ...string[]], options: RunOptions = {}): Promise<RunResult> {
    const what = shellCommand(argv);
    const { value, stdout, stderr, ...rest } = await this.#connection.run({
      script: programScript(argv, options),
      input: options.input,
      timeoutMs: options.timeoutMs ?? 60_000,
      maxOutputBytes: options.maxOutputBytes ?? 1024 * 1024,
      signal: options.signal,
      what: what.length > 200 ? `${what.slice(0, 200)}…` : what,
    });
    if (value !== noDirectory) return { exitCode: Number(value), stdout, stderr, ...rest };
    throw new BkeError('BKE_COMMAND_FAILED', `cannot run ${argv[0]} on ${this.name} in ${options.cwd ?? '/'}`, {
      host: this.name,
      // The shell puts its own name and line before its complaint.
      details: lastLines(stderr, 1).map((line) => line.replace(/^bke[0-9a-f]+: (?:line )?\d+: /, '')),
    });
  }

  async upload(source: Readable, path: string, file: UploadTarget): Promise<void> {
    await upload(this.#connection, source, path, file);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}
