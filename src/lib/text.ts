// Small things done to text that people read.

/** dry-run -> dryRun */
export function camelCase(name: string): string {
  return name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** 1 host, 2 hosts. */
export function plural(count: number, word: string, many = `${word}s`): string {
  return `${count} ${count === 1 ? word : many}`;
}

/** a; a and b; a, b and c. */
export function listed(words: readonly string[], joint = 'and'): string {
  if (words.length <= 1) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1) ?? ''}`;
}

/** `name: words`; words that begin with the name already are left as they are. */
export function named(name: string, words: string): string {
  const begins = words === name || [':', ','].some((mark) => words.startsWith(`${name}${mark}`));
  return begins ? words : `${name}: ${words}`;
}

/** The last line that says something: programs tell their reason there. */
export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

/** At most `most` words, then how many more there are. */
export function listedShort(words: readonly string[], most: number): string {
  if (words.length <= most) return words.join(', ');
  return `${words.slice(0, most).join(', ')} and ${words.length - most} more`;
}

/** Breaks at spaces so that no line is longer than `width`, except a word that is longer itself. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && textWidth(line) + 1 + textWidth(word) > width) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const escapes = /\u001B\[[0-9;?]*[A-Za-z]/g;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;

/** Without escape sequences and control characters, so that text from a host can't move the cursor or hide a line. Keeps tab and newline. */
export function printable(text: string): string {
  return text.replaceAll(escapes, '').replaceAll('\r\n', '\n').replaceAll(controls, '');
}

// Line ends of Unicode, and what turns the direction of writing or has no width: a name with them looks like another one.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const unseen = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g;

/** One line, with every control character shown (\x1b, \u202e), at most `most` characters before the ellipsis. */
export function visible(text: string, most: number): string {
  const shown = text.length > most ? `${text.slice(0, most)}…` : text;
  return shown.replaceAll(unseen, (letter) => {
    const code = letter.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, '0')}`;
  });
}

/** A name that others gave, for messages: in double quotes, so that it is plain where it ends; cut off after 200 characters. */
export function quoted(name: string): string {
  return `"${visible(name, 200).replaceAll('"', '\\"')}"`;
}

const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|[\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/gu;

/** Columns a line takes on a terminal; East Asian wide letters take two, colour codes none. */
export function textWidth(text: string): number {
  const plain = text.includes('\u001B') ? text.replaceAll(escapes, '') : text;
  return Array.from(plain).length + (plain.match(wide)?.length ?? 0);
}

/** Cut to `width` columns with an ellipsis; plain text only. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const letter of text) {
    const columns = textWidth(letter);
    if (used + columns > width - 1) break;
    kept += letter;
    used += columns;
  }
  return width <= 0 ? '' : `${kept}…`;
}

/** Filled with spaces to `width` columns. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

/** Without blank lines and control characters, each at most 300 characters. */
export function lastLines(text: string, count: number): string[] {
  const lines = printable(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.slice(-count).map((line) => (line.length > 300 ? `${line.slice(0, 300)}…` : line));
}
