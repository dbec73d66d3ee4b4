// One program on a host, from the start line to its end mark: sudo's password, input with back-pressure, both outputs, deadline.
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ClientChannel } from 'ssh2';
import { BkeError } from '../../lib/errors.ts';
import { toError } from '../../lib/thrown.ts';
import type { RunOptions, RunResult } from '../host.ts';
import { FrameReader } from './frame.ts';
import { type SudoMode, startLine, sudoPrompt } from './script.ts';
import { droppedOf } from '../../lib/tail-buffer.ts';
import { lastLines } from '../../lib/text.ts';
import { startFailure } from './start-failure.ts';
import type { SshTarget } from './target.ts';

/** How long the account's own start-up files and sudo may take before our mark has to be there. */
const startWithinMs = 30_000;
/** After the end marks the server closes the channel by itself, unless a program in the background holds it. */
const lingerMs = 300;

export interface Program {
  /** One line, see script.ts. */
  readonly script: string;
  readonly input?: RunOptions['input'];
  readonly timeoutMs: number;
  /** The deadline counts from the last input that the host took, not from the start. */
  readonly whileInputFlows?: boolean;
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Called when it has become root and is about to run. */
  readonly onStart?: () => void;
  /** For messages: what it does, e.g. `mkfs.ext4 /dev/sdb`. */
  readonly what: string;
}

export interface ProgramResult {
  /** What the end mark carries, or the exit status of the channel where the shell itself was ended. */
  readonly value: string;
  readonly stdout: string;
  readonly stderr: string;
  /** As in RunResult. */
  readonly dropped?: NonNullable<RunResult['dropped']>;
}

/** What a running program needs of its connection. */
export interface Surroundings {
  readonly target: SshTarget;
  readonly sudoPassword: string | undefined;
  /** Aborted, with the error as reason, when the connection breaks. */
  readonly lost: AbortSignal;
  readonly redact: (text: string) => string;
  readonly open: (command: string, signal: AbortSignal) => Promise<ClientChannel>;
  /** Ends all processes of a group on the host, as far as it can be reached; bounded, never fails. */
  readonly endGroup: (group: string) => Promise<void>;
}

export async function runProgram(around: Surroundings, program: Program): Promise<ProgramResult> {
  const nonce = `bke${randomBytes(12).toString('hex')}`;
  const sudo: SudoMode = around.sudoPassword === undefined ? 'without-password' : 'with-password';
  const stop = AbortSignal.any([around.lost, ...(program.signal === undefined ? [] : [program.signal])]);
  if (stop.aborted) throw stopReason(around, stop);
  let channel: ClientChannel;
  try {
    channel = await around.open(startLine(nonce, sudo), stop);
  } catch (error) {
    throw stop.aborted ? stopReason(around, stop) : error;
  }
  return new Run(around, program, channel, nonce).result(stop);
}

/** What the caller is told when a run was stopped from outside: the broken connection, or that it was cancelled. */
function stopReason(around: Surroundings, stop: AbortSignal): Error {
  if (around.lost.aborted) return toError(around.lost.reason);
  return new BkeError('BKE_CANCELLED', `cancelled on ${around.target.name}`, {
    host: around.target.name,
    cause: stop.reason,
  });
}

class Run {
  readonly #around: Surroundings;
  readonly #program: Program;
  readonly #channel: ClientChannel;
  readonly #nonce: string;
  readonly #out: FrameReader;
  readonly #err: FrameReader;
  readonly #done = Promise.withResolvers<ProgramResult>();
  readonly #closed: Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #fed = false;
  #settled = false;
  #group: string | undefined;
  #passwordGiven = false;
  #exit: { code: number | null; signal?: string | undefined } | undefined;
  #inputError: Error | undefined;

  constructor(around: Surroundings, program: Program, channel: ClientChannel, nonce: string) {
    this.#around = around;
    this.#program = program;
    this.#channel = channel;
    this.#nonce = nonce;
    this.#out = new FrameReader(nonce, program.maxOutputBytes);
    this.#err = new FrameReader(nonce, program.maxOutputBytes);
    this.#closed = new Promise((resolve) => channel.once('close', () => resolve()));
  }

