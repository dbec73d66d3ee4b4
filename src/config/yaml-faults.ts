// What YAML itself refuses in a file, in words that tell no value of it.
import type { Document, ErrorCode, LineCounter } from 'yaml';
import { plural } from '../lib/text.ts';

export type Path = readonly PropertyKey[];

/** Counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface SyntaxFault extends Position {
  readonly message: string;
  /** Of the value it is about, where it is about one. */
  readonly path?: Path;
}

/** Kinds of faults that are about one value or name alone: what stands below is read all the same. */
const standsAlone: ReadonlySet<ErrorCode> = new Set([
  'BAD_ALIAS',
  'BAD_COLLECTION_TYPE',
  'BAD_DQ_ESCAPE',
  'BAD_SCALAR_START',
  'TAG_RESOLVE_FAILED',
]);

/** Up to the first that leaves open how the rest is meant: those below it are mostly no mistakes of their own. */
export function syntaxFaults({ errors, warnings }: Document.Parsed, lines: LineCounter): SyntaxFault[] {
  const all = [...errors, ...warnings].toSorted((a, b) => a.pos[0] - b.pos[0]);
  const breaking = all.findIndex(({ code }) => !standsAlone.has(code));
  const told = breaking === -1 ? all : all.slice(0, breaking + 1);
  const more = all.length - told.length;
  const rest = more === 0 ? '' : ` (${plural(more, 'more fault')} below that may come from it)`;
  return told.map((fault, index) => {
    const { line, col } = lines.linePos(fault.pos[0]);
    const words = `${faultWords(fault)}${index === breaking ? rest : ''}`;
    return { line, column: col, message: `this is no valid YAML: ${words}` };
  });
}

export const unresolvedAlias = 'Unresolved alias (text that begins with * needs quotes)';
/** Of kinds whose own message has what was written in it, which may be a secret, or tells little. */
const ownWords: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_ALIAS: unresolvedAlias,
  BAD_COLLECTION_TYPE: 'A tag does not fit its value',
  BAD_DIRECTIVE: 'Bad directive',
  BAD_DQ_ESCAPE: 'Invalid escape sequence',
  BLOCK_AS_IMPLICIT_KEY:
    'A value stands behind a colon, and more below it or behind another colon (a text with a colon and a space needs quotes)',
  RESOURCE_EXHAUSTION: 'Nested too deeply',
  TAG_RESOLVE_FAILED: 'Unresolved tag (text that begins with ! needs quotes)',
};

/** Other messages may end in a colon and a piece of the file. */
function faultWords({ code, message }: { readonly code: ErrorCode; readonly message: string }): string {
  const words = ownWords[code] ?? message.replace(/(?<! ): .*$/s, '').slice(0, 100);
  return code === 'BAD_SCALAR_START' ? `${words} (such a text needs quotes)` : words;
}
