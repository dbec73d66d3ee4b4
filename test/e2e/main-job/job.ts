// The four hosts of the main job, as its parts use them: made once, looked at from every side, compared with what they were.
import { expect } from 'vitest';
import {
  clusterFile,
  diffScans,
  type EgressSink,
  egressSink,
  prepareHosts,
  prepareSite,
  type RunResult,
  type Scan,
  scanMachine,
  startHosts,
  type TestHost,
} from '../../testbed/index.ts';
import { outcome } from '../helpers/bke-host.ts';

/** The password by which w2 is entered; it must be found nowhere. */
export const canary = 'Canary-7391 \'q"$x';

export const clusterName = 'prod';
/** Its cache is its user's: bke leaves it alone. */
export const kubectl = 'kubectl --cache-dir /tmp/kubectl';
/** Of the cluster that bke makes; written by `bke cluster kubeconfig`. */
export const clusterKubeconfig = `/root/${clusterName}.kubeconfig`;

/** That it ends; how long it takes alone on the machine is told by `npm run bench:reset`, whose bar is 15 s. */
export const longestResetMs = 60_000;

const longestCommand = 900;

export interface MainJob {
  readonly boot: TestHost;
  readonly cp1: TestHost;
  readonly w1: TestHost;
  readonly w2: TestHost;
  readonly all: readonly TestHost[];
  readonly sink: EgressSink;
  /** Writes /root/cluster.yaml on the bootstrap node. @param password of w2; default its own */
  describeHosts(password?: string): Promise<void>;
  /** `bke <words>` on the bootstrap node. */
  bke(words: string): Promise<RunResult>;
  /** The same; fails unless it ends with exit code 0. */
  done(words: string): Promise<RunResult>;
  /** kubectl on the bootstrap node, for its own cluster. */
  management(words: string): Promise<string>;
  /** kubectl on the bootstrap node, for the new cluster. */
  cluster(words: string): Promise<string>;
  /** Writes down what a host is now, to be compared with later. */
  remember(hosts?: readonly TestHost[]): Promise<void>;
  /** What differs from what was written down, as lines with the host's name before them. */
  differences(hosts?: readonly TestHost[]): Promise<string[]>;
}

/** Fresh hosts; bke, its bundle and a cluster.yaml for the other three are on `boot`. */
export async function startJob(): Promise<MainJob> {
  const hosts = await startHosts(['boot', 'cp1', 'w1', 'w2']);
  const [boot, cp1, w1, w2] = hosts;
  if (boot === undefined || cp1 === undefined || w1 === undefined || w2 === undefined) throw new Error('no hosts');
  await prepareHosts([boot], 'full');
  await prepareSite(boot, [cp1, w1, w2]);
  await w2.output('chpasswd', { input: `root:${canary}\n` });
  const describeHosts = async (password: string = canary): Promise<void> => {
    const workers = [w1, { name: 'w2', address: w2.address, ssh: { password } }];
    const file = clusterFile({ name: clusterName, controlPlane: [cp1], workers });
    await boot.output('install -m 0600 /dev/stdin /root/cluster.yaml', { input: file });
  };
  await describeHosts();
  const sink = await egressSink();
  return { boot, cp1, w1, w2, all: hosts, sink, describeHosts, ...commandsOn(boot), ...comparisonOf(hosts) };
}

function commandsOn(boot: TestHost): Pick<MainJob, 'bke' | 'done' | 'management' | 'cluster'> {
  const bke = (words: string) => boot.exec(`bke ${words}`, { timeout: longestCommand });
  return {
    bke,
    done: async (words) => {
      const result = await bke(words);
      expect(result.exitCode, outcome(result)).toBe(0);
      return result;
    },
    management: (words) => boot.output(`${kubectl} --kubeconfig /etc/kubernetes/admin.conf ${words}`),
    cluster: (words) => boot.output(`${kubectl} --kubeconfig ${clusterKubeconfig} ${words}`),
  };
}

function comparisonOf(all: readonly TestHost[]): Pick<MainJob, 'remember' | 'differences'> {
  const before = new Map<TestHost, Scan>();
  return {
    remember: async (hosts = all) => {
      await Promise.all(hosts.map(async (host) => before.set(host, await scanned(host))));
    },
    differences: async (hosts = all) => {
      const lines = await Promise.all(
        hosts.map(async (host) =>
          diffScans(before.get(host) ?? {}, await scanned(host)).map((line) => `${host.name}: ${line}`),
        ),
      );
      return lines.flat();
    },
  };
}

async function scanned(host: TestHost): Promise<Scan> {
  // Any question about the clock starts this service, and it ends by itself half a minute later.
  await host.exec('systemctl stop systemd-timedated');
  return scanMachine(host);
}
