// All kinds of change, by name. A kind lands with the first task that needs it.
import { archiveKind } from './archive.ts';
import { baseChainsKind } from './base-chains.ts';
import type { Change, ChangeKind, ChangeRecord, UndoPlan } from './change.ts';
import { directoryKind } from './directory.ts';
import { fileKind } from './file.ts';
import { hostsEntryKind } from './hosts-entry.ts';
import { linkKind } from './link.ts';
import { moduleKind } from './module.ts';
import { sysctlKind } from './sysctl.ts';
import { unitKind } from './unit.ts';
import { userKind } from './user.ts';
import { zoneKind } from './zone.ts';

const kinds: Readonly<Record<Change['kind'], ChangeKind<Change>>> = {
  archive: archiveKind,
  'base-chains': baseChainsKind,
  directory: directoryKind,
  file: fileKind,
  'hosts-entry': hostsEntryKind,
  link: linkKind,
  module: moduleKind,
  sysctl: sysctlKind,
  unit: unitKind,
  user: userKind,
  zone: zoneKind,
};

export function kindOf(change: Change): ChangeKind<Change> {
  return kinds[change.kind];
}

/** For plans: what undoing a resource would do. */
export function undoPlanOf(record: ChangeRecord): UndoPlan {
  const kind = kindOf(record.last);
  return kind.planUndo?.(record) ?? { action: 'remove', what: kind.describe(record.last) };
}
