// Reads the cluster.yaml that a command names: warnings are told, a mistake ends the command.
import { resolve } from 'node:path';
import { loadCluster } from '../../config/cluster/load.ts';
import { refuseOtherKind } from '../../config/file-kind.ts';
import { problemLines, refuseProblems } from '../../config/problem.ts';
import type { CommandContext } from '../context.ts';
import type { LoadedHosts } from './access.ts';

/** @param name as it was typed. @throws BkeError BKE_CONFIG_INVALID */
export async function readClusterFile(context: CommandContext, name: string): Promise<LoadedHosts> {
  const place = { path: resolve(context.cwd, name), home: context.env['HOME'] };
  const { warnings, problems, raw, cluster, placeOf } = await loadCluster({ ...place, name, withFiles: true });
  refuseOtherKind(raw, name, 'Cluster');
  for (const line of problemLines(warnings)) context.note(`warning: ${line}`);
  refuseProblems(problems, name);
  if (cluster === undefined) throw new Error(`${name} has no problems and no cluster`);
  return { name, config: cluster.config, raw, place, placeOf };
}
