// `npm run bench:startup`: wall time of `bke version` against `kubectl version --client`, in turn, in one run. Bar: at most 1.3 times.
import { fileURLToPath } from 'node:url';
import { buildComponent } from '../testbed/builds/build.ts';
import { timePairs } from './pairs.ts';

const bar = 1.3;
const kubernetes = await buildComponent('kubernetes');
const bke = fileURLToPath(new URL('../../dist/bke-linux-amd64', import.meta.url));
const pairs = await timePairs([bke, 'version'], [kubernetes.program('kubectl'), 'version', '--client'], 21);
console.log(`bke version               ${pairs.a.toFixed(1)} ms`);
console.log(`kubectl version --client  ${pairs.b.toFixed(1)} ms`);
console.log(`ratio                     ${pairs.ratio.toFixed(2)} (bar: at most ${bar})`);
process.exitCode = pairs.ratio <= bar ? 0 : 1;
