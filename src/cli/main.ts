// The program: words in, exit code out. Nothing is done before the whole command line is understood.
import type { Command } from '../commands/context.ts';
import { helpText } from '../commands/help/help.ts';
import type { HelpStyle } from '../commands/help/render.ts';
import type { Host } from '../host/host.ts';
import type { CommandResult } from '../lib/command.ts';
import { BkeError } from '../lib/errors.ts';
import type { GlobalValues } from '../lib/global-options.ts';
import { explainSystemError } from '../lib/system-error.ts';
import { operationsDirectory } from '../operations/state-dir.ts';
import { parse } from './commander.ts';
import { createContext } from './context.ts';
import { exitCodeOf, isBug, renderError, renderErrorJson } from './errors.ts';
import { completer, type Completer } from './next-commands.ts';
import { type InputStream, type Io, readableWidth, type OutputStream } from './io.ts';
import { renderResult } from './output/result.ts';
import { openProgress } from './progress.ts';
import { resolve } from './resolve.ts';
import { exitCodeOfSignal, listenForSignals, type Signals, type SignalSource } from './signals.ts';
import { type GuardedOutput, guardOutput } from './stdout.ts';
import { commands as allCommands } from './table.ts';
import { createTheme, wantsColor } from './theme.ts';

/** What tests put in place of the process's own. */
export interface MainOverrides {
  readonly stdin?: InputStream;
  readonly stdout?: OutputStream;
  readonly stderr?: OutputStream;
  readonly env?: Io['env'];
  readonly cwd?: string;
  readonly now?: () => Date;
  readonly commands?: readonly Command[];
  readonly signals?: SignalSource;
  readonly operationsDirectory?: string;
  readonly openLocalHost?: () => Promise<Host>;
}

interface Program {
  readonly io: Io & { readonly stdout: GuardedOutput; readonly stderr: GuardedOutput };
  readonly argv: readonly string[];
  readonly commands: readonly Command[];
  readonly overrides: MainOverrides;
  readonly operationsDirectory: string | undefined;
}

/** Runs one command line and returns its exit code (`bke help exit-codes`). Never throws. */
export async function main(argv: readonly string[], overrides: MainOverrides = {}): Promise<number> {
  const program = createProgram(argv, overrides);
  const onUncaught = (thrown: unknown): void => void endWithBug(program, thrown);
  process.once('uncaughtException', onUncaught);
  try {
    const code = await runProgram(program);
    return await checkStdout(program, code);
  } finally {
    process.off('uncaughtException', onUncaught);
    program.io.stdout.release();
    program.io.stderr.release();
  }
}

function createProgram(argv: readonly string[], overrides: MainOverrides): Program {
  const env = overrides.env ?? process.env;
  return {
    io: {
      get stdin() {
        return overrides.stdin ?? process.stdin;
      },
      stdout: guardOutput(() => overrides.stdout ?? process.stdout),
      stderr: guardOutput(() => overrides.stderr ?? process.stderr),
      env,
      get cwd() {
        return overrides.cwd ?? process.cwd();
      },
      now: overrides.now ?? (() => new Date()),
    },
    argv,
    commands: overrides.commands ?? allCommands,
    overrides,
    operationsDirectory: overrides.operationsDirectory ?? operationsDirectory(env),
  };
}

async function runProgram(program: Program): Promise<number> {
  const { io, argv, commands } = program;
  try {
    const resolved = resolve(argv, commands);
    if (resolved.help || (resolved.command === undefined && resolved.path.length === 0)) {
      io.stdout.write(helpText(resolved.path, commands, helpStyle(program)));
      return 0;
    }
    if (resolved.command === undefined) throw missingVerb(resolved.path, commands);
    const { input, globals } = parse(resolved.command, resolved.rest);
    return await runCommand(program, resolved.command, input, globals);
  } catch (error) {
    return await fail(program, error, { json: asksForJson(argv), color: !argv.includes('--no-color') });
  }
}

async function runCommand(
  program: Program,
  command: Command,
  input: Readonly<Record<string, unknown>>,
  globals: GlobalValues,
): Promise<number> {
  const { io } = program;
  const progress = openProgress(io, globals, command.output === undefined && globals.output === 'json');
  // A role is stopped by systemd at every stop: that is no news for its journal.
  const tell = command.group === 'roles' ? () => undefined : (line: string) => progress.line(line);
  const signals = listenForSignals(program.overrides.signals ?? process, io.stderr, tell);
  let ownKubeconfig: string | undefined;
  const complete = completer(program.commands, command, input, () => ownKubeconfig);
  const context = createContext({
    io,
    complete,
    globals,
    argv: program.argv,
    signal: signals.signal,
    onStop: (words) => signals.does(words),
    looksIn: (kubeconfig) => {
      ownKubeconfig = kubeconfig;
    },
    progress,
    operationsDirectory: program.operationsDirectory,
    openLocalHost: program.overrides.openLocalHost ?? openLocalHost,
  });
  try {
    const result = await command.run(context, input);
    await progress.close();
    return await printResult(program, command, result, { globals, complete });
  } catch (error) {
    await progress.close();
    const code = await fail(program, cancelledOr(error, signals), {
      json: globals.output === 'json',
      color: globals.color,
      complete,
    });
    const received = signals.received();
    return code === 130 && received !== undefined ? exitCodeOfSignal(received) : code;
  } finally {
    signals.stopListening();
  }
}

