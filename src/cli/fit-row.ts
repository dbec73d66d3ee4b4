// Lines for people on a narrow terminal.
import { textWidth, wrap } from '../lib/text.ts';

/** Two spaces, a name, two spaces or more, a value. */
const row = /^( {2}\S+(?: \S+)* {2,})(\S.*)$/;

/**
 * A row of a list (`  name   value`) whose value goes on below its own beginning where the terminal ends. Any other line is left to the terminal, which
 * breaks it anywhere, but so that a command in it can be copied whole.
 */
export function fitRow(line: string, columns: number): string {
  const [, head = '', value = ''] = row.exec(line) ?? [];
  const width = columns - textWidth(head);
  if (head === '' || width < 20 || textWidth(line) <= columns) return line;
  return head + wrap(value, width).join(`\n${' '.repeat(textWidth(head))}`);
}
