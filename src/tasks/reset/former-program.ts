// What download.sh leaves beside the program it puts in place: the version before, and the part of one whose download was killed.
import { dirname } from 'node:path';
import type { Host } from '../../host/host.ts';
import type { KnownPath } from '../../host/state/known-paths.ts';

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
