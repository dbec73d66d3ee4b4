// Help texts from the command table: examples first, then arguments and options.
import type { CommandSpec, OptionSpec } from '../../lib/command.ts';
import { formatDuration } from '../../lib/duration.ts';
import { globalOptionsOf } from '../../lib/global-options.ts';
import { listed, padEnd, textWidth, wrap } from '../../lib/text.ts';
import { topics } from './topics.ts';
import { argumentShown, usageLine } from './usage.ts';

type Spec = CommandSpec<never>;

/** Just enough of a theme, so that help can be made without one. */
export interface HelpStyle {
  readonly width: number;
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
}

export const plainHelp: HelpStyle = { width: 100, strong: (text) => text, faint: (text) => text };

const groupTitles: Readonly<Record<Spec['group'], string>> = {
  bootstrap: 'This machine',
  hosts: 'Hosts',
  clusters: 'Clusters',
  content: 'Content',
  help: 'Help',
  roles: 'Roles (started by systemd; people rarely type them)',
};

/** All commands, grouped. */
export function programHelp(commands: readonly Spec[], style: HelpStyle): string {
  const visible = commands.filter((command) => command.hidden !== true);
  const width = Math.max(...visible.map((command) => textWidth(shortForm(command))));
  const sections = Object.entries(groupTitles).flatMap(([group, title]) => {
    const rows = visible.filter((command) => command.group === group);
    if (rows.length === 0) return [];
    return [
      section(
        title,
        rows.flatMap((row) => twoColumns([shortForm(row), row.summary], width, style)),
        style,
      ),
    ];
  });
  return [
    'bke turns Linux servers into Kubernetes clusters, and keeps them, without internet.\n',
    ...sections,
    section('Topics', twoColumns(['bke help TOPIC', listed(topics.map((topic) => topic.name))], width, style), style),
    `'bke help COMMAND' or 'bke COMMAND --help' tells more about a command.\n`,
  ].join('\n');
}

/** The commands below a noun, e.g. `bke bundle`. */
export function nounHelp(path: readonly string[], commands: readonly Spec[], style: HelpStyle): string {
  const below = commands.filter(
    (command) => command.hidden !== true && path.every((word, i) => command.path[i] === word),
  );
  const width = Math.max(...below.map((command) => textWidth(shortForm(command))));
  const rows = below.flatMap((command) => twoColumns([shortForm(command), command.summary], width, style));
  return `${section(`Commands of bke ${path.join(' ')}`, rows, style)}\n'bke help ${path.join(' ')} COMMAND' tells more about one.\n`;
}

/** What there is help about that is no command. */
export function topicsHelp(style: HelpStyle): string {
  return section(
    'Topics',
    table(
      topics.map(({ name, title }): Row => [`bke help ${name}`, title]),
      style,
    ),
    style,
  );
}

/** Everything about one command. */
export function commandHelp(command: Spec, style: HelpStyle): string {
  const parts = [`${command.summary}.\n`];
  if (command.examples.length > 0) {
    const lines = command.examples.flatMap(({ command: line, says }) => [
      style.faint(`  # ${says}`),
      ...commandLines(line, style.width),
    ]);
    parts.push(section('Examples', lines, style));
  }
  if (command.description !== undefined) {
    parts.push(`${wrap(command.description, style.width).join('\n')}\n`);
  }
  parts.push(section('Usage', commandLines(usageLine(command), style.width), style));
  const args = command.args ?? [];
  if (args.length > 0) {
    const rows = args.map((argument): Row => [argumentShown(argument), argument.summary]);
    parts.push(section('Arguments', table(rows, style), style));
  }
  const own = (command.options ?? []).filter((option) => option.hidden !== true);
  if (own.length > 0) parts.push(section('Options', table(own.map(optionRow), style), style));
  parts.push(section('Options of every command', table(globalRows(command), style), style));
  return parts.join('\n');
}

function globalRows(command: Spec): Row[] {
  const formats = command.output ?? ['json'];
  return globalOptionsOf(command).flatMap((option): Row[] => {
    if (option.name !== 'output') return [optionRow(option)];
    const [form] = optionRow(option);
    if (command.output === undefined) return [[form, 'json: events to standard output, one JSON object per line']];
    return [[form, `${listed(formats, 'or')} (${formats[0]})`]];
  });
}

type Row = readonly [string, string];

function optionRow(option: OptionSpec): Row {
  const short = option.short === undefined ? '    ' : `-${option.short}, `;
  if (option.type === 'flag') {
    return [`${short}--${option.default === true ? 'no-' : ''}${option.name}`, option.summary];
  }
  const notes: string[] = [];
  if (option.choices !== undefined) notes.push(listed(option.choices, 'or'));
  if (option.repeatable === true) notes.push('may be repeated');
  if (option.required === true) notes.push('required');
  if (option.default !== undefined) notes.push(`default ${shownDefault(option.type, option.default)}`);
  const noted = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  return [`${short}--${option.name} ${option.placeholder}`, `${option.summary}${noted}`];
}

/** Durations are held in milliseconds and typed as 5m. */
function shownDefault(type: OptionSpec['type'], value: string | number): string {
  return type === 'duration' && typeof value === 'number' ? formatDuration(value) : String(value);
}

function shortForm(command: Spec): string {
  return ['bke', ...command.path, ...(command.args ?? []).map(argumentShown)].join(' ');
}

/** A line for a shell; where it is too long, as several that the shell reads as one. */
function commandLines(line: string, width: number): string[] {
  const parts = wrap(line, width - 6);
  return parts.map((part, i) => `${i === 0 ? '  ' : '    '}${part}${i < parts.length - 1 ? ' \\' : ''}`);
}

function section(title: string, lines: readonly string[], style: HelpStyle): string {
  return `${style.strong(title)}\n${lines.join('\n')}\n`;
}

function table(rows: readonly Row[], style: HelpStyle): string[] {
  const width = Math.min(34, Math.max(...rows.map(([left]) => textWidth(left))));
  return rows.flatMap((row) => twoColumns(row, width, style));
}

/** The right column is wrapped; a left one that is too long stands on its own line. */
function twoColumns([left, right]: Row, width: number, style: HelpStyle): string[] {
  const indent = width + 5;
  const lines = wrap(right, Math.max(20, style.width - indent));
  const tooLong = textWidth(left) > width;
  const first = tooLong ? [`  ${left}`] : [`  ${padEnd(left, width)}   ${lines[0] ?? ''}`.trimEnd()];
  return [...first, ...lines.slice(tooLong ? 0 : 1).map((line) => ' '.repeat(indent) + line)];
}
