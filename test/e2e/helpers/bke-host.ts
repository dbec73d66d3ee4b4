// A fresh host of the test bed with the built bke, a small signed bundle and this machine's limits on it.
import { rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRelease, type RunResult, startHosts, type TestHost, type UpOptions } from '../../testbed/index.ts';

const root = new URL('../../../', import.meta.url).pathname;

/** The binary of `npm run build`, which e2e tests run as a user would. */
async function builtBinary(): Promise<string> {
  const path = join(root, 'dist/bke-linux-amd64');
  if ((await stat(path).catch(() => undefined)) === undefined) throw new Error(`${path} is not there: npm run build`);
  return path;
}

/** What containerd needs on a test machine without CAP_SYS_RESOURCE. */
const bootstrapFile = `apiVersion: bke.io/v1alpha1
kind: Bootstrap
spec:
  settings:
    containerd:
      plugins:
        io.containerd.cri.v1.runtime:
          restrict_oom_score_adj: true
`;

/** The options of init that name what `bkeHosts` put on the host. */
export const initOptions = '--bundle /root/bundle.tar --trust-key /root/bundle.pub --config /root/bootstrap.yaml';

export interface BkeHost extends TestHost {
  /** Runs `bke <words>` as root. */
  bke(words: string, options?: { readonly timeout?: number }): Promise<RunResult>;
}

export async function bkeHosts(names: readonly string[], options: UpOptions = {}): Promise<BkeHost[]> {
  const release = await makeRelease('small');
  const binary = await builtBinary();
  const settings = join(tmpdir(), `bke-bootstrap-${process.pid}.yaml`);
  await writeFile(settings, bootstrapFile);
  const hosts = await startHosts(names, options);
  const ready = await Promise.all(
    hosts.map(async (host): Promise<BkeHost> => {
      await host.copyIn(binary, '/usr/local/bin/bke');
      await host.copyIn(release.bundle, '/root/bundle.tar');
      await host.copyIn(release.trustKey, '/root/bundle.pub');
      await host.copyIn(settings, '/root/bootstrap.yaml');
      return { ...host, bke: (words, options) => host.exec(`bke ${words}`, options) };
    }),
  );
  await rm(settings);
  return ready;
}

/** One host. */
export async function bkeHost(name: string): Promise<BkeHost> {
  const [host] = await bkeHosts([name]);
  if (host === undefined) throw new Error(`no host ${name}`);
  return host;
}

/** The exit code and, where it is not the wanted one, all that bke said. */
export function outcome(result: RunResult): string {
  return result.exitCode === 0 ? 'exit code 0' : `exit code ${result.exitCode}\n${result.stderr}\n${result.stdout}`;
}
