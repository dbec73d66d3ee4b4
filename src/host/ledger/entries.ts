// The lines of a ledger: one JSON entry each, behind a checksum, so that a torn or damaged line is seen and the others still count.
import { createHash } from 'node:crypto';
import type { Change, Observed, Scope, UndoOutcome } from '../changes/change.ts';
import type { Host } from '../host.ts';

export const ledgerFormat = 1;

export type LedgerEntry =
  /** Always the first. `binary`: the temporary path bke was brought to before there was a ledger. */
  | {
      readonly type: 'ledger';
      readonly format: number;
      readonly machineId: string;
      readonly time: string;
      readonly binary?: string;
    }
  | {
      readonly type: 'run';
      readonly operation: string;
      readonly command: string;
      readonly time: string;
      readonly binary?: string;
    }
  | {
      readonly type: 'intent';
      readonly id: number;
      readonly scope: Scope;
      readonly key: string;
      readonly change: Change;
      readonly before: Observed;
      readonly time: string;
    }
  | { readonly type: 'applied'; readonly id: number; readonly observed: Observed }
  /** One more scope needs a resource that is ours already; or needs it no more while others do. */
  | { readonly type: 'claim' | 'release'; readonly key: string; readonly scope: Scope }
  | { readonly type: 'undo'; readonly key: string; readonly time: string }
  | { readonly type: 'undone'; readonly key: string; readonly outcome: UndoOutcome }
  | { readonly type: 'finished'; readonly operation: string; readonly time: string };

function checksum(json: string | Buffer): string {
  return createHash('sha256').update(json).digest('hex').slice(0, 16);
}

/** @param seq counts the lines from 1: lines that were lost leave a gap. */
export function encodeLine(entry: LedgerEntry, seq: number): string {
  const json = JSON.stringify({ ...entry, seq });
  return `${checksum(json)} ${json}\n`;
}

type Numbered = LedgerEntry & { readonly seq?: number };

function decodeLine(line: Buffer): Numbered | undefined {
  const json = line.subarray(17);
  if (line[16] !== 0x20 || line.toString('latin1', 0, 16) !== checksum(json)) return undefined;
  const entry: Numbered = JSON.parse(json.toString());
  return entry;
}

export interface DamagedLine {
  /** Counts from 1. */
  readonly line: number;
  readonly why: string;
}

export interface LedgerContent {
  readonly entries: readonly LedgerEntry[];
  readonly damaged: readonly DamagedLine[];
  /** Bytes up to the end of the last whole line: what follows was torn by a crash. */
  readonly wholeBytes: number;
  readonly bytes: number;
  /** Of the next line. */
  readonly nextSeq: number;
}

async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ line: Buffer; whole: boolean }> {
  let open: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield { line: Buffer.concat([...open, chunk.subarray(start, end)]), whole: true };
      open = [];
      start = end + 1;
    }
    if (start < chunk.length) open.push(chunk.subarray(start));
  }
  if (open.length > 0) yield { line: Buffer.concat(open), whole: false };
}

/** What a crash leaves of one line is its beginning; anything else came from somewhere else. */
function isTornLine(rest: Buffer): boolean {
  const printable = rest.every((byte) => byte >= 0x20);
  return printable && /^[0-9a-f]{1,16}$|^[0-9a-f]{16} (\{.*)?$/.test(rest.toString('latin1'));
}

/** Checks that each line follows the one before it; a line that can't be read counts as one. */
class Sequence {
  next = 1;

  /** Why lines are missing before this one; undefined where none are. */
  take(entry: Numbered | undefined): string | undefined {
    const expected = this.next;
    const seq = entry?.seq ?? expected;
    this.next = seq + 1;
    return seq === expected ? undefined : `it is number ${seq}, and number ${expected} should be here`;
  }
}

function whyDamaged(entry: Numbered | undefined, line: number, gap: string | undefined): string | undefined {
  if (entry === undefined) return 'its checksum does not fit';
  if (line === 1 && entry.type !== 'ledger') return 'it is not the first line of a ledger';
  return gap;
}

/** undefined where there is no ledger. */
export async function readEntries(host: Host, path: string): Promise<LedgerContent | undefined> {
  if ((await host.files.stat(path)) === undefined) return undefined;
  const entries: LedgerEntry[] = [];
  const damaged: DamagedLine[] = [];
  let wholeBytes = 0;
  let bytes = 0;
  let count = 0;
  const sequence = new Sequence();
  for await (const { line, whole } of lines(host.files.stream(path))) {
    bytes += line.length + (whole ? 1 : 0);
    count += 1;
    if (!whole) {
      if (!isTornLine(line)) damaged.push({ line: count, why: 'it is no line of a ledger' });
      break;
    }
    wholeBytes = bytes;
    const entry = decodeLine(line);
    const why = whyDamaged(entry, count, sequence.take(entry));
    if (why !== undefined) damaged.push({ line: count, why });
    if (entry !== undefined) entries.push(entry);
  }
  if (wholeBytes === 0 && damaged.length === 0) damaged.push({ line: 1, why: 'the first line of a ledger is missing' });
  return { entries, damaged, wholeBytes, bytes, nextSeq: sequence.next };
}
