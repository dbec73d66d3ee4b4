// Puts programs of the bundle on a host: into a versioned folder of bke's own, verified by digest, with links where people and services look.
import { digestOf } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { TaskScope } from '../task.ts';
import { relabel } from './selinux.ts';

/** Every security policy lets services run what lies here; files are copied in, so they get this folder's label, not that of where they came from. */
export const programsDir = '/usr/local/libexec/bke';
const linksDir = '/usr/local/bin';

/** A file artifact of a release that is on this host already. */
export interface ProgramArtifact {
  /** Logical name, e.g. containerd. */
  readonly name: string;
  readonly version: string;
  readonly type: 'binary' | 'archive';
  /** Path on this host, e.g. in the file repository. */
  readonly source: string;
  /** sha256:<hex> */
  readonly digest: string;
}

/** Versioned folder of an artifact. */
export function programFolder(artifact: Pick<ProgramArtifact, 'name' | 'version'>): string {
  return `${programsDir}/${artifact.name}-${artifact.version}`;
}

export interface InstalledPrograms {
  /**
   * Where a program of the artifact is.
   * @throws BkeError BKE_ARTIFACT_MISSING where the archive lacks it.
   */
  path(name: string): Promise<string>;
}

/** Installs an artifact. An archive may have its programs at its top or below `bin/`, as their makers pack them. */
export async function installPrograms(scope: TaskScope, artifact: ProgramArtifact): Promise<InstalledPrograms> {
  const folder = programFolder(artifact);
  if (artifact.type === 'binary') {
    const path = `${folder}/${artifact.name}`;
    const content = { source: artifact.source, digest: artifact.digest };
    if (await scope.apply({ kind: 'file', path, mode: 0o755, content })) await relabel(scope, programsDir);
    return { path: async () => path };
  }
  const { source, digest } = artifact;
  if (await scope.apply({ kind: 'archive', source, digest, destination: folder })) await relabel(scope, programsDir);
  return { path: (name) => locate(scope, artifact, name) };
}

async function locate(scope: TaskScope, artifact: ProgramArtifact, name: string): Promise<string> {
  const folder = programFolder(artifact);
  const usual = `${folder}/bin/${name}`;
  for (const path of [usual, `${folder}/${name}`]) {
    if ((await scope.host.files.stat(path))?.type === 'file') return path;
  }
  if (scope.dryRun) return usual;
  throw new BkeError(
    'BKE_ARTIFACT_MISSING',
    `the archive ${artifact.name} ${artifact.version} has no program ${name}`,
    {
      host: scope.host.name,
      hint: 'It should be at the top of the archive or below bin/. Correct the archive and build the bundle again.',
    },
  );
}

/** Links programs into /usr/local/bin under their own names. */
export async function linkPrograms(scope: TaskScope, paths: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, target] of Object.entries(paths)) {
    await scope.apply({ kind: 'link', path: `${linksDir}/${name}`, target });
  }
}

/** A key for UnitChange.restartKey: differs when any of the parts does. */
export function restartKey(...parts: readonly string[]): string {
  return digestOf(parts.join('\0'));
}
