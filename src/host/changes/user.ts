// The change kind `user`: a system user with a group of its own, made by the system's own programs.
import type { Host } from '../host.ts';
import { runChecked } from '../run-checked.ts';
import { findGroup, findUser } from './accounts.ts';
import type { ChangeKind, ChangeRecord, Keeper, Observation, UndoOutcome, UserChange } from './change.ts';
import { type FileState, fileState, keptState, sameContent, undoFile } from './file-state.ts';

/** Tables that useradd and userdel change, and what they leave beside each. */
const tables = ['/etc/passwd', '/etc/shadow', '/etc/group', '/etc/gshadow', '/etc/subuid', '/etc/subgid'];
const sideFiles = [...tables.map((table) => `${table}-`), '/etc/.pwd.lock'];

interface UserState {
  readonly user: boolean;
  readonly group: boolean;
  /** Digests of the tables and the files beside them, by path. */
  readonly files: Readonly<Record<string, FileState>>;
}

async function stateOf(host: Host, name: string, see: (path: string) => Promise<FileState>): Promise<UserState> {
  const files: Record<string, FileState> = {};
  for (const path of tables) files[path] = await fileState(host, path);
  for (const path of sideFiles) files[path] = await see(path);
  const user = (await findUser(host, name)) !== undefined;
  return { user, group: (await findGroup(host, name)) !== undefined, files };
}

async function observe(host: Host, change: UserChange, keeper: Keeper): Promise<Observation<UserState>> {
  const user = (await findUser(host, change.name)) !== undefined;
  const satisfied = user && (await findGroup(host, change.name)) !== undefined;
  const see = satisfied ? (path: string) => fileState(host, path) : (path: string) => keptState(host, path, keeper);
  const before = await stateOf(host, change.name, see);
  return { satisfied, before, action: satisfied ? 'none' : user ? 'change' : 'create' };
}

async function noLogin(host: Host): Promise<string> {
  for (const path of ['/usr/sbin/nologin', '/sbin/nologin']) {
    if ((await host.files.stat(path)) !== undefined) return path;
  }
  return '/bin/false';
}

async function apply(host: Host, { name }: UserChange): Promise<void> {
  if ((await findGroup(host, name)) === undefined) await runChecked(host, ['groupadd', '--system', name]);
  if ((await findUser(host, name)) !== undefined) return;
  const home = ['--home-dir', '/nonexistent', '--no-create-home'];
  await runChecked(host, ['useradd', '--system', '--gid', name, ...home, '--shell', await noLogin(host), name]);
}

/** The backups beside the tables name the user still. Where the tables are again what they were, so can be their backups. */
async function restoreSideFiles(host: Host, first: UserState, keeper: Keeper): Promise<void> {
  for (const table of tables) {
    const before = first.files[table];
    const side = first.files[`${table}-`];
    if (before === undefined || side === undefined || !sameContent(before, await fileState(host, table))) continue;
    await undoFile(host, { path: `${table}-`, first: side, isOurs: () => true }, keeper);
  }
  const lock = first.files['/etc/.pwd.lock'];
  if (lock?.type === 'none') await host.files.remove('/etc/.pwd.lock');
}

async function undo(host: Host, record: ChangeRecord<UserChange, UserState>, keeper: Keeper): Promise<UndoOutcome> {
  const { name } = record.last;
  const first = record.first;
  const user = !first.user && (await findUser(host, name)) !== undefined;
  if (user) await runChecked(host, ['userdel', name]);
  // userdel takes the group along where the system's settings say so.
  const group = !first.group && (await findGroup(host, name)) !== undefined;
  if (group) await runChecked(host, ['groupdel', name]);
  await restoreSideFiles(host, first, keeper);
  return { result: user || group ? 'undone' : 'already' };
}

export const userKind: ChangeKind<UserChange, UserState> = {
  kind: 'user',
  key: (change) => `user:${change.name}`,
  describe: (change) => `system user ${change.name}`,
  record: (change) => change,
  path: () => undefined,
  observe,
  apply,
  undo,
};
