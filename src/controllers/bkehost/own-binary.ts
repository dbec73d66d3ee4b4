// The bke that this process is, to be sent to hosts.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isBuiltBinary } from '../../lib/assets.ts';
import { contentOfChunks } from '../../lib/digest.ts';
import type { OwnBinary } from './binary.ts';

/** undefined when run from source. */
export async function ownBinary(): Promise<OwnBinary | undefined> {
  if (!(await isBuiltBinary())) return undefined;
  const file = process.execPath;
  let digest: Promise<string> | undefined;
  return {
    platform: process.arch === 'arm64' ? 'linux/arm64' : 'linux/amd64',
    size: (await stat(file)).size,
    digest: () => (digest ??= contentOfChunks(createReadStream(file)).then((content) => content.digest)),
    open: () => createReadStream(file),
  };
}
