// The change kind `user`: a system user with a group of its own, or an account that people log in to, made by the system's own programs.
import type { Host } from '../host.ts';
import { runChecked } from '../run-checked.ts';
import { findGroup, findUser } from './accounts.ts';
import type { ChangeKind, ChangeRecord, Keeper, LoginAccount, Observation, UndoOutcome, UserChange } from './change.ts';
import { type FileState, fileState, keptState, sameContent, undoFile } from './file-state.ts';

/** Tables that useradd and userdel change, and what they leave beside each. */
const tables = ['/etc/passwd', '/etc/shadow', '/etc/group', '/etc/gshadow', '/etc/subuid', '/etc/subgid'];
const sideFiles = [...tables.map((table) => `${table}-`), '/etc/.pwd.lock'];

interface UserState {
  readonly user: boolean;
  readonly group: boolean;
  /** Of the groups that an account for people needs: those that were missing. */
  readonly missingGroups?: readonly string[];
  /** Digests of the tables and the files beside them, by path. */
  readonly files: Readonly<Record<string, FileState>>;
}

async function stateOf(
  host: Host,
  { name, login }: UserChange,
  see: (path: string) => Promise<FileState>,
): Promise<UserState> {
  const files: Record<string, FileState> = {};
  for (const path of tables) files[path] = await fileState(host, path);
  for (const path of sideFiles) files[path] = await see(path);
  const user = (await findUser(host, name)) !== undefined;
  const state = { user, group: (await findGroup(host, name)) !== undefined, files };
  return login === undefined ? state : { ...state, missingGroups: await missingGroups(host, groupsOf(login)) };
}

function groupsOf({ primaryGroup, groups }: LoginAccount): string[] {
  return [...new Set([...(primaryGroup === undefined ? [] : [primaryGroup]), ...groups])];
}

async function missingGroups(host: Host, names: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const name of names) if ((await findGroup(host, name)) === undefined) missing.push(name);
  return missing;
}

async function observe(host: Host, change: UserChange, keeper: Keeper): Promise<Observation<UserState>> {
  const user = (await findUser(host, change.name)) !== undefined;
  const satisfied = user && (change.login !== undefined || (await findGroup(host, change.name)) !== undefined);
  const see = satisfied ? (path: string) => fileState(host, path) : (path: string) => keptState(host, path, keeper);
  const before = await stateOf(host, change, see);
  return { satisfied, before, action: satisfied ? 'none' : user ? 'change' : 'create' };
}

async function noLogin(host: Host): Promise<string> {
  for (const path of ['/usr/sbin/nologin', '/sbin/nologin']) {
    if ((await host.files.stat(path)) !== undefined) return path;
  }
  return '/bin/false';
}

async function apply(host: Host, change: UserChange): Promise<void> {
  const { name, login } = change;
  if (login !== undefined) return applyLogin(host, name, login);
  if ((await findGroup(host, name)) === undefined) await runChecked(host, ['groupadd', '--system', name]);
  if ((await findUser(host, name)) !== undefined) return;
  const home = ['--home-dir', '/nonexistent', '--no-create-home'];
  await runChecked(host, ['useradd', '--system', '--gid', name, ...home, '--shell', await noLogin(host), name]);
}

const passwordMs = 30_000;

/** Again from the beginning where bke died in it: the account is ours then, and gets all of its properties. */
async function applyLogin(host: Host, name: string, login: LoginAccount): Promise<void> {
  const { passwordHash, passwordLocked } = login;
  for (const group of await missingGroups(host, groupsOf(login))) await runChecked(host, ['groupadd', group]);
  const properties = propertiesOf(login);
  if ((await findUser(host, name)) === undefined) await addLogin(host, name, login);
  else if (properties.length > 0) await runChecked(host, ['usermod', ...properties, name]);
  if (passwordHash === undefined) return;
  await runChecked(host, ['chpasswd', '--encrypted'], { input: `${name}:${passwordHash}\n`, timeoutMs: passwordMs });
  if (passwordLocked) await runChecked(host, ['usermod', '--lock', name]);
}

function propertiesOf({ shell, comment, groups }: LoginAccount): string[] {
  return [
    ...(comment === undefined ? [] : ['--comment', comment]),
    ...(shell === undefined ? [] : ['--shell', shell]),
    ...(groups.length === 0 ? [] : ['--groups', groups.join(',')]),
  ];
}

async function addLogin(host: Host, name: string, login: LoginAccount): Promise<void> {
  const { home, primaryGroup } = login;
  const gid = primaryGroup ?? ((await findGroup(host, name)) === undefined ? undefined : name);
  const group = gid === undefined ? ['--user-group'] : ['--gid', gid];
  const properties = ['--home-dir', home, '--no-create-home', ...group, ...propertiesOf(login)];
  await runChecked(host, ['useradd', ...properties, name]);
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

async function removeGroups(host: Host, { missingGroups: made = [] }: UserState): Promise<void> {
  for (const name of made) if ((await findGroup(host, name)) !== undefined) await runChecked(host, ['groupdel', name]);
}

async function undo(host: Host, record: ChangeRecord<UserChange, UserState>, keeper: Keeper): Promise<UndoOutcome> {
  const { name } = record.last;
  const first = record.first;
  const user = !first.user && (await findUser(host, name)) !== undefined;
  if (user) await runChecked(host, ['userdel', name]);
  // userdel takes the group along where the system's settings say so.
  const group = !first.group && (await findGroup(host, name)) !== undefined;
  if (group) await runChecked(host, ['groupdel', name]);
  await removeGroups(host, first);
  await restoreSideFiles(host, first, keeper);
  return { result: user || group ? 'undone' : 'already' };
}

export const userKind: ChangeKind<UserChange, UserState> = {
  kind: 'user',
  key: (change) => `user:${change.name}`,
  describe: (change) => `${change.login === undefined ? 'system user' : 'user'} ${change.name}`,
  record({ login, ...change }) {
    if (login === undefined) return change;
    const { passwordHash: _, ...kept } = login;
    return { ...change, login: kept };
  },
  path: () => undefined,
  observe,
  outdated: (change, previous) =>
    change.login !== undefined && previous !== undefined && previous.versions.at(-1)?.applied === undefined,
  apply,
  undo,
};