  async result(stop: AbortSignal): Promise<ProgramResult> {
    const onStop = (): void => void this.#end(stopReason(this.#around, stop));
    stop.addEventListener('abort', onStop, { once: true });
    this.#deadline(startWithinMs, () => this.#startTimeout());
    this.#listen();
    try {
      return await this.#done.promise;
    } finally {
      clearTimeout(this.#timer);
      stop.removeEventListener('abort', onStop);
      this.#letGo();
    }
  }

  #listen(): void {
    this.#channel.on('data', (chunk: Buffer) => {
      this.#out.push(chunk);
      this.#advance();
    });
    this.#channel.stderr.on('data', (chunk: Buffer) => {
      this.#err.push(chunk);
      this.#advance();
    });
    this.#channel.on('exit', (code: number | null, signal?: string) => {
      this.#exit = { code, signal };
    });
    this.#channel.on('close', () => this.#onClose());
    // A write to a channel that is just closing; `close` follows and tells what there is to tell.
    this.#channel.on('error', () => undefined);
  }

  #advance(): void {
    if (this.#settled) return;
    if (!this.#fed && this.#out.began && this.#err.began) {
      this.#fed = true;
      this.#group = this.#out.value;
      this.#armProgramTimer();
      this.#program.onStart?.();
      void this.#feed();
    } else if (!this.#fed) this.#answerSudo();
    if (this.#out.ended && this.#err.ended) this.#settle(this.#out.value);
  }

  /** sudo gets the password once; asked again (it was wrong) it finds the end of its input and gives up after that one failure. */
  #answerSudo(): void {
    const asked = this.#err.noise.split(sudoPrompt(this.#nonce)).length - 1;
    if (asked === 1 && !this.#passwordGiven) {
      this.#passwordGiven = true;
      this.#channel.write(`${this.#around.sudoPassword ?? ''}\n`);
    } else if (asked > 1) this.#channel.end();
  }

  async #feed(): Promise<void> {
    this.#channel.write(`${this.#program.script}\n`);
    const { input } = this.#program;
    try {
      if (typeof input === 'string') await this.#send(Buffer.from(input));
      else if (input instanceof Uint8Array) await this.#send(Buffer.from(input));
      else if (input !== undefined) await this.#pump(input);
    } catch (error) {
      this.#inputError = toError(error);
    }
    this.#channel.end();
  }

  async #pump(input: Readable): Promise<void> {
    for await (const chunk of input as AsyncIterable<Buffer | string>) {
      if (this.#settled) return;
      await this.#send(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
    }
  }

  async #send(chunk: Buffer): Promise<void> {
    if (chunk.length === 0 || this.#channel.write(chunk)) return;
    const drained = new Promise<void>((resolve) => this.#channel.once('drain', () => resolve()));
    await Promise.race([drained, this.#closed, this.#done.promise.catch(() => undefined)]);
    if (this.#program.whileInputFlows === true && !this.#settled) this.#armProgramTimer();
  }

  #onClose(): void {
    if (this.#settled) return;
    this.#out.finish();
    this.#err.finish();
    if (this.#out.ended) this.#settle(this.#out.value);
    else if (this.#fed && this.#exit !== undefined) this.#settle(exitValue(this.#exit));
    else if (this.#around.lost.aborted) this.#fail(toError(this.#around.lost.reason));
    else if (this.#fed) this.#fail(this.#brokeOff());
    else this.#fail(this.#startFailure(this.#exit?.code ?? undefined));
  }

  #settle(value: string): void {
    if (this.#inputError !== undefined) {
      this.#fail(this.#inputError);
      return;
    }
    this.#settled = true;
    const [stdout, stderr] = [this.#out, this.#err];
    this.#done.resolve({ value, stdout: stdout.text, stderr: stderr.text, ...droppedOf(stdout, stderr) });
  }

  #fail(error: Error): void {
    this.#settled = true;
    this.#done.reject(error);
  }

  #armProgramTimer(): void {
    this.#deadline(this.#program.timeoutMs, () => this.#programTimeout());
  }

  #deadline(ms: number, error: () => Error): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#end(error()), ms);
  }

  /** Ends what runs on the host, then tells why. */
  async #end(error: Error): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    if (!this.#around.lost.aborted) {
      if (this.#group === undefined) this.#channel.signal('KILL');
      // The channel closes once nothing holds its ends any more; no need to wait out the grace period then.
      // oxlint-disable-next-line no-promise-in-callback -- the rule takes any parameter named error for a callback's
      else await Promise.race([this.#around.endGroup(this.#group), this.#closed]);
    }
    this.#done.reject(error);
  }

  #letGo(): void {
    const { input } = this.#program;
    if (input !== undefined && typeof input === 'object' && 'destroy' in input) input.destroy();
    const timer = setTimeout(() => this.#channel.close(), lingerMs);
    void this.#closed.then(() => clearTimeout(timer));
  }

  #startTimeout(): BkeError {
    const failure = this.#startFailure(undefined);
    if (failure.code !== 'BKE_SSH_SHELL') return failure;
    const { target } = this.#around;
    return new BkeError(
      'BKE_SSH_SHELL',
      `the account ${target.user} on ${target.name} has not started a command within ${startWithinMs / 1000} s`,
      {
        host: target.name,
        details: failure.details,
        hint: 'A start-up file of the account (such as .bashrc) waits for something, or the account may only transfer files.',
      },
    );
  }

  #startFailure(exitCode: number | undefined): BkeError {
    const output = this.#around
      .redact(`${this.#out.noise}\n${this.#err.noise}`)
      .replaceAll(sudoPrompt(this.#nonce), '');
    return startFailure(this.#around.target, { output, exitCode, passwordGiven: this.#passwordGiven });
  }

  #programTimeout(): BkeError {
    this.#out.finish();
    this.#err.finish();
    const { target, redact } = this.#around;
    const seconds = Math.round(this.#program.timeoutMs / 100) / 10;
    const message =
      this.#program.whileInputFlows === true
        ? `${this.#program.what} on ${target.name} made no progress for ${seconds} s`
        : `${this.#program.what} on ${target.name} has not ended within ${seconds} s and was stopped`;
    return new BkeError('BKE_TIMEOUT', redact(message), {
      host: target.name,
      details: lastLines(redact(`${this.#out.text}\n${this.#err.text}`), 5),
    });
  }

  #brokeOff(): BkeError {
    const { target, redact } = this.#around;
    return new BkeError('BKE_SSH_LOST', redact(`${this.#program.what} on ${target.name} ended without an exit code`), {
      host: target.name,
    });
  }
}

/** As a shell has it: 128 and the signal's number. */
function exitValue(exit: { code: number | null; signal?: string | undefined }): string {
  if (exit.code !== null) return String(exit.code);
  const numbers: Readonly<Record<string, number>> = {
    SIGHUP: 1,
    SIGINT: 2,
    SIGQUIT: 3,
    SIGABRT: 6,
    SIGKILL: 9,
    SIGSEGV: 11,
    SIGPIPE: 13,
    SIGTERM: 15,
  };
  return String(128 + (numbers[exit.signal ?? ''] ?? 0));
}
