// `node scripts/release.ts [--url https://server/folder]`: the download server's folder, dist/release, of what `npm run build` made.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bkeVersion } from '../src/lib/version.ts';
import { writeRelease } from './release-files.ts';

const { values } = parseArgs({ options: { url: { type: 'string' } } });
const dist = join(import.meta.dirname, '../dist');
const version = await bkeVersion();
console.log(await writeRelease({ dist, out: join(dist, 'release'), version, url: values.url }));
