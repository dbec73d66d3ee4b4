// bke explain [CODE]: what an error means and how to mend it; works offline.
import { errorTable } from '../lib/error-table.ts';
import { BkeError } from '../lib/errors.ts';
import { readInput } from '../lib/input.ts';
import { nearest } from '../lib/suggest.ts';
import { wrap } from '../lib/text.ts';
import type { Command } from './context.ts';

export const explain: Command = {
  path: ['explain'],
  group: 'help',
  summary: 'Tell what an error code means and how to mend it',
  examples: [
    { command: 'bke explain BKE_TIMEOUT', says: 'one error' },
    { command: 'bke explain', says: 'all error codes' },
  ],
  args: [
    {
      name: 'code',
      summary: 'an error code, as it stands in brackets after "error"',
      optional: true,
      suggestions: Object.keys(errorTable),
    },
  ],
  output: ['table', 'json', 'yaml', 'name'],
  list: true,
  run: async (context, input) => {
    const typed = readInput(input).text('code');
    if (typed !== undefined) return { kind: 'object', ...explained(typed, context.textWidth) };
    return {
      kind: 'list',
      items: Object.entries(errorTable).map(([code, { exit, title }]) => ({ name: code, exit, title })),
      columns: [
        { title: 'code', field: 'name' },
        { title: 'exit', field: 'exit' },
        { title: 'title', field: 'title' },
      ],
      empty: 'There are no error codes.',
    };
  },
};

function explained(typed: string, width: number): { value: object; text: string } {
  const wanted = typed.toUpperCase().replace(/^ERROR\[|\]$/g, '');
  const entry = Object.entries(errorTable).find(([code]) => code === wanted);
  if (entry === undefined) {
    const codes = Object.keys(errorTable);
    const meant = nearest(wanted, codes) ?? nearest(`BKE_${wanted.replace(/^BKE_?/, '')}`, codes);
    throw new BkeError('BKE_USAGE', `there is no error code '${typed}'`, {
      hint: meant === undefined ? `'bke explain' lists all codes.` : `Did you mean 'bke explain ${meant}'?`,
    });
  }
  const [name, { title, explanation, exit }] = entry;
  const text = `${name}: ${title}\n\n${wrap(explanation, width).join('\n')}\n\nexit code: ${exit}\n`;
  return { value: { name, title, exit, explanation }, text };
}
