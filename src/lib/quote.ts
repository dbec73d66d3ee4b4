// Words for a POSIX shell: what is quoted here reaches a program byte for byte.

/** One word in single quotes. @throws Error for a NUL, which no argument can hold. */
export function shellQuote(word: string): string {
  return `'${checked(word).replaceAll("'", "'\\''")}'`;
}

/** As `shellQuote`, but without a newline in it: a newline is written as `"$n"`, which the reading shell must have set to one. */
export function shellQuoteOneLine(word: string): string {
  return shellQuote(word).replaceAll('\n', `'"$n"'`);
}

/** A command as a person would type it: words are quoted only where they need it. For messages. */
export function shellCommand(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word))).join(' ');
}

function checked(word: string): string {
  if (word.includes('\0')) throw new Error('an argument of a command cannot hold a NUL byte');
  return word;
}
