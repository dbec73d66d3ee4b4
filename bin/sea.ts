// The entry of the built binary: the loader of chunks, which are assets of the binary itself. Nothing else is ever read as code.
import { getAssetKeys, getRawAsset } from 'node:sea';
import { Script } from 'node:vm';
import { createRequire } from './chunks.ts';

const assets = new Set(getAssetKeys());

function readScript(name: string): Script {
  const key = `chunks/${name}`;
  const source = Buffer.from(getRawAsset(key)).toString();
  // Only the architecture of the build machine has a code cache.
  const cache = `${key}.cache`;
  const filename = `bke:${name}`;
  if (!assets.has(cache)) return new Script(source, { filename });
  return new Script(source, { filename, cachedData: Buffer.from(getRawAsset(cache)) });
}

createRequire(readScript, 'bke.js')('./bke.js');
