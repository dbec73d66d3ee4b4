// What the benches of clusters need: a bootstrap node that is set up, fresh hosts beside it, and commands with their times.
import {
  clusterFile,
  initOptions,
  prepareHosts,
  prepareSite,
  siteKeyFile,
  startHosts,
  type TestHost,
} from '../testbed/index.ts';

const limitSeconds = 1800;

/** A bootstrap node after `bke init`, as `bench-boot`. */
export async function makeBoot(): Promise<TestHost> {
  const [boot] = await startHosts(['bench-boot']);
  if (boot === undefined) throw new Error('no host bench-boot');
  await prepareHosts([boot], 'full');
  await timed(boot, `bke init ${initOptions.full} --yes`);
  return boot;
}

/** Fresh hosts, in place of those of the same names, that `boot` can log in to. */
export async function freshHosts(boot: TestHost, names: readonly string[]): Promise<TestHost[]> {
  const hosts = await startHosts(names);
  await prepareSite(boot, hosts);
  return hosts;
}

/** Puts a cluster.yaml onto `boot`; the first host is the control plane. */
export async function putClusterFile(boot: TestHost, hosts: readonly TestHost[]): Promise<void> {
  const text = clusterFile({
    name: 'bench',
    controlPlane: hosts.slice(0, 1),
    workers: hosts.slice(1),
    ssh: { privateKeyFile: siteKeyFile },
  });
  await boot.output('cat >/root/cluster.yaml', { input: text });
}

export interface Timed {
  readonly milliseconds: number;
  readonly stdout: string;
}

/** @throws Error with what it said, when the command fails */
export async function timed(host: TestHost, command: string): Promise<Timed> {
  const began = performance.now();
  const { exitCode, stdout, stderr } = await host.exec(command, { timeout: limitSeconds });
  const milliseconds = performance.now() - began;
  if (exitCode !== 0)
    throw new Error(`${command}: exit code ${exitCode}\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`);
  return { milliseconds, stdout };
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
