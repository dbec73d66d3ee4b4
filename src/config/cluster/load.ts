// The one way a cluster.yaml is read: every command gets the same cluster from it, or the same words about what is wrong.
import { stat } from 'node:fs/promises';
import type { Problem } from '../problem.ts';
import { fieldPath, readYaml } from '../read-yaml.ts';
import { readYamlFile } from '../yaml-file.ts';
import type { Path } from '../yaml-source.ts';
import { checkCluster } from './check.ts';
import { type ClusterConfig, clusterConfig } from './config.ts';
import { type ClusterFile, clusterFile } from './file.ts';
import { namedFileFindings } from './named-files.ts';
import { writtenPath } from './written-path.ts';

export interface NamedCluster {
  /** Absolute. */
  readonly path: string;
  /** As the user wrote it, for messages. */
  readonly name: string;
  /** Directory that `~/` stands for; undefined where there is none. */
  readonly home: string | undefined;
  /** Whether the files that it names are looked at too. */
  readonly withFiles: boolean;
}

export interface LoadedCluster {
  readonly warnings: readonly Problem[];
  readonly problems: readonly Problem[];
  /** What the file says, as it says it: `kind` may be another one. Unchecked where there are problems. */
  readonly raw: unknown;
  /** Absent where there are problems. */
  readonly cluster?: { readonly file: ClusterFile; readonly config: ClusterConfig };
  /** Line of what stands at a path. */
  readonly lineOf: (path: Path) => number;
  /** 'cluster.yaml:3:5' of the same, of the default it comes from, or of the nearest parent there is. */
  readonly placeOf: (path: Path) => string;
}

/** @throws BkeError BKE_CONFIG_INVALID where it cannot be read or is no text; what is wrong in it is returned. */
export async function loadCluster(named: NamedCluster): Promise<LoadedCluster> {
  const text = await readYamlFile({ ...named, what: 'cluster file', code: 'BKE_CONFIG_INVALID' });
  const result = readYaml(text, named.name, clusterFile, checkCluster);
  const { placeOf, lineOf } = result;
  const raw = 'value' in result ? result.value : result.raw;
  const files = named.withFiles ? await namedFileFindings(raw, named) : [];
  const fileProblems = files.map(({ path, message }) => ({ at: placeOf(path), field: fieldPath(path), message }));
  const exposed = await exposedWarnings(raw, named);
  const common = {
    raw,
    lineOf,
    placeOf: (path: Path) => placeOf(writtenPath(raw, path)),
    warnings: [...exposed, ...result.warnings],
  };
  if (!('value' in result) || fileProblems.length > 0) {
    return { ...common, problems: [...('value' in result ? [] : result.problems), ...fileProblems] };
  }
  return { ...common, problems: [], cluster: { file: result.value, config: clusterConfig(result.value) } };
}

async function exposedWarnings(raw: unknown, { path, name }: NamedCluster): Promise<Problem[]> {
  if (!hasPassword(raw)) return [];
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile() || (found.mode & 0o077) === 0) return [];
  return [{ at: name, field: '', message: `has passwords, and others may reach it: chmod 600 ${name}` }];
}

function hasPassword(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => (key === 'password' && typeof inner === 'string' && inner !== '') || hasPassword(inner),
  );
}
