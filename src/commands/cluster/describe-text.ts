// The tree of a cluster as aligned lines for people.
import { firstLine } from '../../controllers/bkeoperation/causes.ts';
import { formatDuration } from '../../lib/duration.ts';
import { padEnd, textWidth, visible } from '../../lib/text.ts';
import type { TreeNode } from './describe-tree.ts';

const titles = ['NAME', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'] as const;
const longestMessage = 300;

export function treeText(root: TreeNode, { now, headers }: { readonly now: Date; readonly headers: boolean }): string {
  const rows = [...(headers ? [[...titles]] : []), ...rowsBelow(root, { now, head: '', rest: '' })];
  const widths = titles.map((_, column) => Math.max(...rows.map((row) => textWidth(row[column] ?? ''))));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => padEnd(cell, widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

interface Place {
  readonly now: Date;
  /** Before the name. */
  readonly head: string;
  /** Before what is below it. */
  readonly rest: string;
}

function rowsBelow(node: TreeNode, { now, head, rest }: Place): string[][] {
  const { name, status, reason, since, message, children } = node;
  const age = since === '' ? '' : formatDuration(now.getTime() - Date.parse(since));
  const row = [`${head}${visible(name, 200)}`, status, reason, age, visible(firstLine(message), longestMessage)];
  const below = children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    return rowsBelow(child, { now, head: `${rest}${isLast ? '└─' : '├─'}`, rest: `${rest}${isLast ? '  ' : '│ '}` });
  });
  return [row, ...below];
}
