// The change kind `hosts-entry`: one line of /etc/hosts, marked as ours; all other lines belong to others, byte by byte.
import { isIP } from 'node:net';
import { digestOf } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import { errnoOf } from '../errno.ts';
import type { FileStat, Host } from '../host.ts';
import type { ChangeKind, ChangeRecord, HostsEntryChange, Observation, UndoOutcome } from './change.ts';
import { removeDrafts } from './file-state.ts';

const path = '/etc/hosts';

/** Of the whole file, to know whether it is again what it was. */
interface HostsState {
  readonly existed: boolean;
  readonly digest: string;
  readonly mtimeNs: string;
  /** The last line had no newline, and we had to give it one. */
  readonly openEnd: boolean;
}

const mark = '# bke: ';

function marker(change: HostsEntryChange): string {
  return `${mark}${change.names.join(' ')}`;
}

/** Whether a line of the file is one that bke writes, to the letter: address, names, and the same names behind the mark. */
function isMarked(line: string): boolean {
  const [entry = '', marked] = line.split(` ${mark}`);
  const [address = '', ...own] = entry.split(' ');
  return isIP(address) !== 0 && own.length > 0 && own.join(' ') === marked && line === `${entry} ${mark}${marked}`;
}

function lineOf(change: HostsEntryChange): string {
  return `${change.address} ${change.names.join(' ')} ${marker(change)}`;
}

interface HostsFile {
  readonly stat: FileStat | undefined;
  /** latin1: every byte stays what it is. */
  readonly text: string;
}

async function readHosts(host: Host): Promise<HostsFile> {
  const stat = await host.files.stat(path);
  if (stat !== undefined && stat.type !== 'file') {
    throw new BkeError('BKE_PATH_IN_THE_WAY', `${path} is a ${stat.type}, and bke changes a file only`, {
      host: host.name,
    });
  }
  return { stat, text: (await host.files.read(path))?.toString('latin1') ?? '' };
}

function stateOf(file: HostsFile): HostsState {
  return {
    existed: file.stat !== undefined,
    digest: digestOf(Buffer.from(file.text, 'latin1')),
    mtimeNs: file.stat?.mtimeNs ?? '0',
    openEnd: file.text !== '' && !file.text.endsWith('\n'),
  };
}

async function writeHosts(host: Host, file: HostsFile, text: string, mtimeNs?: string): Promise<void> {
  const { mode, uid, gid } = file.stat ?? { mode: 0o644, uid: 0, gid: 0 };
  const time = mtimeNs === undefined ? {} : { mtimeNs };
  const content = Buffer.from(text, 'latin1');
  try {
    await host.files.write(path, content, { mode, uid, gid, ...time });
  } catch (thrown) {
    // In containers the file itself is a mount point, which nothing can be renamed over.
    if (errnoOf(thrown) !== 'EBUSY') throw thrown;
    await host.files.writeInPlace(path, content);
  }
}

function names(line: string): string[] {
  return (line.split('#')[0] ?? '').trim().split(/\s+/).slice(1);
}

/** Before the first foreign line that names one of ours: the resolver takes the first it finds. Else at the end. */
function withLine(lines: readonly string[], change: HostsEntryChange): string[] {
  const rest = lines.filter((line) => !line.endsWith(marker(change)));
  const rival = rest.findIndex((line) => names(line).some((name) => change.names.includes(name)));
  const end = rest.at(-1) === '' ? rest.length - 1 : rest.length;
  const at = rival >= 0 ? rival : end;
  const added = [...rest.slice(0, at), lineOf(change), ...rest.slice(at)];
  return added.at(-1) === '' ? added : [...added, ''];
}

async function observe(host: Host, change: HostsEntryChange): Promise<Observation<HostsState>> {
  const file = await readHosts(host);
  const lines = file.text.split('\n');
  const satisfied = lines.filter((line) => line.endsWith(marker(change))).join('\n') === lineOf(change);
  const there = lines.some((line) => line.endsWith(marker(change)));
  return { satisfied, before: stateOf(file), action: satisfied ? 'none' : there ? 'change' : 'create' };
}

async function apply(host: Host, change: HostsEntryChange): Promise<void> {
  await removeDrafts(host, path);
  const file = await readHosts(host);
  await writeHosts(host, file, withLine(file.text === '' ? [''] : file.text.split('\n'), change).join('\n'));
}

function isOurLine(record: ChangeRecord<HostsEntryChange, HostsState>, line: string): boolean {
  return record.versions.some((version) => lineOf(version.change) === line);
}

async function undo(host: Host, record: ChangeRecord<HostsEntryChange, HostsState>): Promise<UndoOutcome> {
  const first = record.first;
  await removeDrafts(host, path);
  const file = await readHosts(host);
  const lines = file.text.split('\n');
  const rest = lines.filter((line) => !isOurLine(record, line));
  const edited = rest.filter((line) => line.endsWith(marker(record.last)));
  const why = edited.length === 0 ? {} : { why: `a line of ours was edited and stays: ${edited.join(', ')}` };
  if (rest.length === lines.length) return { result: edited.length === 0 ? 'already' : 'kept', ...why };
  const text = rest.join('\n');
  // Without the newline we had to add, where that gives back exactly what was there.
  const closed =
    first.openEnd && digestOf(Buffer.from(text.slice(0, -1), 'latin1')) === first.digest ? text.slice(0, -1) : text;
  if (!first.existed && closed === '') await host.files.remove(path);
  else {
    const same = digestOf(Buffer.from(closed, 'latin1')) === first.digest;
    await writeHosts(host, file, closed, same ? first.mtimeNs : undefined);
  }
  return { result: edited.length === 0 ? 'undone' : 'kept', ...why };
}

/** Lines exactly as bke writes them, for hosts whose ledger is lost. */
export async function markedLines(host: Host): Promise<string[]> {
  return (await readHosts(host)).text.split('\n').filter(isMarked);
}

/** All other lines stay, byte by byte. */
export async function removeMarkedLines(host: Host): Promise<void> {
  const file = await readHosts(host);
  const lines = file.text.split('\n');
  const rest = lines.filter((line) => !isMarked(line));
  if (rest.length < lines.length) await writeHosts(host, file, rest.join('\n'));
}

export const hostsEntryKind: ChangeKind<HostsEntryChange, HostsState> = {
  kind: 'hosts-entry',
  key: (change) => `hosts-entry:${change.names.join(' ')}`,
  describe: (change) => `line ${change.address} ${change.names.join(' ')} in ${path}`,
  record: (change) => change,
  path: () => undefined,
  observe,
  apply,
  undo,
};
