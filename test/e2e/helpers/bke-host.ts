// A fresh host of the test bed with the built bke, a small signed bundle and this machine's limits on it.
import {
  initOptions as optionsOf,
  prepareHosts,
  type RunResult,
  startHosts,
  type TestHost,
} from '../../testbed/index.ts';

/** The options of `bke init` for the small bundle: local services and containerd. */
export const initOptions = optionsOf.small;
/** For the full one: the bootstrap cluster too. */
export const clusterOptions = optionsOf.full;

export interface BkeHost extends TestHost {
  /** Runs `bke <words>` as root. */
  bke(words: string, options?: { readonly timeout?: number }): Promise<RunResult>;
}

/** One host. @param size of the bundle on it */
export async function bkeHost(name: string, size: 'small' | 'full' = 'small'): Promise<BkeHost> {
  const hosts = await startHosts([name]);
  const [host] = hosts;
  if (host === undefined) throw new Error(`no host ${name}`);
  await prepareHosts(hosts, size);
  return { ...host, bke: (words, options) => host.exec(`bke ${words}`, options) };
}

/** The exit code and, where it is not the wanted one, all that bke said. */
export function outcome(result: RunResult): string {
  return result.exitCode === 0 ? 'exit code 0' : `exit code ${result.exitCode}\n${result.stderr}\n${result.stdout}`;
}
