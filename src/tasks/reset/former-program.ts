// Programs of bke that no record tells of: what download.sh leaves beside the one it puts in place, what was brought over SSH before there was a record, and
// the installed one where the record is lost.
import { dirname } from 'node:path';
import type { Host } from '../../host/host.ts';
import { defaultStateDir } from '../../host/ledger/ledger.ts';
import type { KnownPath } from '../../host/state/known-paths.ts';
import { programsDir } from '../node/programs.ts';

const part = /^\.bke-download\.\d+(?:\.old)?$/;
/** Name of an asset, which stands in every bke. */
const programMark = Buffer.from('chunks/bke.js');

/** Where download.sh puts programs by default, and where this one runs from. */
const folders: readonly string[] = [...new Set(['/usr/local/bin', dirname(process.execPath)])];

/** A file that only has the name is somebody's own. */
export async function formerPrograms(host: Host): Promise<KnownPath[]> {
  const found: KnownPath[] = [];
  for (const folder of folders) {
    for (const name of await host.files.list(folder).catch(() => [])) {
      const path = `${folder}/${name}`;
      if (part.test(name) && (await isFile(host, path))) found.push(known(path, 'part of a download of bke'));
      if (name === 'bke.old' && (await isProgram(host, path))) found.push(known(path, 'the bke before this one'));
    }
  }
  return found;
}

/** As the controller of hosts names them, with what a transfer that was cut off leaves, and the copy that a host which leaves is cleaned by. */
const brought = /^(?:bke-leaving|bke-brought-[0-9a-f]{16}(?:\.new|\.ca)?|\.bke-[0-9a-f]{16}\.tmp)$/;

/** Nothing but their name tells of them: bke may have died before it wrote its first line on this host. */
export async function broughtPrograms(host: Host): Promise<KnownPath[]> {
  const folder = dirname(defaultStateDir);
  const paths = (await host.files.list(folder)).filter((name) => brought.test(name)).map((name) => `${folder}/${name}`);
  const areFiles = await Promise.all(paths.map((path) => isFile(host, path)));
  return paths.filter((_path, index) => areFiles[index]).map((path) => known(path, 'bke as it was brought here'));
}

const installedFolder = /^bke-v?\d/;
const installedLink = '/usr/local/bin/bke';

/** What the installed program is made of: whoever has to run a reset once more needs it, so it goes when nothing else is left. */
export function isInstalledProgram(path: string): boolean {
  return path === programsDir || path === installedLink || path.startsWith(`${programsDir}/bke-`);
}

/** It is known by its content: nothing else may be left to show whose it is. @param isRecorded whether the ledger answers for a path */
export async function installedPrograms(host: Host, isRecorded: (path: string) => boolean): Promise<KnownPath[]> {
  const found: KnownPath[] = [];
  for (const name of await host.files.list(programsDir).catch(() => [])) {
    const path = `${programsDir}/${name}`;
    if (!installedFolder.test(name) || isRecorded(path) || !(await isProgram(host, `${path}/bke`))) continue;
    found.push({ path, kind: 'tree', what: 'program bke installed' });
  }
  if (found.length === 0) return [];
  if (await leadsToPrograms(host, installedLink)) found.push(known(installedLink, 'link to a program bke installed'));
  return [...found, { path: programsDir, kind: 'folder', what: 'folder' }];
}

/** Whether it is a link that people and services call a program of bke's by. */
export async function leadsToPrograms(host: Host, path: string): Promise<boolean> {
  if ((await host.files.stat(path))?.type !== 'link') return false;
  return (await host.files.readLink(path)).startsWith(`${programsDir}/`);
}

function known(path: string, what: string): KnownPath {
  return { path, kind: 'file', what };
}

async function isFile(host: Host, path: string): Promise<boolean> {
  return (await host.files.stat(path))?.type === 'file';
}

async function isProgram(host: Host, path: string): Promise<boolean> {
  if (!(await isFile(host, path))) return false;
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of host.files.stream(path)) {
    const bytes: Buffer = Buffer.concat([tail, chunk]);
    if (bytes.includes(programMark)) return true;
    tail = bytes.subarray(-programMark.length);
  }
  return false;
}
