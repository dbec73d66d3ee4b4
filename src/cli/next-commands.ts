// Commands that people are told to type next look where this one looked: they get its --kubeconfig and -n, wherever they stand in what is told.
import type { OperationEvent } from '../api/events.ts';
import type { CommandInput, CommandSpec } from '../lib/command.ts';
import type { ErrorReport } from '../lib/errors.ts';
import { shellCommand } from '../lib/quote.ts';

/** A text with its commands completed. */
export type Completer = (text: string) => string;

type Spec = Pick<CommandSpec<never>, 'path' | 'args' | 'options'>;

interface Given {
  readonly kubeconfig: string | undefined;
  readonly namespace: string | undefined;
}

/**
 * Commands are in single quotes, or are what a line ends with: `bke cluster describe prod`, `watch it again: bke operation attach ID`. Of kubectl `kubectl -n`
 * is enough, wherever it stands.
 * @param own the kubeconfig of this host, once the command looks there: bke finds it by itself, kubectl does not
 */
export function completer(
  commands: readonly Spec[],
  command: Spec,
  input: CommandInput,
  own: () => string | undefined = () => undefined,
): Completer {
  const given: Given = {
    kubeconfig: givenText(command, input, 'kubeconfig'),
    namespace: givenText(command, input, 'namespace'),
  };
  const complete = (line: string): string => completed(line, commands, given);
  return (text) => {
    const withBke = text
      .replaceAll(/'(bke [^'\n]+)'/g, (_, line: string) => `'${complete(line)}'`)
      .replaceAll(/(^|: +)(bke [^'\n]+)$/gm, (_, before: string, line: string) => before + complete(line));
    const kubeconfig = given.kubeconfig ?? own();
    if (kubeconfig === undefined) return withBke;
    const kubectl = shellCommand(['kubectl', '--kubeconfig', kubeconfig]);
    return withBke.replaceAll(/\bkubectl (?=-n )/g, () => `${kubectl} `);
  };
}

/** What is not the default of the option. */
function givenText({ options = [] }: Spec, input: CommandInput, name: string): string | undefined {
  const option = options.find((one) => one.name === name);
  const value = input[name];
  return option === undefined || typeof value !== 'string' || value === option.default ? undefined : value;
}

function completed(line: string, commands: readonly Spec[], given: Given): string {
  const words = line.trimEnd().split(' ');
  const spec = commandOf(words, commands);
  if (spec === undefined) return line;
  const end = words.indexOf('--');
  const own = end === -1 ? words : words.slice(0, end);
  const takes = (name: string, ...spellings: readonly string[]): boolean =>
    spec.options?.some((option) => option.name === name) === true &&
    !own.some((word) => spellings.includes(word.split('=', 1)[0] ?? ''));
  const { namespace, kubeconfig } = given;
  const more = [
    ...(namespace !== undefined && takes('namespace', '-n', '--namespace', '-A', '--all-namespaces')
      ? ['-n', namespace]
      : []),
    ...(kubeconfig !== undefined && takes('kubeconfig', '--kubeconfig') ? ['--kubeconfig', kubeconfig] : []),
  ];
  if (more.length === 0) return line;
  return [...own, shellCommand(more), ...words.slice(own.length)].join(' ');
}

/** undefined: it begins as a command does, and is a sentence. */
function commandOf([, ...words]: readonly string[], commands: readonly Spec[]): Spec | undefined {
  const found = commands.find(({ path }) => path.every((word, index) => words[index] === word));
  if (found === undefined) return undefined;
  const { path, args = [] } = found;
  const rest = words.slice(path.length);
  const firstOption = rest.findIndex((word) => word.startsWith('-'));
  const operands = firstOption === -1 ? rest.length : firstOption;
  return operands > args.length && args.at(-1)?.variadic !== true ? undefined : found;
}

export function completedReport(report: ErrorReport, complete: Completer): ErrorReport {
  const { hint, details } = report;
  return {
    ...report,
    message: complete(report.message),
    ...(hint === undefined ? {} : { hint: complete(hint) }),
    ...(details === undefined ? {} : { details: details.map(complete) }),
  };
}

/** What of an event people may type. */
export function completedEvent(event: OperationEvent, complete: Completer): OperationEvent {
  if (event.type === 'step.waiting') {
    const { cause, next } = event;
    return {
      ...event,
      ...(cause === undefined ? {} : { cause: complete(cause) }),
      ...(next === undefined ? {} : { next: complete(next) }),
    };
  }
  if (event.type === 'note') return { ...event, message: complete(event.message) };
  if (event.type === 'step.failed') return { ...event, error: completedReport(event.error, complete) };
  if (event.type !== 'operation.finished') return event;
  const { error, hosts } = event;
  return {
    ...event,
    next: event.next.map(complete),
    hosts: hosts.map((host) =>
      host.error === undefined ? host : { ...host, error: completedReport(host.error, complete) },
    ),
    ...(error === undefined ? {} : { error: completedReport(error, complete) }),
  };
}
