// bke's own files by name, and which of them prove by their content that bke wrote them: what a reset goes by where no ledger answers.
import { defaultStateDir } from '../../host/ledger/ledger.ts';
import type { KnownPath } from '../../host/state/known-paths.ts';
import type { Host } from '../../host/host.ts';
import { unitFolder } from '../../host/systemd.ts';
import { ownMark } from '../../lib/own-mark.ts';
import { agentPaths, agentUnit } from '../agent/paths.ts';
import { kubeadmPaths } from '../bootstrap-cluster/kubeadm/paths.ts';
import { bootstrapPaths } from '../node/cloud-config/state.ts';
import { containerdPaths } from '../node/containerd-config.ts';
import { kernelValuesFile, modulesFile } from '../node/environment.ts';
import { kubeletFiles, kubeletPaths } from '../node/kubelet-config.ts';
import { programsDir } from '../node/programs.ts';
import { dataPaths, servicePaths, unitNames } from '../services/layout.ts';
import { reservedPortsFile } from '../services/reserved-ports.ts';
import type { ResetFlags } from './reset-plan.ts';

/** Whether a file begins as bke's own do. */
export async function isMarked(host: Host, path: string): Promise<boolean> {
  if ((await host.files.stat(path))?.type !== 'file') return false;
  const text = (await host.files.read(path).catch(() => undefined))?.toString('utf8') ?? '';
  return text.startsWith(ownMark);
}

const nodeFiles = [modulesFile, kernelValuesFile, ...kubeletFiles];
const kubeadmFiles = [kubeadmPaths.config];

const serviceUnits: readonly string[] = Object.values(unitNames);

export const ownUnits: readonly string[] = [agentUnit, ...serviceUnits];
export const runtimeUnit = `${unitFolder}/containerd.service`;

export function wantedLink(unit: string): string {
  return unit.replace(`${unitFolder}/`, `${unitFolder}/multi-user.target.wants/`);
}

function paths(kind: KnownPath['kind'], what: string, list: readonly string[]): KnownPath[] {
  return list.map((path) => ({ path, kind, what }));
}

function unitFiles(names: readonly string[]): KnownPath[] {
  return paths(
    'file',
    'bke unit',
    names.map((name) => `${unitFolder}/${name}`),
  );
}

/** Files that begin with bke's mark where they are bke's. What bke made beside them is known by their being there, so they go last. */
export function markablePaths(flags: ResetFlags): KnownPath[] {
  const { registryConfig, registryPushConfig } = servicePaths;
  return [
    ...(flags.mount
      ? [
          ...paths('file', 'settings of the local services', [registryConfig, registryPushConfig]),
          ...paths('file', 'reserved ports', [reservedPortsFile]),
          ...unitFiles(serviceUnits),
        ]
      : []),
    ...(flags.all ? unitFiles([agentUnit]) : []),
    ...paths('file', 'settings of the node', [...nodeFiles, ...kubeadmFiles]),
    ...paths('file', 'containerd that bke installed', [containerdPaths.crictl, containerdPaths.config, runtimeUnit]),
  ];
}

/**
 * Nothing in these tells whose they are: they are bke's only where something else proves that bke was here.
 * @param last nothing of bke's stays on the host that would still need what its parts share
 */
export function namedPaths(flags: ResetFlags, last: boolean): KnownPath[] {
  const { settings, content, htpasswd, certificate, key } = servicePaths;
  const { siteCa, siteCaKey, siteCaCertificate, pushPassword } = servicePaths;
  const services = dataPaths(`${defaultStateDir}/services`);
  return [
    ...(flags.mount
      ? [
          ...paths('tree', 'images, files and charts of the local services', Object.values(services)),
          ...paths('file', 'settings of the local services', [settings, content, htpasswd, certificate, key]),
          ...paths('file', 'site CA', [siteCaKey, siteCaCertificate, pushPassword]),
        ]
      : []),
    ...paths('tree', 'files brought for the node', [agentPaths.artifacts]),
    ...paths('tree', 'how the host became a node', [bootstrapPaths.folder]),
    ...(flags.all ? paths('tree', 'agent state', [agentPaths.stateDir]) : []),
    ...(last ? paths('file', 'site CA', [siteCa]) : []),
  ];
}

/** They go only once nothing is left in them. Deepest first. @param last as for {@link namedPaths} */
export function ownFolders(flags: ResetFlags, last: boolean): KnownPath[] {
  const mount = [servicePaths.configDir, servicePaths.pkiDir, `${defaultStateDir}/services`];
  return paths('folder', 'folder', [
    kubeletPaths.configDir,
    ...(flags.mount ? mount : []),
    ...(last ? [programsDir, '/etc/bke'] : []),
  ]);
}
