// The change kind `unit`: a systemd unit with this text, enabled and running as wanted.
import { join } from 'node:path';
import { digestOf } from '../../lib/digest.ts';
import type { Host } from '../host.ts';
import {
  emptyEnablementFolders,
  isUp,
  lastLog,
  removeEnablement,
  resetFailed,
  readUnit,
  startAnew,
  systemctl,
  unitFolder,
  type UnitState as SystemdUnit,
} from '../systemd.ts';
import type { ChangeKind, ChangeRecord, Keeper, Observation, UndoOutcome, UnitChange } from './change.ts';
import {
  type FileState,
  fileState,
  keptState,
  planUndoFile,
  removeDrafts,
  requireReplaceable,
  sameContent,
  undoFile,
} from './file-state.ts';

const fileAttributes = { mode: 0o644, uid: 0, gid: 0 };

interface UnitState {
  readonly file: FileState;
  readonly enabled: boolean;
  readonly running: boolean;
  /** Directories for links of enabled units that were there and empty: systemctl removes such a one with the last link in it. */
  readonly emptyFolders: readonly string[];
}

function pathOf(change: UnitChange): string {
  return join(unitFolder, change.name);
}

/** The ledger's copy of a change has the digest in place of the text. */
function digestWanted(change: UnitChange): string {
  return change.text.startsWith('sha256:') ? change.text : digestOf(change.text);
}

function digestOfFile(file: FileState): string | undefined {
  return file.type === 'file' ? file.digest : undefined;
}

function isWanted(change: UnitChange, file: FileState, unit: SystemdUnit): boolean {
  if (file.type !== 'file' || file.digest !== digestWanted(change) || file.mode !== fileAttributes.mode) return false;
  if (unit.load !== 'loaded' || unit.outOfDate) return false;
  if ((unit.enabled === 'enabled') !== change.enabled) return false;
  if (change.running === 'others') return true;
  return change.running ? unit.active === 'active' : !isUp(unit);
}

async function observe(host: Host, change: UnitChange, keeper: Keeper): Promise<Observation<UnitState>> {
  const unit = await readUnit(host, change.name);
  const file = await fileState(host, pathOf(change));
  const state = {
    enabled: unit.enabled === 'enabled',
    running: isUp(unit),
    emptyFolders: await emptyEnablementFolders(host),
  };
  if (isWanted(change, file, unit)) return { satisfied: true, before: { file, ...state }, action: 'none' };
  requireReplaceable(host, pathOf(change), file);
  const before: UnitState = { file: await keptState(host, pathOf(change), keeper), ...state };
  return { satisfied: false, before, action: file.type === 'none' ? 'create' : 'change' };
}

/** What systemd shows does not tell which configuration the running process has read; the ledger knows what it was last started with. */
function outdated(change: UnitChange, previous: ChangeRecord<UnitChange, UnitState> | undefined): boolean {
  if (change.running === false) return false;
  if (previous === undefined) return change.restartKey !== undefined;
  const finished = previous.versions.at(-1)?.applied !== undefined;
  return !finished || previous.last.restartKey !== change.restartKey;
}

async function apply(host: Host, change: UnitChange): Promise<void> {
  await removeDrafts(host, pathOf(change));
  const now = await fileState(host, pathOf(change));
  if (now.type !== 'file' || now.digest !== digestWanted(change) || now.mode !== fileAttributes.mode) {
    await host.files.write(pathOf(change), change.text, fileAttributes);
  }
  await systemctl(host, 'daemon-reload');
  const enabled = (await readUnit(host, change.name)).enabled === 'enabled';
  if (enabled !== change.enabled) await systemctl(host, change.enabled ? 'enable' : 'disable', change.name);
  await bringUp(host, change);
}

async function bringUp(host: Host, { name, running }: UnitChange): Promise<void> {
  if (running === 'others' && !isUp(await readUnit(host, name))) return;
  if (running === false) await systemctl(host, 'stop', name);
  else await startAnew(host, name);
}

function isOurs(record: ChangeRecord<UnitChange, UnitState>, state: FileState): boolean {
  return state.type === 'file' && record.versions.some((version) => digestWanted(version.change) === state.digest);
}

/** Stops and disables what was not running or enabled before us. The file goes only after that: a process without a unit is nobody's. */
async function quiet(host: Host, name: string, first: UnitState, now: SystemdUnit): Promise<boolean> {
  const stop = isUp(now) && !first.running;
  if (stop) await systemctl(host, 'stop', name);
  if (first.enabled) return stop;
  const disable = now.enabled === 'enabled';
  if (disable) await systemctl(host, 'disable', name);
  await removeEnablement(host, name);
  return stop || disable;
}

async function makeAgain(host: Host, folders: readonly string[]): Promise<void> {
  for (const path of folders) {
    await removeDrafts(host, path);
    if ((await host.files.stat(path)) !== undefined) continue;
    await host.files.makeDirectory(path, { mode: 0o755, uid: 0, gid: 0 });
  }
}

/** Started anew where it may still run as one of our versions; a crash may have come after the file and before the process. */
async function revive(host: Host, name: string, record: ChangeRecord<UnitChange, UnitState>): Promise<void> {
  const { first } = record;
  const isOther = !record.versions.every((version) => digestWanted(version.change) === digestOfFile(first.file));
  const now = await readUnit(host, name);
  if (first.enabled && now.enabled !== 'enabled') await systemctl(host, 'enable', name);
  if (!first.running) await resetFailed(host, name);
  else if (isOther || !isUp(now)) await startAnew(host, name);
}

async function undo(host: Host, record: ChangeRecord<UnitChange, UnitState>, keeper: Keeper): Promise<UndoOutcome> {
  const { name } = record.last;
  const first = record.first;
  const path = pathOf(record.last);
  const quieted = await quiet(host, name, first, await readUnit(host, name));
  const owned = { path, first: first.file, isOurs: (state: FileState) => isOurs(record, state) };
  const outcome = await undoFile(host, owned, keeper);
  await makeAgain(host, first.emptyFolders);
  await systemctl(host, 'daemon-reload');
  await revive(host, name, record);
  const dropIns = await host.files.list(`${path}.d`);
  const others = dropIns.length === 0 ? {} : { why: `drop-ins of someone else stay in ${path}.d` };
  if (outcome.result === 'already' && quieted) return { result: 'undone', ...others };
  return { ...others, ...outcome };
}

export const unitKind: ChangeKind<UnitChange, UnitState> = {
  kind: 'unit',
  key: (change) => `unit:${change.name}`,
  describe: (change) => `unit ${change.name}`,
  record: (change) => ({ ...change, text: digestWanted(change) }),
  path: pathOf,
  observe,
  outdated,
  edited(previous, now) {
    const { file } = now;
    const untouched = file.type === 'none' || isOurs(previous, file) || sameContent(file, previous.first.file);
    return untouched ? undefined : pathOf(previous.last);
  },
  apply,
  explain: (host, change) => lastLog(host, change.name),
  planUndo: ({ last, first }) => planUndoFile(`unit ${last.name}`, first.file),
  undo,
};
