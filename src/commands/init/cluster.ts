// `bke init -f cluster.yaml`: the cluster that is made when the host is set up. What is wrong with the file is told before anything is done.
import { BkeError } from '../../lib/errors.ts';
import type { InputReader } from '../../lib/input.ts';
import { createCluster } from '../cluster/create-work.ts';
import { refuseUnmakeable } from '../cluster/unmakeable.ts';
import type { CommandContext } from '../context.ts';
import type { LoadedHosts } from '../host/access.ts';
import { readClusterFile } from '../host/load.ts';

const connections = 50;

/** undefined where none is to be made. @throws BkeError BKE_CONFIG_INVALID, BKE_SSH_AGENT_ONLY, BKE_SETTING_UNSUPPORTED, BKE_USAGE */
export async function readClusterToMake(context: CommandContext, read: InputReader): Promise<LoadedHosts | undefined> {
  const file = read.text('file');
  if (file === undefined) return undefined;
  if (read.text('bootstrap') === 'none') {
    throw new BkeError('BKE_USAGE', '--file needs a bootstrap cluster, and --bootstrap none makes none');
  }
  const loaded = await readClusterFile(context, file);
  refuseUnmakeable(loaded.config);
  return loaded;
}

export async function makeCluster(context: CommandContext, read: InputReader, loaded: LoadedHosts): Promise<void> {
  await createCluster(context, loaded, {
    dryRun: false,
    acceptAll: read.flag('acceptNewHostKeys'),
    ignoredChecks: [],
    connections,
    kubeconfig: undefined,
  });
}
