// `npm run bench:startup`: wall time of commands that do next to nothing against `kubectl version --client`, in turn, in one run. Bar: at most 1.3 times.
import { fileURLToPath } from 'node:url';
import { buildComponent } from '../testbed/builds/build.ts';
import { judge } from './judge.ts';
import { timePairs } from './pairs.ts';

const bar = 1.3;
const commands = [['version'], ['--help'], ['init', '--help'], ['completion', 'bash']];
const kubernetes = await buildComponent('kubernetes');
const kubectl = [kubernetes.program('kubectl'), 'version', '--client'];
const bke = process.argv[2] ?? fileURLToPath(new URL('../../dist/bke-linux-amd64', import.meta.url));
for (const words of commands) {
  const pairs = await timePairs([bke, ...words], kubectl, 21);
  const times = `${pairs.a.toFixed(1)} ms, kubectl ${pairs.b.toFixed(1)} ms`;
  judge(`bke ${words.join(' ').padEnd(16)} ${times}, ratio`, pairs.ratio, { atMost: bar });
}
