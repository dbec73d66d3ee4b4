// The generated pages of docs/, from the error table and the command table.
import { commands } from '../src/cli/table.ts';
import { commandHelp, plainHelp, programHelp } from '../src/commands/help/render.ts';
import { topics } from '../src/commands/help/topics.ts';
import { errorTable } from '../src/lib/error-table.ts';

const origin = (table: string): string => `<!-- Made by \`npm run docs\` from ${table}; edit that instead. -->\n`;

/** docs/errors.md */
export function errorsPage(): string {
  const entries = Object.entries(errorTable).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const sections = entries.map(
    ([code, { title, exit, explanation }]) => `## ${code}\n\n${title}. Exit code ${exit}.\n\n${explanation}\n`,
  );
  return [
    '# Errors\n',
    origin('src/lib/error-table.ts'),
    'Every error bke can end with. `bke explain CODE` prints the same, offline; `bke help exit-codes` lists the exit codes.\n',
    ...sections,
  ].join('\n');
}

/** docs/reference/cli.md */
export function cliPage(): string {
  const visible = commands.filter((command) => command.hidden !== true);
  const sections = visible.map(
    (command) => `## bke ${command.path.join(' ')}\n\n${block(commandHelp(command, plainHelp))}`,
  );
  const pages = topics.map((topic) => `## ${topic.title}\n\n${block(`${topic.text}\n`)}`);
  return [
    '# Commands\n',
    origin('the command table (src/cli/table.ts)'),
    block(programHelp(commands, plainHelp)),
    ...sections,
    ...pages,
  ].join('\n');
}

function block(text: string): string {
  return `\`\`\`text\n${text}\`\`\`\n`;
}
