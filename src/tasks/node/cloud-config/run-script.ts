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
const lookMs = 500;

/** The log is its own output, not a pipe: what it leaves running does not keep bke waiting, and says on where it may. */
const run = 'exec /bin/sh "$1" >>"$2" 2>&1 </dev/null';

/** @throws BkeError BKE_TIMEOUT with its last lines; BKE_CANCELLED */
export async function runScript(scope: TaskScope, script: ScriptRun): Promise<ScriptEnd> {
  const { host } = scope;
  const path = bootstrapPaths.script(script.name);
  await writeOwn(host, path, script.text);
  await writeOwn(host, bootstrapPaths.log, '');
  try {
    const { exitCode } = await runWatched(scope, script, path);
    return { exitCode, said: await lastWords(host, script.redact, shownLines) };
  } catch (thrown) {
    if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_TIMEOUT') throw thrown;
    throw new BkeError('BKE_TIMEOUT', `${script.name} did not end within ${script.timeoutMs / 1000} s`, {
      host: host.name,
      cause: thrown,
      details: await lastWords(host, script.redact, shownLines),
      hint: `All it said is in ${bootstrapPaths.log} on the host.`,
    });
  } finally {
    // It may hold tokens.
    await host.files.remove(path);
  }
}

async function runWatched(scope: TaskScope, script: ScriptRun, path: string): Promise<RunResult> {
  const { host } = scope;
  const { timeoutMs, look = async () => undefined } = script;
  let over = false;
  const argv = ['/bin/sh', '-c', run, 'sh', path, bootstrapPaths.log] as const;
  const running = host.run(argv, { timeoutMs, signal: scope.signal }).finally(() => {
    over = true;
  });
  const watched = scope.wait({
    for: `${script.name} to come to its end`,
    // Its own end comes first.
    timeoutMs: timeoutMs + 60_000,
    intervalMs: lookMs,
    next: `tail -f ${bootstrapPaths.log}`,
    probe: async () => {
      await look();
      await boundLog(host);
      return over ? { ready: true } : { ready: false, cause: (await lastWords(host, script.redact, 1))[0] ?? '' };
    },
  });
  const [result] = await Promise.all([running, watched]);
  return result;
}

async function boundLog(host: Host): Promise<void> {
  const size = (await host.files.stat(bootstrapPaths.log))?.size ?? 0;
  if (size > mostLogBytes) await host.files.truncate(bootstrapPaths.log, 0);
}

/** kubeadm's word to everybody who meets an error. */
const general = /^To see the stack trace|^\[preflight\] If you know/;

async function lastWords(host: Host, redact: Redactor, count: number): Promise<string[]> {
  const tail = new TailBuffer(tailBytes);
  if ((await host.files.stat(bootstrapPaths.log)) === undefined) return [];
  for await (const chunk of host.files.stream(bootstrapPaths.log)) tail.push(Buffer.from(chunk));
  const lines = redact(tail.toString())
    .split('\n')
    .filter((line) => !general.test(line.trim()));
  return lastLines(lines.join('\n'), count);
}
