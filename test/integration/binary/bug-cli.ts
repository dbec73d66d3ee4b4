// `bug-cli.ts <folder>`: runs `bke status` from the chunks in the folder, as the binary does, on a Node whose os.hostname() has a bug.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { createRequire } from '../../../bin/chunks.ts';

const folder = process.argv[2] ?? '';
const readAsset = (key: string): Buffer => readFileSync(join(folder, key));
Object.assign(process.getBuiltinModule('node:sea'), { isSea: () => true, getRawAsset: readAsset });
Object.assign(process.getBuiltinModule('node:os'), {
  hostname: () => {
    throw new TypeError('odd name');
  },
});
// Of an ordinary user, whose logs lie in the home directory.
process.getuid = () => 1000;
process.argv = [process.execPath, process.execPath, 'status'];
const readScript = (name: string): Script =>
  new Script(readAsset(`chunks/${name}`).toString(), { filename: `bke:${name}` });
createRequire(readScript, 'bke.js')('./bke.js');
