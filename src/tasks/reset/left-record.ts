// What a reset could not take away, written down on the host until it is gone: what it was known by may be gone before it.
import { z } from 'zod';
import type { Host } from '../../host/host.ts';
import { removeDrafts } from '../../host/changes/file-state.ts';
import { readKernelValue } from '../../host/changes/sysctl.ts';
import { defaultStateDir } from '../../host/ledger/ledger.ts';
import { type KnownPath, sharedFolders } from '../../host/state/known-paths.ts';
import { isWithin } from '../../host/state/mounts.ts';
import { listedShort } from '../../lib/text.ts';
import { tryJson } from '../../lib/try-json.ts';
import type { Left } from './reset-plan.ts';

/** It goes when nothing in it is so any more; a person may remove it, too. */
export const leftRecordPath = `${defaultStateDir}/left.json`;

const text = z.string().min(1);
const path = z.string().startsWith('/');

/** How a later reset sees whether it is still there. */
const trace = z.discriminatedUnion('type', [
  /** bke's or Kubernetes' own: the next reset takes it as soon as it can. */
  z.strictObject({ type: z.literal('path'), path, kind: z.enum(['file', 'tree', 'folder']), what: text }),
  /** Perhaps bke's: a person has to say. */
  z.strictObject({ type: z.literal('files'), folder: path, names: z.array(text) }),
  /** Until the next boot, which sets what the host's own files say. */
  z.strictObject({ type: z.literal('kernel-value'), name: text, value: text, bootID: z.string() }),
]);
export type Trace = z.infer<typeof trace>;

const entry = z.strictObject({ what: text, why: text, see: text, trace });
type Entry = z.infer<typeof entry>;

const record = z.strictObject({ left: z.array(entry) });

const rootOnly = { mode: 0o600, uid: 0, gid: 0 };
const mostBytes = 16 << 20;

export interface Remembered {
  /** The record is on the host. */
  readonly exists: boolean;
  /** To be taken now. */
  readonly paths: readonly KnownPath[];
  /** Still so, and not to be taken. */
  readonly left: readonly Left[];
}

/** What earlier resets could not take away and is still there. */
export async function readLeftRecord(host: Host): Promise<Remembered> {
  const content = await host.files.read(leftRecordPath, { maxBytes: mostBytes });
  if (content === undefined) return { exists: false, paths: [], left: [] };
  const entries = record.safeParse(tryJson(content.toString('utf8'))).data?.left ?? [];
  const left = await Promise.all(entries.map((known) => stillSo(host, known)));
  return { exists: true, paths: entries.flatMap(pathsOf), left: left.flatMap((one) => one ?? []) };
}

/** Files that a person took away leave the folders that were made for them. */
function pathsOf({ trace: known }: Entry): KnownPath[] {
  if (known.type === 'path') return [{ path: known.path, kind: known.kind, what: known.what }];
  return known.type === 'files' ? sharedFolders.filter(({ path }) => isWithin(known.folder, path)) : [];
}

async function stillSo(host: Host, known: Entry): Promise<Left | undefined> {
  if (known.trace.type === 'kernel-value') return (await isStillSet(host, known.trace)) ? known : undefined;
  if (known.trace.type !== 'files') return undefined;
  const { folder, names } = known.trace;
  const there = new Set(await host.files.list(folder).catch(() => []));
  const still = names.filter((name) => there.has(name));
  return still.length === 0 ? undefined : { ...known, ...filesLeft(folder, still) };
}

async function isStillSet(
  host: Host,
  { name, value, bootID }: Extract<Trace, { readonly type: 'kernel-value' }>,
): Promise<boolean> {
  return bootID === (await readBootID(host)) && value === (await kernelValueOrNone(host, name));
}

/** Of the kernel: another one after a reboot. */
export function readBootID(host: Host): Promise<string> {
  return kernelValueOrNone(host, 'kernel.random.boot_id');
}

/** '' where there is none, or it cannot be read. */
export async function kernelValueOrNone(host: Host, name: string): Promise<string> {
  return (await readKernelValue(host, name).catch(() => undefined)) ?? '';
}

/** Files that bke may have put into a folder of others. */
export function filesLeft(folder: string, names: readonly string[]): Left {
  return {
    what: `network plugins in ${folder}`,
    why: `bke may have installed ${listedShort(names, 8)}, and no record tells; remove what nobody else needs, or, where all are yours, ${leftRecordPath}`,
    see: `ls -la ${folder}`,
    trace: { type: 'files', folder, names: [...names] },
  };
}

/** Before what proves it goes, and at the end: only what is left then counts. */
export async function writeLeftRecord(host: Host, left: readonly Left[]): Promise<void> {
  const entries = new Map<string, Entry>();
  for (const { what, why, see, trace: known } of left) {
    if (known !== undefined) entries.set(JSON.stringify(known), { what, why, see, trace: known });
  }
  await removeDrafts(host, leftRecordPath);
  if (entries.size === 0) await host.files.remove(leftRecordPath);
  else await host.files.write(leftRecordPath, `${JSON.stringify({ left: [...entries.values()] })}\n`, rootOnly);
}
