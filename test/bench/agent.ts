// `npm run bench:agent`: resident memory of the agent on nodes that it has just made, and of bke's controller, once they have nothing to do.
// Bar: at most 90 MiB for each agent.
import { setTimeout as pause } from 'node:timers/promises';
import { stopHosts, type TestHost } from '../testbed/index.ts';
import { judge } from './judge.ts';
import { freshHosts, makeBoot, putClusterFile, seconds, timed } from './site.ts';

const barMiB = 90;
/** An agent that a command left large ends a minute later, and systemd starts it anew. */
const idleMs = 150_000;

try {
  const boot = await makeBoot();
  const hosts = await freshHosts(boot, ['bench-cp1', 'bench-w1']);
  await putClusterFile(boot, hosts);
  await timed(boot, 'bke cluster create -f /root/cluster.yaml --yes');
  await print('as soon as the cluster is healthy', boot, hosts);
  await pause(idleMs);
  const largest = await print(`${seconds(idleMs)} later`, boot, hosts);
  judge('larger agent with nothing to do', largest, { atMost: barMiB }, ' MiB');
} finally {
  await stopHosts();
}

/** MiB of the largest agent. */
async function print(when: string, boot: TestHost, hosts: readonly TestHost[]): Promise<number> {
  console.log(`${when}:`);
  const sizes: number[] = [];
  for (const host of hosts) {
    const size = await resident(host, 'systemctl show -P MainPID bke-agent');
    sizes.push(size.now);
    console.log(`  agent on ${host.name}: ${size.now} MiB resident, ${size.most} at most`);
  }
  const controller = await resident(boot, "pgrep -of 'bke controller run'");
  console.log(`  controller on ${boot.name}: ${controller.now} MiB resident, ${controller.most} at most`);
  return Math.max(...sizes);
}

/** @param find prints its process id */
async function resident(host: TestHost, find: string): Promise<{ now: number; most: number }> {
  const status = await host.output(`cat /proc/$(${find})/status`);
  const mebibytes = (field: string): number =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN) / 1024);
  return { now: mebibytes('VmRSS'), most: mebibytes('VmHWM') };
}
