// The change kind `sysctl`: a live kernel value.
import { join } from 'node:path';
import { BkeError } from '../../lib/errors.ts';
import type { Host } from '../host.ts';
import type { ChangeKind, ChangeRecord, Keeper, Observation, SysctlChange, UndoOutcome } from './change.ts';

/** null: the kernel has no such value (now). */
type Value = string | null;

/** Dots and slashes change places, as in sysctl(8): `net.ipv4.conf.eth0/100.forwarding` is about eth0.100. */
function pathOf(name: string): string {
  return join(
    '/proc/sys',
    name.replaceAll(/[./]/g, (sign) => (sign === '.' ? '/' : '.')),
  );
}

/**
 * What the kernel changes along with a value: forwarding of every link, and whether redirects are taken (Linux, net/ipv4/devinet.c,
 * inet_forward_change, and net/ipv6/addrconf.c, addrconf_fixup_forwarding).
 */
const followers: Readonly<Record<string, { readonly folder: string; readonly all: readonly string[] }>> = {
  'net.ipv4.ip_forward': { folder: 'net/ipv4/conf', all: ['accept_redirects'] },
  'net.ipv4.conf.all.forwarding': { folder: 'net/ipv4/conf', all: ['accept_redirects'] },
  'net.ipv6.conf.all.forwarding': { folder: 'net/ipv6/conf', all: [] },
};

/** Path below /proc/sys -> value. */
type Values = Readonly<Record<string, string>>;

/** With what follows it, where anything does: it comes back one by one. */
type SysctlState = Value | { readonly value: Value; readonly others: Values };

function own(state: SysctlState): Value {
  return typeof state === 'object' && state !== null ? state.value : state;
}

/** The kernel separates lists by tabs. */
function plain(value: string): string {
  return value.trim().replaceAll(/\s+/g, ' ');
}

async function readValue(host: Host, path: string): Promise<Value> {
  const content = await host.files.read(path);
  return content === undefined ? null : content.toString().replace(/\n$/, '');
}

function valueOf(host: Host, name: string): Promise<Value> {
  return readValue(host, pathOf(name));
}

/** What the kernel has now; undefined: it has no such value. */
export async function readKernelValue(host: Host, name: string): Promise<string | undefined> {
  return (await valueOf(host, name))?.trim();
}

async function readFollowers(host: Host, name: string): Promise<Values | undefined> {
  const following = followers[name];
  if (following === undefined) return undefined;
  const { folder, all } = following;
  const links = await host.files.list(`/proc/sys/${folder}`);
  const paths = [
    ...all.map((value) => `${folder}/all/${value}`),
    ...links.map((link) => `${folder}/${link}/forwarding`),
  ];
  const values: Record<string, string> = {};
  for (const path of paths) {
    const value = await readValue(host, `/proc/sys/${path}`);
    if (value !== null) values[path] = value;
  }
  return values;
}

async function observe(
  host: Host,
  change: SysctlChange,
  _keeper: Keeper,
  previous?: ChangeRecord<SysctlChange, SysctlState>,
): Promise<Observation<SysctlState>> {
  const value = await valueOf(host, change.name);
  const satisfied = value !== null && plain(value) === plain(change.value);
  // The first record is the one that counts.
  const others = satisfied || previous !== undefined ? undefined : await readFollowers(host, change.name);
  return { satisfied, before: others === undefined ? value : { value, others }, action: satisfied ? 'none' : 'change' };
}

async function apply(host: Host, change: SysctlChange): Promise<void> {
  if ((await valueOf(host, change.name)) === null) {
    throw new BkeError('BKE_CHANGE_NOT_APPLIED', `the kernel has no value ${change.name}`, {
      host: host.name,
      hint: 'A kernel module that brings it is missing or not loaded.',
    });
  }
  await host.files.writeInPlace(pathOf(change.name), `${change.value}\n`);
}

/** Links that are gone have none any more. Returns whether anything was changed. */
async function restoreFollowers(host: Host, first: SysctlState): Promise<boolean> {
  if (typeof first !== 'object' || first === null) return false;
  let changed = false;
  for (const [path, before] of Object.entries(first.others)) {
    const now = await readValue(host, `/proc/sys/${path}`);
    if (now === null || now === before) continue;
    await host.files.writeInPlace(`/proc/sys/${path}`, `${before}\n`);
    changed = true;
  }
  return changed;
}

async function undo(host: Host, record: ChangeRecord<SysctlChange, SysctlState>): Promise<UndoOutcome> {
  const { name } = record.last;
  const first = own(record.first);
  const now = await valueOf(host, name);
  if (now === null || first === null) return { result: 'already' };
  // An undo that was interrupted may have got no further than the value itself.
  if (plain(now) === plain(first))
    return { result: (await restoreFollowers(host, record.first)) ? 'undone' : 'already' };
  const ours = record.versions.some((version) => plain(version.change.value) === plain(now));
  if (!ours) return { result: 'kept', why: `something else set it to ${plain(now)} since` };
  await host.files.writeInPlace(pathOf(name), `${first}\n`);
  await restoreFollowers(host, record.first);
  return { result: 'undone' };
}

export const sysctlKind: ChangeKind<SysctlChange, SysctlState> = {
  kind: 'sysctl',
  key: (change) => `sysctl:${change.name}`,
  describe: (change) => `kernel value ${change.name} = ${change.value}`,
  record: (change) => change,
  path: () => undefined,
  observe,
  apply,
  planUndo: ({ last, first }) => ({
    action: 'change',
    what: `kernel value ${last.name} back to ${plain(own(first) ?? '') || 'what it was'}`,
  }),
  undo,
};
