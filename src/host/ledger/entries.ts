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

export function encodeLine(entry: LedgerEntry): string {
  const json = JSON.stringify(entry);
  return `${checksum(json)} ${json}\n`;
}

function decodeLine(line: Buffer): LedgerEntry | undefined {
  const json = line.subarray(17);
  if (line[16] !== 0x20 || line.toString('latin1', 0, 16) !== checksum(json)) return undefined;
  const entry: LedgerEntry = JSON.parse(json.toString());
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

/** undefined where there is no ledger. */
export async function readEntries(host: Host, path: string): Promise<LedgerContent | undefined> {
  if ((await host.files.stat(path)) === undefined) return undefined;
  const entries: LedgerEntry[] = [];
  const damaged: DamagedLine[] = [];
  let wholeBytes = 0;
  let bytes = 0;
  let count = 0;
  for await (const { line, whole } of lines(host.files.stream(path))) {
    bytes += line.length + (whole ? 1 : 0);
    if (!whole) break;
    count += 1;
    wholeBytes = bytes;
    const entry = decodeLine(line);
    if (entry === undefined) damaged.push({ line: count, why: 'its checksum does not fit' });
    else entries.push(entry);
  }
  return { entries, damaged, wholeBytes, bytes };
}
