// The work of `bke host exec`.
import type { RunResult } from '../../host/host.ts';
import { connect } from '../../host/ssh/connect.ts';
import type { SshTarget } from '../../host/ssh/target.ts';
import type { CommandInput, CommandResult } from '../../lib/command.ts';
import { errorTable, ExitCode } from '../../lib/error-table.ts';
import { BkeError, type ErrorReport, toErrorReport } from '../../lib/errors.ts';
import { type InputReader, readInput } from '../../lib/input.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { createLimit } from '../../lib/limit.ts';
import { shellCommand } from '../../lib/quote.ts';
import { listedShort } from '../../lib/text.ts';
import { nearest } from '../../lib/suggest.ts';
import { printable } from '../../lib/text.ts';
import type { CommandContext } from '../context.ts';
import { askForNewKeys, hostTargets, noteNewKeys } from './access.ts';
import { readClusterFile } from './load.ts';

const defaultTimeoutMs = 60_000;

export interface Ran {
  readonly host: string;
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Bytes that are missing at the beginning of each, where some are. */
  readonly dropped?: NonNullable<RunResult['dropped']>;
  /** It could not be run there. */
  readonly error?: ErrorReport;
}

export async function runHostExec(context: CommandContext, input: CommandInput): Promise<CommandResult> {
  const read = readInput(input);
  const [program, ...words] = read.texts('command');
  if (program === undefined) throw new BkeError('BKE_USAGE', 'no program is named: put it after --');
  const file = read.text('file');
  if (file === undefined) throw noFile(context);
  const loaded = await readClusterFile(context, file);
  const acceptAll = read.flag('acceptNewHostKeys');
  const connections = Math.max(1, read.requiredNumber('connections'));
  const chosen = chooseHosts(await hostTargets(context, loaded), read);
  const targets = await askForNewKeys(context, chosen, { acceptAll, connections });
  const limit = createLimit(connections);
  const argv: [string, ...string[]] = [program, ...words];
  const timeoutMs = read.number('timeout') ?? defaultTimeoutMs;
  const run: Run = { argv, timeoutMs, maxOutputBytes: outputLimit(targets.length), acceptAll };
  const ran = await Promise.all(targets.map((target) => limit(() => runOn(context, target, run))));
  for (const line of hintLines(ran)) context.note(line);
  for (const line of droppedLines(ran, run.maxOutputBytes)) context.note(line);
  return { kind: 'object', value: { hosts: ran }, text: ran.map(textOf).join(''), exitCode: exitCodeOf(ran) };
}

/** All that is kept of all hosts fits into this. */
const mostKept = 128 * 1024 * 1024;
const mostOfOne = 4 * 1024 * 1024;

/** Bytes of each of the two outputs of a host. */
export function outputLimit(hosts: number): number {
  return Math.min(mostOfOne, Math.floor(mostKept / (2 * Math.max(1, hosts))));
}

/** What mends what kept hosts from running it: each once, with the hosts. */
export function hintLines(ran: readonly Ran[]): string[] {
  const told = ran.flatMap(({ host, error }) => (error?.hint === undefined ? [] : [{ host, hint: error.hint }]));
  return [...Map.groupBy(told, ({ hint }) => hint)].map(
    ([hint, of]) =>
      `${listedShort(
        of.map(({ host }) => host),
        8,
      )}: ${hint}`,
  );
}

/** Output that is not whole must not look as if it were. */
export function droppedLines(ran: readonly Ran[], limit: number): string[] {
  const lines = ran.flatMap(({ host, dropped }) => {
    if (dropped === undefined) return [];
    const parts = [
      ...(dropped.stdout === 0 ? [] : [`${formatBytes(dropped.stdout)} of its output`]),
      ...(dropped.stderr === 0 ? [] : [`${formatBytes(dropped.stderr)} of its errors`]),
    ];
    return [`warning: ${host}: the first ${parts.join(' and ')} are left out; the last ${formatBytes(limit)} are here`];
  });
  return lines.length === 0 ? [] : [...lines, `  Have less printed (sh -c '… | tail -n 1000'), or into a file there.`];
}

function noFile({ argv }: CommandContext): BkeError {
  const words = shellCommand(['bke', ...argv.slice(0, 2), '-f', 'cluster.yaml', ...argv.slice(2)]);
  return new BkeError('BKE_USAGE', 'no file names the hosts, and programs cannot be run by way of their agents yet', {
    hint: `Name the file with their logins: ${words}`,
  });
}

function chooseHosts(targets: readonly SshTarget[], read: InputReader): readonly SshTarget[] {
  const wanted = new Set(read.texts('host'));
  if (wanted.size === 0) return targets;
  const names = targets.map(({ name }) => name);
  for (const name of wanted) {
    if (names.includes(name)) continue;
    const meant = nearest(name, names);
    throw new BkeError('BKE_USAGE', `the file has no host '${name}'`, {
      hint: meant === undefined ? `It has: ${listedShort(names, 10)}.` : `Did you mean '${meant}'?`,
    });
  }
  return targets.filter(({ name }) => wanted.has(name));
}

interface Run {
  readonly argv: readonly [string, ...string[]];
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly acceptAll: boolean;
}

async function runOn(context: CommandContext, target: SshTarget, { acceptAll, ...run }: Run): Promise<Ran> {
  const { signal } = context;
  try {
    const host = await connect(target, { signal, acceptNew: acceptAll });
    try {
      await noteNewKeys(context, host.newHostKeys);
      const { argv, ...options } = run;
      return { host: target.name, ...(await host.run(argv, { ...options, signal })) };
    } finally {
      await host.close();
    }
  } catch (thrown) {
    // A bug must not look like a host's trouble.
    if (!(thrown instanceof BkeError)) throw thrown;
    return { host: target.name, error: toErrorReport(thrown) };
  }
}

export function textOf({ host, exitCode = 0, stdout = '', stderr = '', error }: Ran): string {
  const head =
    error === undefined ? `== ${host}${exitCode === 0 ? '' : `: exit code ${exitCode}`}` : `== ${host}: not run`;
  const told = error === undefined ? [stdout, stderr] : [`error[${error.code}] ${error.message}`];
  const lines = told.map((text) => printable(text).trimEnd()).filter((text) => text !== '');
  return `${[head, ...lines].join('\n')}\n`;
}

/** A host where it could not be run decides: its error's own code where all have the same. */
export function exitCodeOf(ran: readonly Ran[]): number {
  const codes = new Set(ran.flatMap(({ error }) => (error === undefined ? [] : [errorTable[error.code].exit])));
  const [only] = codes;
  if (only !== undefined) return codes.size === 1 ? only : ExitCode.remoteHost;
  return ran.some(({ exitCode }) => exitCode !== 0) ? ExitCode.failed : 0;
}
