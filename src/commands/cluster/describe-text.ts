// The tree of a cluster as aligned lines for people.
import { firstLine } from '../../controllers/bkeoperation/causes.ts';
import { formatDuration } from '../../lib/duration.ts';
import { listedShort, padEnd, textWidth, visible } from '../../lib/text.ts';
import type { TreeNode } from './describe-tree.ts';

const titles = ['NAME', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'] as const;
const longestMessage = 300;

export function treeText(root: TreeNode, now: Date): { readonly headers: string; readonly text: string } {
  const rows = rowsBelow(root, { now, head: '', rest: '' });
  const widths = titles.map((title, column) =>
    Math.max(...[[...titles], ...rows].map((row) => textWidth(row[column] ?? title))),
  );
  const line = (row: readonly string[]): string =>
    `${row
      .map((cell, column) => padEnd(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd()}\n`;
  return { headers: line(titles), text: rows.map(line).join('') };
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
  const shown = grouped(children);
  const below = shown.flatMap((child, index) => {
    const isLast = index === shown.length - 1;
    return rowsBelow(child, { now, head: `${rest}${isLast ? '└─' : '├─'}`, rest: `${rest}${isLast ? '  ' : '│ '}` });
  });
  return [row, ...below];
}

/** Names of conditions that a row has before it counts the rest. */
const mostNamed = 2;

/** What several conditions say in the same words is one row. */
function grouped(nodes: readonly TreeNode[]): TreeNode[] {
  const said = Map.groupBy(nodes, (node) =>
    node.children.length > 0 || node.name.includes('/')
      ? node
      : JSON.stringify([node.status, node.reason, node.message]),
  );
  return [...said.values()].flatMap(([first, ...rest]) => {
    if (first === undefined) return [];
    const names = [first, ...rest].map(({ name }) => name);
    return [{ ...first, name: listedShort(names, mostNamed) }];
  });
}
