// The fields of cloud-config that bke understands. Every value comes as the text that was written: what it means is decided here, once.
import { posix } from 'node:path';
import { z } from 'zod';
import { encodings, isEncoding } from './content.ts';

/** As YAML 1.1 and cloud-init write them, in any case of letters. */
const yes = new Set(['true', 'yes', 'on', '1']);
const no = new Set(['false', 'no', 'off', '0']);

const flag = z
  .string()
  .refine((word) => yes.has(word.toLowerCase()) || no.has(word.toLowerCase()), 'must be true or false')
  .transform((word) => yes.has(word.toLowerCase()));

/** Names of users and groups as shadow takes them, or a number. */
const accountName = /^(?:[a-z_][a-z0-9_.-]{0,30}\$?|\d{1,10})$/i;
const userName = z.string().regex(/^[a-z_][a-z0-9_-]{0,31}$/, 'must be a name of lower case letters, digits, - and _');
const oneLine = z.string().regex(/^[^\n\r:]*$/, 'must be one line without colons');
const absolute = (path: string): boolean =>
  path.startsWith('/') && posix.normalize(path) === path && path.length < 4096;
const absolutePath = z.string().refine(absolute, 'must be an absolute path without . and ..');

/** Kernel interfaces are not files to be replaced, and what bke knows of the host is its own. */
const closed = /^\/(?:proc|sys|dev|var\/lib\/bke)(?:\/|$)/;

const owner = z
  .string()
  .refine((text) => {
    const parts = text.split(':');
    return parts.length <= 2 && parts.every((name) => accountName.test(name));
  }, 'must be USER or USER:GROUP')
  .transform((text) => {
    const [user = 'root', group = 'root'] = text.split(':');
    return { user: numeric(user), group: numeric(group) };
  });

function numeric(name: string): number | string {
  return /^\d+$/.test(name) ? Number(name) : name;
}

const mode = z
  .string()
  .regex(/^(?:0o?)?[0-7]{3,4}$/, "must be an octal mode such as '0644'")
  .transform((text) => Number.parseInt(text.replace(/^0o/, ''), 8));

const file = z.strictObject({
  path: absolutePath.refine((path) => path !== '/' && !closed.test(path), 'bke writes no files there'),
  content: z.string().nullish(),
  encoding: z
    .string()
    .refine(isEncoding, `must be one of ${encodings.join(', ')}`)
    .nullish(),
  owner: owner.nullish(),
  permissions: mode.nullish(),
  append: flag.nullish(),
});

const command = z.union(
  [z.string(), z.array(z.string()).min(1, 'must not be empty')],
  'must be a text or a list of texts',
);
const commands = z.array(command).max(1000).nullish();

const names = z.union(
  [z.string().transform((text) => text.split(',').map((name) => name.trim())), z.array(z.string())],
  'must be names with commas between them, or a list',
);
const groups = names.refine(
  (list) => list.every((name) => /^[a-z_][a-z0-9_-]{0,31}$/.test(name)),
  'must be names of groups',
);

const user = z.strictObject({
  name: userName,
  gecos: oneLine.nullish(),
  groups: groups.nullish(),
  homedir: absolutePath.refine((path) => !path.includes(':'), 'must not have a colon').nullish(),
  inactive: flag
    .refine((inactive) => !inactive, 'cloud-init does nothing for true; lock_passwd locks the password')
    .nullish(),
  shell: absolutePath.refine((path) => !path.includes(':'), 'must not have a colon').nullish(),
  passwd: z
    .string()
    .regex(/^\$[^\s:]+$/, 'must be the hash of a password, as mkpasswd makes it')
    .nullish(),
  primary_group: userName.nullish(),
  lock_passwd: flag.nullish(),
  sudo: z
    .union(
      // false: none.
      [z.string().transform((rule) => (rule.toLowerCase() === 'false' ? [] : [rule])), z.array(z.string())],
      'must be a rule of sudo or a list of them',
    )
    .refine((rules) => rules.every((rule) => /^[^\n\r]+$/.test(rule)), 'must be rules of one line each')
    .nullish(),
  ssh_authorized_keys: z
    .array(z.string().regex(/^[^\n\r]+$/, 'must be one line'))
    .max(1000)
    .nullish(),
});

const server = z.string().regex(/^[A-Za-z0-9_.:-]+$/, 'must be an address or a name');

export const cloudConfig = z.strictObject({
  write_files: z.array(file).max(1000).nullish(),
  bootcmd: commands,
  runcmd: commands,
  users: z.array(user).max(100).nullish(),
  ntp: z
    .strictObject({ enabled: flag.nullish(), servers: z.array(server).max(100).nullish() })
    .refine(
      ({ enabled, servers }) => enabled === false || (servers ?? []).length > 0,
      'names no servers, and bke knows none',
    )
    .nullish(),
});

/** What Cluster API can ask for and bke does not do. */
export const refusedKeys: Readonly<Record<string, string>> = {
  disk_setup: "bke does not partition disks: they are the host's owner's",
  fs_setup: "bke does not make file systems: disks are the host's owner's",
  mounts: "bke does not mount disks: they are the host's owner's; mount them before the host becomes a node",
};
