// Reads the file a config command is about, whichever of the two kinds it is.
import { resolve } from 'node:path';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import type { ClusterFile } from '../../config/cluster/file.ts';
import { loadCluster } from '../../config/cluster/load.ts';
import type { InputReader } from '../../lib/input.ts';
import { problemLines, refuseProblems } from '../../config/problem.ts';
import { nearest } from '../../lib/suggest.ts';
import type { CommandContext } from '../context.ts';
import { type BootstrapConfig, readBootstrap } from './bootstrap.ts';

/** All of them: this is what the command is for. */
const most = Number.POSITIVE_INFINITY;

export type ReadConfig =
  | {
      readonly kind: 'Cluster';
      readonly file: ClusterFile;
      readonly config: ClusterConfig;
      /** Line of what stands at a path of the file. */
      readonly lineOf: (path: readonly PropertyKey[]) => number;
      readonly warnings: readonly string[];
    }
  | BootstrapConfig;

/** Warnings are told. @throws BkeError BKE_CONFIG_INVALID with every problem. */
export async function readConfig(context: CommandContext, input: InputReader): Promise<ReadConfig> {
  const name = input.requiredText('file');
  const path = resolve(context.cwd, name);
  const loaded = await loadCluster({ path, name, home: context.env['HOME'], withFiles: input.flag('files') });
  if (isBootstrap(loaded.raw)) return readBootstrap(context, name);
  const warnings = problemLines(loaded.warnings, most);
  for (const warning of warnings) context.note(`warning: ${warning}`);
  refuseProblems(loaded.problems, name, most);
  if (loaded.cluster === undefined) throw new Error(`${name} has no problems and no cluster`);
  return { kind: 'Cluster', ...loaded.cluster, lineOf: loaded.lineOf, warnings };
}

/** Also where the word is only nearly that: its problems are to be those of the file that is meant. */
function isBootstrap(raw: unknown): boolean {
  const kind: unknown = typeof raw === 'object' && raw !== null ? Reflect.get(raw, 'kind') : undefined;
  return typeof kind === 'string' && nearest(kind, ['Cluster', 'Bootstrap']) === 'Bootstrap';
}
