// containerd that bke installed, on a host whose ledger does not tell of it: what it makes by names of its own, and what bke wrote by its mark.
import type { Host } from '../../host/host.ts';
import { type KnownPath, kubernetesPaths } from '../../host/state/known-paths.ts';
import { containerdPaths } from '../node/containerd-config.ts';
import { filesLeft } from './left-record.ts';
import type { Left } from './reset-plan.ts';
import { isMarked } from './own-paths.ts';

const what = 'containerd that bke installed';
/** What containerd and its shims make in their root and state folders, beside one folder per plugin (io.containerd.*). */
const madeByContainerd =
  /^(io\.containerd\.|(opt|tmpmounts|runc|fifo|s|containerd\.sock|containerd\.sock\.ttrpc|debug\.sock)$)/;
const nri = '/run/nri';

async function list(host: Host, folder: string): Promise<string[]> {
  return (await host.files.stat(folder))?.type === 'directory' ? host.files.list(folder) : [];
}

async function madeIn(host: Host, folder: string): Promise<KnownPath[]> {
  const names = (await list(host, folder)).filter((name) => madeByContainerd.test(name));
  return names.map((name) => ({ path: `${folder}/${name}`, kind: name.includes('.sock') ? 'file' : 'tree', what }));
}

/** The user's registries lie beside bke's: only a marked hosts.toml goes, and its folder once it is empty. */
async function registryPaths(host: Host): Promise<KnownPath[]> {
  const files: KnownPath[] = [];
  const folders: KnownPath[] = [];
  for (const name of await list(host, containerdPaths.certsDir)) {
    const folder = `${containerdPaths.certsDir}/${name}`;
    if (!(await isMarked(host, `${folder}/hosts.toml`))) continue;
    files.push({ path: `${folder}/hosts.toml`, kind: 'file', what });
    folders.push({ path: folder, kind: 'folder', what });
  }
  return [...files, ...folders];
}

/** Only where its unit is bke's. */
export async function runtimePaths(host: Host): Promise<KnownPath[]> {
  const { root, state, ca, certsDir } = containerdPaths;
  const folders = [certsDir, '/etc/containerd', root, state, nri];
  return [
    ...(await madeIn(host, root)),
    ...(await madeIn(host, state)),
    { path: `${nri}/nri.sock`, kind: 'file', what },
    { path: ca, kind: 'file', what },
    ...(await registryPaths(host)),
    ...folders.map((path): KnownPath => ({ path, kind: 'folder', what })),
  ];
}

/** Network plugins carry no mark and others install the same: they stay, and a person has to say whose they are. */
export async function unprovenPlugins(host: Host, isRecorded: (path: string) => boolean): Promise<Left[]> {
  const folder = containerdPaths.cniBinDir;
  const known = new Set(kubernetesPaths.map(({ path }) => path));
  const names = (await list(host, folder)).filter((name) => {
    const path = `${folder}/${name}`;
    return !known.has(path) && !isRecorded(path);
  });
  return names.length === 0 ? [] : [filesLeft(folder, names)];
}
