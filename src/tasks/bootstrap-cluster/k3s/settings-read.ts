// Whether this K3s reads the settings it was given: older ones know no drop-ins of containerd (k3s-io/k3s#13680, since March 2026).
import type { NodeSettings } from '../../../config/node-settings.ts';
import type { TaskScope } from '../../task.ts';
import { k3sPaths } from './paths.ts';

const importedFolder = 'config-v3.toml.d';

export async function warnOfUnread(scope: TaskScope, settings: Pick<NodeSettings, 'containerd'>): Promise<void> {
  if (scope.dryRun || Object.keys(settings.containerd).length === 0) return;
  const text = (await scope.host.files.read(k3sPaths.containerdConfig))?.toString('utf8') ?? '';
  if (text.includes(importedFolder)) return;
  scope.warn(
    `spec.settings.containerd has no effect: this K3s does not import ${importedFolder} in ${k3sPaths.containerdConfig}`,
  );
}
