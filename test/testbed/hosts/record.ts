// The record of what a bed made on this machine: written before each thing is made, it decides what `up` and `down` may remove.
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { exists, writeWhole } from '../files.ts';
import { withLock } from '../lock.ts';
import type { Bed } from './bed.ts';

const processIdentity = z.strictObject({
  pid: z.int(),
  /** Start time in clock ticks since boot: a reused pid has another one. */
  started: z.string(),
});

const hostOptions = z.strictObject({
  defaultRoute: z.boolean(),
  plainDirectories: z.array(z.string()),
});

const hostRecord = z.strictObject({
  name: z.string(),
  address: z.string(),
  /** The process whose hosts end with it; null: the host stays until `down`. */
  owner: processIdentity.nullable(),
  options: hostOptions,
  /** systemd-nspawn of the host while it runs. */
  nspawn: processIdentity.nullable(),
  /** Groups made for it, one per cgroup hierarchy. */
  groups: z.array(z.string()),
});

const bedRecord = z.strictObject({
  /** Whether bridge and table are the bed's. */
  network: z.boolean(),
  hosts: z.array(hostRecord),
});

export type ProcessIdentity = z.infer<typeof processIdentity>;
export type HostOptions = z.infer<typeof hostOptions>;
export type HostRecord = z.infer<typeof hostRecord>;
export type BedRecord = z.infer<typeof bedRecord>;

const lockLimit = 300;

/** Reads the record; a bed that never was has an empty one. */
export async function readRecord(bed: Bed): Promise<BedRecord> {
  const file = recordFile(bed);
  if (!(await exists(file))) return { network: false, hosts: [] };
  return bedRecord.parse(JSON.parse(await readFile(file, 'utf8')));
}

/** Writes the record. */
export async function writeRecord(bed: Bed, record: BedRecord): Promise<void> {
  await writeWhole(recordFile(bed), `${JSON.stringify(record, null, 2)}\n`);
}

/** One change of the bed at a time, whichever process wants it. */
export async function changeBed<T>(bed: Bed, work: () => Promise<T>): Promise<T> {
  await mkdir(bed.folder, { recursive: true, mode: 0o755 });
  return withLock(path.join(bed.folder, 'lock'), lockLimit, work);
}

function recordFile(bed: Bed): string {
  return path.join(bed.folder, 'record.json');
}
