// `users`: accounts that people log in to, with what lets them in. One that was there before bke only gets its keys and rules of sudo.
import { join } from 'node:path';
import type { LoginAccount, Owner } from '../../../host/changes/change.ts';
import { findUser } from '../../../host/changes/accounts.ts';
import { BkeError } from '../../../lib/errors.ts';
import { lastLines } from '../../../lib/text.ts';
import type { TaskScope } from '../../task.ts';
import type { UserToMake } from './parse.ts';

export async function makeUsers(scope: TaskScope, users: readonly UserToMake[]): Promise<void> {
  for (const user of users) await makeUser(scope, user);
}

async function makeUser(scope: TaskScope, user: UserToMake): Promise<void> {
  await requireRules(scope, user);
  const made = await scope.apply({ kind: 'user', name: user.name, login: loginOf(user) });
  // In a dry run there is no account to look at yet.
  if (!scope.dryRun) {
    const account = await accountOf(scope, user);
    if (made) await makeHome(scope, account);
    if (user.authorizedKeys.length > 0) await allowKeys(scope, account, user.authorizedKeys);
  }
  if (user.sudo.length > 0) await allowSudo(scope, user);
}

function loginOf({
  name,
  home,
  shell,
  gecos,
  groups,
  primaryGroup,
  passwordHash,
  lockPassword,
}: UserToMake): LoginAccount {
  return {
    home: home ?? `/home/${name}`,
    groups,
    passwordLocked: lockPassword,
    ...(shell === undefined ? {} : { shell }),
    ...(gecos === undefined ? {} : { comment: gecos }),
    ...(primaryGroup === undefined ? {} : { primaryGroup }),
    ...(passwordHash === undefined ? {} : { passwordHash }),
  };
}

interface Account {
  readonly name: string;
  readonly home: string;
  readonly owner: Owner;
  readonly uid: number;
}

async function accountOf({ host }: TaskScope, { name }: UserToMake): Promise<Account> {
  const fields = ((await findUser(host, name))?.line ?? '').split(':');
  const [, , uid = '0', gid = '0', , home = '/'] = fields;
  return { name, home, uid: Number(uid), owner: { user: Number(uid), group: Number(gid) } };
}

/** With what the system gives every new account. */
async function makeHome(scope: TaskScope, { home, owner }: Account): Promise<void> {
  const { host } = scope;
  if ((await host.files.stat(home)) !== undefined) return;
  await scope.apply({ kind: 'directory', path: home, mode: 0o750, owner, home: true });
  for await (const entry of host.files.walk('/etc/skel')) {
    const path = join(home, entry.path);
    const mode = entry.stat?.mode ?? 0o644;
    if (entry.path === '' || entry.mountPoint) continue;
    if (entry.type === 'directory') await scope.apply({ kind: 'directory', path, mode, owner });
    if (entry.type !== 'file') continue;
    const source = join('/etc/skel', entry.path);
    const content = { source, digest: await host.files.digest(source) };
    await scope.apply({ kind: 'file', path, mode, owner, content });
  }
}

async function allowKeys(scope: TaskScope, account: Account, keys: readonly string[]): Promise<void> {
  const folder = join(account.home, '.ssh');
  const path = join(folder, 'authorized_keys');
  await requireOwn(scope, account, folder, 'directory');
  await requireOwn(scope, account, path, 'file');
  const { owner } = account;
  if ((await scope.host.files.stat(folder)) === undefined) {
    await scope.apply({ kind: 'directory', path: folder, mode: 0o700, owner });
  }
  const there = (await scope.host.files.read(path))?.toString('utf8') ?? '';
  const lines = there.split('\n');
  const missing = keys.filter((key) => !lines.includes(key));
  if (missing.length === 0) return;
  const text = `${there}${there === '' || there.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`;
  await scope.apply({ kind: 'file', path, mode: 0o600, owner, content: { text } });
}

/** What is in a home directory its owner decides: through a link of theirs root would write elsewhere. */
async function requireOwn(
  { host }: TaskScope,
  { uid }: Account,
  path: string,
  type: 'file' | 'directory',
): Promise<void> {
  const stat = await host.files.stat(path);
  if (stat === undefined || (stat.type === type && (stat.uid === uid || stat.uid === 0))) return;
  throw new BkeError('BKE_PATH_IN_THE_WAY', `${path} is no ${type} of the user's own`, {
    host: host.name,
    hint: 'Move it away, then run the same command again.',
  });
}

function rulesOf({ name, sudo }: UserToMake): string {
  return `# Written by bke.\n${sudo.map((rule) => `${name} ${rule}\n`).join('')}`;
}

async function allowSudo(scope: TaskScope, user: UserToMake): Promise<void> {
  const content = { text: rulesOf(user) };
  // sudo reads no file there that has a dot in its name.
  await scope.apply({ kind: 'file', path: `/etc/sudoers.d/90-bke-${user.name}`, mode: 0o440, content });
}

/** One wrong line there, and nobody can use sudo any more. @throws BkeError BKE_BOOTSTRAP_DATA_INVALID */
async function requireRules({ host }: TaskScope, user: UserToMake): Promise<void> {
  if (user.sudo.length === 0) return;
  const result = await host.run(['visudo', '--check', '--file=-'], { input: rulesOf(user), timeoutMs: 30_000 });
  // 127: there is no sudo, which reads nothing then.
  if (result.exitCode === 0 || result.exitCode === 127) return;
  throw new BkeError('BKE_BOOTSTRAP_DATA_INVALID', `users: the rules of sudo for ${user.name} are none`, {
    host: host.name,
    details: lastLines(result.stderr, 5),
  });
}
