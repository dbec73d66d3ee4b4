// How far the bootstrap of this host has come. It is kept on disk: the sentinel of Cluster API lies below /run, which a reboot empties.
import { z } from 'zod';
import type { Host } from '../../../host/host.ts';
import { defaultStateDir } from '../../../host/ledger/ledger.ts';
import { tryJson } from '../../../lib/try-json.ts';
import type { TaskScope } from '../../task.ts';

/** A zone of the scope that makes the host a node: released, it knows nothing of an earlier life. */
const folder = `${defaultStateDir}/bootstrap`;

export const bootstrapPaths = {
  folder,
  state: `${folder}/state.json`,
  log: (name: string): string => `${folder}/${name}.log`,
  script: (name: string): string => `${folder}/${name}.sh`,
  /** Cluster API's own folder, and the file that its last command writes. */
  clusterAPI: '/run/cluster-api',
  sentinel: '/run/cluster-api/bootstrap-success.complete',
} as const;

const state = z.strictObject({
  /** `begun`: what of Kubernetes is here was made by the attempt. `done`: the sentinel was seen. */
  progress: z.enum(['begun', 'done']),
  /** Digest of the data, with its values filled in. */
  data: z.string(),
});
export type BootstrapState = z.infer<typeof state>;

const ownOnly = { uid: 0, gid: 0 };

export async function readState(host: Host): Promise<BootstrapState | undefined> {
  const content = await host.files.read(bootstrapPaths.state);
  return content === undefined ? undefined : state.parse(tryJson(content.toString('utf8')));
}

export async function writeState(host: Host, next: BootstrapState): Promise<void> {
  await writeOwn(host, bootstrapPaths.state, `${JSON.stringify(next)}\n`);
}

export async function writeOwn(host: Host, path: string, text: string): Promise<void> {
  await host.files.write(path, text, { mode: 0o600, ...ownOnly });
}

/** Both folders are filled without single changes, and go as a whole. */
export async function makeFolders(scope: TaskScope): Promise<void> {
  await scope.apply({ kind: 'zone', path: bootstrapPaths.folder });
  await scope.apply({ kind: 'zone', path: bootstrapPaths.clusterAPI });
  if (scope.dryRun) return;
  await makeDirectory(scope.host, bootstrapPaths.folder, 0o700);
  // Not as a change of its own, which would go before the zone that empties it.
  await makeDirectory(scope.host, bootstrapPaths.clusterAPI, 0o755);
}

async function makeDirectory(host: Host, path: string, mode: number): Promise<void> {
  if ((await host.files.stat(path)) === undefined) await host.files.makeDirectory(path, { mode, ...ownOnly });
}

export async function hasSentinel(host: Host): Promise<boolean> {
  return (await host.files.stat(bootstrapPaths.sentinel)) !== undefined;
}
