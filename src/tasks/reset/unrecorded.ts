// What of bke itself is on a host whose ledger is missing or damaged: told by names of its own and by the mark in the files it writes.
import { markedLines } from '../../host/changes/hosts-entry.ts';
import type { Host } from '../../host/host.ts';
import type { LedgerView } from '../../host/ledger/ledger.ts';
import type { KnownPath } from '../../host/state/known-paths.ts';
import { unitFolder } from '../../host/systemd.ts';
import { ownMark } from '../../lib/own-mark.ts';
import { programsDir } from '../node/programs.ts';
import { ownPaths } from './own-paths.ts';
import type { ResetFlags } from './reset-plan.ts';

async function isMarked(host: Host, path: string): Promise<boolean> {
  const text = (await host.files.read(path).catch(() => undefined))?.toString('utf8') ?? '';
  return text.split('\n', 3).some((line) => line.includes(ownMark)) || text.includes(`${programsDir}/`);
}

/** containerd with its settings and data, where its unit is bke's. */
async function runtimePaths(host: Host): Promise<KnownPath[]> {
  const unit = `${unitFolder}/containerd.service`;
  if (!(await isMarked(host, unit))) return [];
  const files = [`${unitFolder}/multi-user.target.wants/containerd.service`, unit, '/etc/crictl.yaml'];
  const trees = ['/etc/containerd', '/var/lib/containerd', '/run/containerd', '/run/nri'];
  return [
    ...files.map((path): KnownPath => ({ path, kind: 'file', what: 'containerd that bke installed' })),
    ...trees.map((path): KnownPath => ({ path, kind: 'tree', what: 'containerd that bke installed' })),
  ];
}

/** Links people and services call bke's programs by. */
async function programLinks(host: Host): Promise<KnownPath[]> {
  const folder = '/usr/local/bin';
  const found: KnownPath[] = [];
  for (const name of await host.files.list(folder)) {
    const path = `${folder}/${name}`;
    if ((await host.files.stat(path))?.type !== 'link') continue;
    if (!(await host.files.readLink(path)).startsWith(`${programsDir}/`)) continue;
    found.push({ path, kind: 'file', what: 'link to a program bke installed' });
  }
  return found;
}

/** Paths of bke's own; exact names only, so none of them needs to be there. */
async function unrecordedPaths(host: Host, flags: ResetFlags): Promise<KnownPath[]> {
  const whole = flags.all && flags.mount;
  return [...(await runtimePaths(host)), ...(whole ? await programLinks(host) : []), ...ownPaths(flags)];
}

export interface UnrecordedLines {
  /** Lines of /etc/hosts with bke's mark. */
  readonly hosts: readonly string[];
  /** The services' system user, exactly as bke makes it. */
  readonly user: string | undefined;
}

const none: UnrecordedLines = { hosts: [], user: undefined };

export interface Unrecorded {
  readonly paths: readonly KnownPath[];
  readonly unrecorded: UnrecordedLines;
}

function isOwnUser(line: string): boolean {
  const [name, , uid, , , home, shell] = line.split(':');
  return name === 'bke' && Number(uid) < 1000 && home === '/nonexistent' && /\/(nologin|false)$/.test(shell ?? '');
}

async function readText(host: Host, path: string): Promise<string> {
  return (await host.files.read(path).catch(() => undefined))?.toString('latin1') ?? '';
}

async function readUnrecordedLines(host: Host): Promise<UnrecordedLines> {
  const user = (await readText(host, '/etc/passwd')).split('\n').find(isOwnUser);
  // A link or device in its place is none of bke's doing.
  return { hosts: await markedLines(host).catch(() => []), user: user?.split(':')[0] };
}

/** A ledger with lines that can't be used doesn't answer for everything bke did: its names are looked for as well. */
export async function unrecordedOf(host: Host, ledger: LedgerView, flags: ResetFlags): Promise<Unrecorded> {
  if (ledger.exists && ledger.damaged.length === 0) return { paths: [], unrecorded: none };
  const lines = flags.all && flags.mount ? await readUnrecordedLines(host) : none;
  return { paths: await unrecordedPaths(host, flags), unrecorded: lines };
}
