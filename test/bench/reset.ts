// `npm run bench:reset`: how long `bke reset --all --mount` takes on a host with a bootstrap cluster and Cluster API, alone on the machine. Bar: at most 15 s.
import { initOptions, prepareHosts, startHosts, stopHosts } from '../testbed/index.ts';
import { judge } from './judge.ts';

const barSeconds = 15;
const name = 'bench-reset';

const [host] = await startHosts([name]);
if (host === undefined) throw new Error(`no host ${name}`);
try {
  await prepareHosts([host], 'full');
  await timed('init', `bke init ${initOptions.full} --yes`);
  const resetMs = await timed('reset', 'bke reset --all --mount --yes');
  judge('reset', resetMs / 1000, { atMost: barSeconds }, ' s');
} finally {
  await stopHosts();
}

async function timed(what: string, command: string): Promise<number> {
  const began = performance.now();
  const result = await host?.exec(command, { timeout: 900 });
  const milliseconds = performance.now() - began;
  if (result?.exitCode !== 0) throw new Error(`${command}: exit code ${result?.exitCode}\n${result?.stderr}`);
  for (const line of result.stderr.split('\n').filter((text) => / after \d/.test(text))) console.log(`  ${line}`);
  console.log(`${what}: ${(milliseconds / 1000).toFixed(1)} s`);
  return milliseconds;
}
