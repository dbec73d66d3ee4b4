// Users and groups of a host, as its own files name them.
import { BkeError } from '../../lib/errors.ts';
import type { Host } from '../host.ts';
import type { Owner } from './change.ts';

/** Tables of large sites with thousands of local users still fit. */
const maxTableBytes = 16 << 20;

interface Account {
  readonly name: string;
  readonly id: number;
  /** The whole line of /etc/passwd or /etc/group. */
  readonly line: string;
}

async function accountsIn(host: Host, path: string): Promise<Account[]> {
  const table = (await host.files.read(path, { maxBytes: maxTableBytes }))?.toString() ?? '';
  return table.split('\n').flatMap((line) => {
    const [name = '', , id = ''] = line.split(':');
    return /^\d+$/.test(id) ? [{ name, id: Number(id), line }] : [];
  });
}

async function find(host: Host, path: string, name: string): Promise<Account | undefined> {
  return (await accountsIn(host, path)).find((account) => account.name === name);
}

export function findUser(host: Host, name: string): Promise<Account | undefined> {
  return find(host, '/etc/passwd', name);
}

export function findGroup(host: Host, name: string): Promise<Account | undefined> {
  return find(host, '/etc/group', name);
}

export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

async function idOf(
  wanted: number | string,
  find: (name: string) => Promise<Account | undefined>,
): Promise<number | undefined> {
  return typeof wanted === 'number' ? wanted : (await find(wanted))?.id;
}

/** root:root unless told; undefined where the user or group does not exist (yet). */
export async function findOwner(host: Host, owner: Owner | undefined): Promise<Ids | undefined> {
  if (owner === undefined) return { uid: 0, gid: 0 };
  const uid = await idOf(owner.user, (name) => findUser(host, name));
  const gid = await idOf(owner.group, (name) => findGroup(host, name));
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/** @throws BkeError BKE_NO_SUCH_USER */
export async function requireOwner(host: Host, owner: Owner | undefined): Promise<Ids> {
  const ids = await findOwner(host, owner);
  if (ids !== undefined) return ids;
  throw new BkeError('BKE_NO_SUCH_USER', `there is no user and group ${owner?.user}:${owner?.group}`, {
    host: host.name,
  });
}
