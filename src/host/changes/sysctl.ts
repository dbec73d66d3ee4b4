// The change kind `sysctl`: a live kernel value.
import { join } from 'node:path';
import { BkeError } from '../../lib/errors.ts';
import type { Host } from '../host.ts';
import type { ChangeKind, ChangeRecord, Observation, SysctlChange, UndoOutcome } from './change.ts';

/** null: the kernel has no such value (now). */
type Value = string | null;

/** Dots and slashes change places, as in sysctl(8): `net.ipv4.conf.eth0/100.forwarding` is about eth0.100. */
function pathOf(name: string): string {
  return join(
    '/proc/sys',
    name.replaceAll(/[./]/g, (sign) => (sign === '.' ? '/' : '.')),
  );
}

/** The kernel separates lists by tabs. */
function plain(value: string): string {
  return value.trim().replaceAll(/\s+/g, ' ');
}

async function valueOf(host: Host, name: string): Promise<Value> {
  const content = await host.files.read(pathOf(name));
  return content === undefined ? null : content.toString().replace(/\n$/, '');
}

async function observe(host: Host, change: SysctlChange): Promise<Observation<Value>> {
  const before = await valueOf(host, change.name);
  const satisfied = before !== null && plain(before) === plain(change.value);
  return { satisfied, before, action: satisfied ? 'none' : 'change' };
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

async function undo(host: Host, record: ChangeRecord<SysctlChange, Value>): Promise<UndoOutcome> {
  const { name } = record.last;
  const first = record.first;
  const now = await valueOf(host, name);
  if (now === null || first === null || plain(now) === plain(first)) return { result: 'already' };
  const ours = record.versions.some((version) => plain(version.change.value) === plain(now));
  if (!ours) return { result: 'kept', why: `something else set it to ${plain(now)} since` };
  await host.files.writeInPlace(pathOf(name), `${first}\n`);
  return { result: 'undone' };
}

export const sysctlKind: ChangeKind<SysctlChange, Value> = {
  kind: 'sysctl',
  key: (change) => `sysctl:${change.name}`,
  describe: (change) => `kernel value ${change.name} = ${change.value}`,
  record: (change) => change,
  path: () => undefined,
  observe,
  apply,
  planUndo: ({ last, first }) => ({
    action: 'change',
    what: `kernel value ${last.name} back to ${first === null || first === '' ? 'what it was' : plain(first)}`,
  }),
  undo,
};
