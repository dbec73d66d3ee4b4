// bke help [COMMAND | TOPIC]
import { BkeError } from '../../lib/errors.ts';
import { readInput } from '../../lib/input.ts';
import { nearest } from '../../lib/suggest.ts';
import type { Command } from '../context.ts';
import { commandHelp, type HelpStyle, nounHelp, plainHelp, programHelp, topicsHelp } from './render.ts';
import { findTopic, topics } from './topics.ts';

/** @param commands the whole table, asked for when it is complete: this command is in it. */
export function helpCommand(commands: () => readonly Command[]): Command {
  return {
    path: ['help'],
    group: 'help',
    summary: 'Tell about a command or a topic',
    examples: [
      { command: 'bke help', says: 'all commands' },
      { command: 'bke help init', says: 'one command' },
      { command: 'bke help exit-codes', says: 'a topic' },
    ],
    args: [
      {
        name: 'word',
        summary: 'a command or a topic',
        optional: true,
        variadic: true,
        commandWords: true,
        suggestions: topics.map(({ name }) => name),
      },
    ],
    output: [],
    run: async ({ textWidth }, input) => ({
      kind: 'text',
      text: helpText(readInput(input).texts('word'), commands(), { ...plainHelp, width: textWidth }),
    }),
  };
}

/** @throws BkeError BKE_UNKNOWN_COMMAND */
export function helpText(words: readonly string[], commands: readonly Command[], style: HelpStyle): string {
  if (words.length === 0) return programHelp(commands, style);
  const wanted = words.join(' ');
  const exact = commands.find((command) => command.path.join(' ') === wanted);
  if (exact !== undefined) return commandHelp(exact, style);
  if (commands.some((command) => command.path.join(' ').startsWith(`${wanted} `)))
    return nounHelp(words, commands, style);
  if (wanted === 'topics') return topicsHelp(style);
  const topic = findTopic(wanted);
  if (topic !== undefined) return `${style.strong(topic.title)}\n\n${topic.text}\n`;
  const paths = commands.filter((command) => command.hidden !== true).map((command) => command.path.join(' '));
  const meant =
    paths.find((path) => path.endsWith(` ${wanted}`)) ?? nearest(wanted, [...paths, ...topics.map(({ name }) => name)]);
  const all = `'bke help' lists all commands and topics.`;
  throw new BkeError('BKE_UNKNOWN_COMMAND', `there is no command or topic '${wanted}'`, {
    hint: meant === undefined ? all : `Did you mean 'bke help ${meant}'? ${all}`,
  });
}
