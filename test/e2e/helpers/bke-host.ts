// A fresh host of the test bed with the built bke, a small signed bundle and this machine's limits on it.
import { prepareHosts, type RunResult, startHosts, type TestHost } from '../../testbed/index.ts';

export { initOptions } from '../../testbed/index.ts';

export interface BkeHost extends TestHost {
  /** Runs `bke <words>` as root. */
  bke(words: string, options?: { readonly timeout?: number }): Promise<RunResult>;
}

/** One host. */
export async function bkeHost(name: string): Promise<BkeHost> {
  const hosts = await startHosts([name]);
  const [host] = hosts;
  if (host === undefined) throw new Error(`no host ${name}`);
  await prepareHosts(hosts);
  return { ...host, bke: (words, options) => host.exec(`bke ${words}`, options) };
}

/** The exit code and, where it is not the wanted one, all that bke said. */
export function outcome(result: RunResult): string {
  return result.exitCode === 0 ? 'exit code 0' : `exit code ${result.exitCode}\n${result.stderr}\n${result.stdout}`;
}
