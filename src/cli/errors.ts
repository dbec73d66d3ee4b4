// Errors as people and programs read them, and the exit code each ends with.
import { errorTable, ExitCode } from '../lib/error-table.ts';
import { BkeError, type ErrorReport, toErrorReport } from '../lib/errors.ts';
import { listedShort, plural, printable, visible } from '../lib/text.ts';
import { type Completer, completedReport } from './next-commands.ts';
import type { Theme } from './theme.ts';

/** Equal failures of many hosts, told once. */
interface ErrorGroup {
  readonly report: ErrorReport;
  readonly hosts: readonly string[];
}

/** Characters of one line: what others sent must not fill the screen. */
const longestMessage = 2000;

export interface ErrorStyle {
  readonly theme: Theme;
  /** Hosts named in a group before the rest is counted. */
  readonly hosts?: number;
  /** Where the stack of an unexpected error was saved. */
  readonly log?: string | undefined;
  /** Of commands that are told. */
  readonly complete?: Completer | undefined;
}

const asTheyAre: Completer = (text) => text;

/** The exit code of one error; of several, theirs where all agree, else 1. A host that could not be looked at may hide what the checks of others found. */
export function exitCodeOf(thrown: unknown): number {
  const codes = new Set<number>(flatten(thrown).map((error) => errorTable[toErrorReport(error).code].exit));
  if (codes.has(ExitCode.remoteHost)) codes.delete(ExitCode.preflight);
  const [first] = codes;
  return codes.size === 1 && first !== undefined ? first : 1;
}

/** Lines for stderr, each ended by a newline. */
export function renderError(thrown: unknown, style: ErrorStyle): string {
  const groups = byMend(grouped(flatten(thrown), style.complete ?? asTheyAre));
  return groups
    .map((group, index) => {
      const next = groups[index + 1];
      return renderGroup(group, { ...style, isLast: next === undefined || mendOf(next) !== mendOf(group) });
    })
    .join('');
}

/** What is mended in the same way stands together, so that the way is told once. */
function byMend(groups: readonly ErrorGroup[]): ErrorGroup[] {
  return [...Map.groupBy(groups, mendOf).values()].flat();
}

function mendOf({ report: { code, hint } }: ErrorGroup): string {
  return JSON.stringify([code, hint]);
}

/** One line of JSON for stderr, where -o json was asked for. */
export function renderErrorJson(
  thrown: unknown,
  { log, complete = asTheyAre }: Pick<ErrorStyle, 'log' | 'complete'> = {},
): string {
  const errors = flatten(thrown).map((error) => completedReport(toErrorReport(error), complete));
  return `${JSON.stringify({ kind: 'Error', exitCode: exitCodeOf(thrown), errors, ...(log === undefined ? {} : { log }) })}\n`;
}

/** true where the error, or one of several, is a bug in bke. */
export function isBug(thrown: unknown): boolean {
  return flatten(thrown).some((error) => !(error instanceof BkeError) || error.code === 'BKE_INTERNAL');
}

function flatten(thrown: unknown): unknown[] {
  if (!(thrown instanceof AggregateError) || thrown.errors.length === 0) return [thrown];
  return thrown.errors.flatMap(flatten);
}

function grouped(errors: readonly unknown[], complete: Completer): ErrorGroup[] {
  const groups = new Map<string, { report: ErrorReport; hosts: string[] }>();
  for (const error of errors) {
    const report = completedReport(toErrorReport(error), complete);
    const cause = causeOf(error, report.message);
    const details = [...(cause === undefined ? [] : [`cause: ${cause}`]), ...(report.details ?? [])];
    const key = JSON.stringify([report.code, report.message, report.hint]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { report: { ...report, details }, hosts: hostOf(report) });
    else group.hosts.push(...hostOf(report));
  }
  return [...groups.values()];
}

function hostOf(report: ErrorReport): string[] {
  return report.host === undefined ? [] : [report.host];
}

function causeOf(error: unknown, message: string): string | undefined {
  if (!(error instanceof BkeError) || !(error.cause instanceof Error)) return undefined;
  const cause = error.cause.message.split('\n', 1)[0] ?? '';
  // A system error's own words are already in the message.
  return error.code === 'BKE_SYSTEM' || cause === '' || message.includes(cause) ? undefined : cause;
}

function renderGroup({ report, hosts }: ErrorGroup, style: ErrorStyle & { readonly isLast: boolean }): string {
  const { theme } = style;
  const head = headOf(report.code, theme);
  const where = hosts.length === 1 ? `${hosts[0]}: ` : '';
  const [first = '', ...more] = shownLines(where + report.message);
  const lines = [`${head} ${first}`];
  if (hosts.length > 1) lines.push(`  on ${plural(hosts.length, 'host')}: ${listedShort(hosts, style.hosts ?? 8)}`);
  lines.push(
    ...[...more, ...(report.details ?? []).flatMap((detail) => shownLines(printable(detail)))].map(
      (line) => `  ${line}`,
    ),
  );
  if (report.code === 'BKE_INTERNAL') {
    lines.push('  This is a bug in bke, not something you did.');
    if (style.log !== undefined)
      lines.push(`  Everything about it is in ${style.log}; please report it with that file.`);
  }
  if (style.isLast) lines.push(...mendLines(report, theme));
  return lines.map((line) => `${line}\n`).join('');
}

/** What a person stopped is no failure. */
function headOf(code: ErrorReport['code'], theme: Theme): string {
  const interrupted = errorTable[code].exit === ExitCode.interrupted;
  const paint = interrupted ? theme.warning : theme.bad;
  return paint(theme.strong(`${interrupted ? 'interrupted' : 'error'}[${code}]:`));
}

function mendLines({ code, hint }: ErrorReport, theme: Theme): string[] {
  const [first, ...rest] = hint === undefined ? [] : shownLines(hint);
  const told = first === undefined ? [] : [`${theme.accent('hint:')} ${first}`, ...rest.map((line) => `      ${line}`)];
  return [...told, theme.faint(`see: bke explain ${code}`)];
}

/** Programs on hosts end their words with several lines. */
function shownLines(text: string): string[] {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => visible(line.replaceAll('\t', '  '), longestMessage));
}
