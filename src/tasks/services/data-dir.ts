// Whether a data directory would lie in, or hold, something that bke, containerd or Kubernetes keeps elsewhere: their files and the services' must never mix.
import { defaultStateDir } from '../../host/ledger/ledger.ts';
import { kubernetesPaths, mountTops, sharedFolders, volumePaths } from '../../host/state/known-paths.ts';
import { unitFolder } from '../../host/systemd.ts';
import { runtimeZones } from '../node/container-runtime.ts';
import { containerdPaths } from '../node/containerd-config.ts';
import { programsDir } from '../node/programs.ts';
import { servicePaths } from './layout.ts';

/** The one place below bke's own folder that is for data. */
const dataPlace = `${defaultStateDir}/services`;

const taken: readonly { readonly path: string; readonly what: string }[] = [
  { path: programsDir, what: "bke's programs" },
  { path: unitFolder, what: "the system's units" },
  ...Object.values(servicePaths).map((path) => ({ path, what: "bke's configuration and keys" })),
  ...[...Object.values(containerdPaths), ...runtimeZones].map((path) => ({ path, what: "containerd's files" })),
  ...[...kubernetesPaths, ...sharedFolders].map(({ path }) => ({ path, what: "Kubernetes' files" })),
  ...volumePaths.map(({ path }) => ({ path, what: 'volumes of pods' })),
  ...mountTops.map((path) => ({ path, what: "Kubernetes' files" })),
];

/** undefined where it is a place of its own. @param dataDir absolute and plain. */
export function dataDirOverlap(dataDir: string): string | undefined {
  if (isWithin(dataDir, defaultStateDir) && !isWithin(dataDir, dataPlace)) {
    return `${dataDir} is in ${defaultStateDir}, where bke keeps its own records: only ${dataPlace} is for data there`;
  }
  const inside = taken.find(({ path }) => isWithin(dataDir, path));
  if (inside !== undefined) return `${dataDir} is in ${inside.path}, which is for ${inside.what}`;
  const holds = [{ path: defaultStateDir, what: "bke's records" }, ...taken].find(({ path }) =>
    isWithin(path, dataDir),
  );
  return holds === undefined ? undefined : `${dataDir} holds ${holds.path}, which is for ${holds.what}`;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
