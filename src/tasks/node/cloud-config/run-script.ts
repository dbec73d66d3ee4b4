// Runs one script of the bootstrap data. What it says goes to a log on the host that others cannot read; its last words go into the error.
import type { Host, RunResult } from '../../../host/host.ts';
import { BkeError } from '../../../lib/errors.ts';
import type { Redactor } from '../../../lib/redact.ts';
import { TailBuffer } from '../../../lib/tail-buffer.ts';
import { lastLines } from '../../../lib/text.ts';
import type { TaskScope } from '../../task.ts';
import { bootstrapPaths, writeOwn } from './state.ts';

export interface ScriptRun {
  /** `bootcmd` or `runcmd`. */
  readonly name: string;
  readonly text: string;
  readonly timeoutMs: number;
  readonly redact: Redactor;
  /** Asked now and then while it runs, and once after it. */
  readonly look?: () => Promise<void>;
}

export interface ScriptEnd {
  readonly exitCode: number;
  /** Its last lines, without secrets. */
  readonly said: readonly string[];
}

/** More of the log is thrown away from its beginning, all at once. */
const mostLogBytes = 4 << 20;
const tailBytes = 64 << 10;
const shownLines = 15;
const lookMs = 250;

/** The log is its own output, not a pipe: what it leaves running does not keep bke waiting, and says on where it may. */
const run = 'exec /bin/sh "$1" >>"$2" 2>&1 </dev/null';

/** @throws BkeError BKE_TIMEOUT with its last lines; BKE_CANCELLED */
export async function runScript(scope: TaskScope, script: ScriptRun): Promise<ScriptEnd> {
  const { host } = scope;
  const path = bootstrapPaths.script(script.name);
  const log: Log = { host, path: bootstrapPaths.log(script.name), redact: script.redact };
  await writeOwn(host, path, script.text);
  await writeOwn(host, log.path, '');
  try {
    const { exitCode } = await runWatched(scope, script, { path, log });
    return { exitCode, said: await lastWords(log, shownLines) };
  } catch (thrown) {
    if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_TIMEOUT') throw thrown;
    throw new BkeError('BKE_TIMEOUT', `${script.name} did not end within ${script.timeoutMs / 1000} s`, {
      host: host.name,
      cause: thrown,
      details: await lastWords(log, shownLines),
      hint: `All it said is in ${log.path} on the host.`,
    });
  } finally {
    // It may hold tokens.
    await host.files.remove(path);
  }
}

interface Log {
  readonly host: Host;
  readonly path: string;
  readonly redact: Redactor;
}

async function runWatched(
  scope: TaskScope,
  script: ScriptRun,
  { path, log }: { readonly path: string; readonly log: Log },
): Promise<RunResult> {
  const { host } = scope;
  const { timeoutMs, look = async () => undefined } = script;
  let over = false;
  const lastWord = newestLine(log);
  const argv = ['/bin/sh', '-c', run, 'sh', path, log.path] as const;
  const running = host.run(argv, { timeoutMs, signal: scope.signal }).finally(() => {
    over = true;
  });
  const watched = scope.wait({
    for: `${script.name} to come to its end`,
    // Its own end comes first.
    timeoutMs: timeoutMs + 60_000,
    intervalMs: lookMs,
    next: `tail -f ${log.path}`,
    probe: async () => {
      await look();
      await boundLog(log);
      return over ? { ready: true } : { ready: false, cause: await lastWord() };
    },
  });
  const [result] = await Promise.all([running, watched]);
  return result;
}

async function boundLog({ host, path }: Log): Promise<void> {
  const size = (await host.files.stat(path))?.size ?? 0;
  if (size > mostLogBytes) await host.files.truncate(path, 0);
}

/** Of a log that has not grown since, without reading it again. */
function newestLine(log: Log): () => Promise<string> {
  let seen = 0;
  let line = '';
  return async () => {
    const size = (await log.host.files.stat(log.path))?.size ?? 0;
    if (size !== seen) line = (await lastWords(log, 1))[0] ?? '';
    seen = size;
    return line;
  };
}

/** What kubeadm says to everybody who meets an error, and what it found in order. */
const general = /^To see the stack trace|^\[preflight\] If you know|^[A-Z0-9_]+: (?:enabled|not set|Linux|\d)/;

async function lastWords({ host, path, redact }: Log, count: number): Promise<string[]> {
  const tail = new TailBuffer(tailBytes);
  if ((await host.files.stat(path)) === undefined) return [];
  for await (const chunk of host.files.stream(path)) tail.push(Buffer.from(chunk));
  const lines = lastLines(redact(tail.toString()), Number.POSITIVE_INFINITY).filter((line) => !general.test(line));
  return lines.slice(-count);
}