async function printResult(
  program: Program,
  command: Command,
  result: CommandResult,
  { globals, complete }: { readonly globals: GlobalValues; readonly complete: Completer },
): Promise<number> {
  if (result.kind === 'stream') for await (const text of result.texts) program.io.stdout.write(complete(text));
  const format = globals.output ?? command.output?.[0] ?? 'table';
  const rendered = await renderResult(result, { format, headers: globals.headers });
  const completed = completerFor(result, format, complete);
  program.io.stdout.write(completed(rendered.stdout));
  if (rendered.note !== undefined && !globals.quiet) program.io.stderr.write(`${complete(rendered.note)}\n`);
  return 'exitCode' in result ? (result.exitCode ?? 0) : 0;
}

/** What is not for people is as it is in the cluster, or is a file. */
function completerFor({ kind }: CommandResult, format: string, complete: Completer): Completer {
  return kind !== 'text' && (format === 'table' || format === 'wide') ? complete : (text) => text;
}

interface FailStyle {
  readonly json: boolean;
  readonly color: boolean;
  readonly complete?: Completer;
}

async function fail(program: Program, thrown: unknown, style: FailStyle): Promise<number> {
  const error = explainSystemError(thrown);
  const log = isBug(error) ? await saveBug(program, error) : undefined;
  const theme = createTheme(wantsColor(program.io.env, program.io.stderr, style.color));
  const { complete } = style;
  program.io.stderr.write(
    style.json ? renderErrorJson(error, { log, complete }) : renderError(error, { theme, log, complete }),
  );
  return exitCodeOf(error);
}

async function saveBug(program: Program, error: unknown): Promise<string | undefined> {
  if (program.operationsDirectory === undefined) return undefined;
  const [{ saveBugLog }, { bkeVersion }] = await Promise.all([import('./bug-log.ts'), import('../lib/version.ts')]);
  const report = { error, argv: program.argv, version: await bkeVersion(), now: program.io.now() };
  return saveBugLog(program.operationsDirectory, report);
}

/** An error outside of any await: nothing can be said of the state of the program, so it ends here. */
async function endWithBug(program: Program, thrown: unknown): Promise<void> {
  const code = await fail(program, thrown, {
    json: asksForJson(program.argv),
    color: !program.argv.includes('--no-color'),
  });
  (program.overrides.signals ?? process).exit(code);
}

/** What a library throws because the signal came is the cancelling itself, no error of its own. */
function cancelledOr(error: unknown, signals: Signals): unknown {
  if (!signals.signal.aborted || error instanceof BkeError || error instanceof AggregateError) return error;
  const aborted = error === signals.signal.reason || (error instanceof Error && error.name === 'AbortError');
  return aborted ? new BkeError('BKE_CANCELLED', 'stopped', { cause: error }) : error;
}

/** An error of stdout comes a turn later than the write that met it. */
async function checkStdout(program: Program, code: number): Promise<number> {
  await new Promise((done) => setImmediate(done));
  const failure = program.io.stdout.failure();
  if (failure === undefined) return code;
  const error = new BkeError('BKE_SYSTEM', `cannot write to standard output: ${failure.message}`);
  const failed = await fail(program, error, { json: false, color: true });
  return code === 0 ? failed : code;
}

function missingVerb(path: readonly string[], commands: readonly Command[]): BkeError {
  const below = commands.filter((c) => c.hidden !== true && path.every((word, i) => c.path[i] === word));
  return new BkeError('BKE_USAGE', `'bke ${path.join(' ')}' needs a command after it`, {
    details: below.map((command) => `bke ${command.path.join(' ')}: ${command.summary}`),
    hint: `'bke help ${path.join(' ')}' tells more.`,
  });
}

function helpStyle(program: Program): HelpStyle {
  const { env, stdout } = program.io;
  const theme = createTheme(wantsColor(env, stdout, !program.argv.includes('--no-color')));
  return { width: readableWidth(stdout), strong: theme.strong, faint: theme.faint };
}

/** Good enough for a command line that could not be read. */
function asksForJson(argv: readonly string[]): boolean {
  return /(?:^| )(?:-o[ =]?|--output[ =])json(?: |$)/.test(argv.join(' '));
}

async function openLocalHost(): Promise<Host> {
  const { openLocalHost: open } = await import('../host/local/local-host.ts');
  return open();
}
