// The journal of an operation: its events as NDJSON in one file, readable while it runs and after a crash.
import { randomBytes } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync, writeSync } from 'node:fs';
import { readdir, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { OperationAction, OperationEvent } from '../api/events.ts';
import { isErrno } from '../lib/errno.ts';
import { makeOperationsDirectory } from './state-dir.ts';

/** Journals kept; older ones are removed when another operation starts. */
const kept = 200;
const idPattern = /^\d{8}-\d{6}-[a-z-]+-[0-9a-f]{4}$/;

export interface Journal {
  readonly path: string;
  /** @throws the system's error where the file can't be written. */
  append(event: OperationEvent): void;
  close(): void;
}

/** Sorts by time: 20261130-101500-init-ab12 (UTC). */
export function newOperationId(action: OperationAction, now: Date): string {
  const [date = '', time = ''] = now
    .toISOString()
    .replaceAll(/[-:]|\.\d+Z/g, '')
    .split('T');
  return `${date}-${time}-${action.replaceAll('.', '-')}-${randomBytes(2).toString('hex')}`;
}

/** Creates <directory>/<id>.jsonl, 0600 in a folder of 0700. Written at once, so that a crash loses nothing; synced when closed. */
export async function createJournal(directory: string, id: string): Promise<Journal> {
  await makeOperationsDirectory(directory);
  await prune(directory);
  const path = join(directory, `${id}.jsonl`);
  const file = openSync(path, 'ax', 0o600);
  return {
    path,
    append: (event) => void writeSync(file, `${JSON.stringify(event)}\n`),
    close: () => {
      fsyncSync(file);
      closeSync(file);
    },
  };
}

/** Ids of the journals in a folder, oldest first. */
export async function listJournals(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT')) return [];
    throw thrown;
  });
  const ids = names.filter((name) => name.endsWith('.jsonl')).map((name) => basename(name, '.jsonl'));
  return ids.filter((id) => idPattern.test(id)).sort();
}

/** The events of a journal, streamed. A line that is no event (torn by a crash) is left out. */
export async function* readJournal(directory: string, id: string): AsyncGenerator<OperationEvent> {
  const input = createReadStream(join(directory, `${id}.jsonl`));
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const event = parseEvent(line);
    if (event !== undefined) yield event;
  }
}

function parseEvent(line: string): OperationEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** bke's own file, so its shape is trusted where the header is there. */
function isEvent(value: unknown): value is OperationEvent {
  return typeof value === 'object' && value !== null && 'type' in value && 'seq' in value && 'time' in value;
}

async function prune(directory: string): Promise<void> {
  const ids = await listJournals(directory);
  for (const id of ids.slice(0, Math.max(0, ids.length - kept + 1))) {
    await unlink(join(directory, `${id}.jsonl`)).catch(() => undefined);
  }
}
