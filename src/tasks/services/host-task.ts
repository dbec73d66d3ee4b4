// What the services stand on: their user, directories, zones, reserved ports, and the site name in the hosts file.
import { dirname } from 'node:path';
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import type { Task, TaskScope } from '../task.ts';
import { dataPaths, servicePaths, serviceUser } from './layout.ts';
import { settingsText } from './records.ts';
import { reservePorts } from './reserved-ports.ts';

export const servicesHostTask: Task<BootstrapSettings> = {
  name: 'services/host',
  title: () => 'User, directories, reserved ports and site name',
  timeoutMs: 2 * 60_000,
  run: async (scope, settings) => {
    await scope.apply({ kind: 'user', name: serviceUser });
    await scope.apply({ kind: 'directory', path: dirname(servicePaths.configDir), mode: 0o755 });
    await scope.apply({ kind: 'directory', path: servicePaths.configDir, mode: 0o755 });
    await scope.apply({
      kind: 'file',
      path: servicePaths.settings,
      mode: 0o644,
      content: { text: settingsText(settings) },
    });
    await scope.apply({ kind: 'directory', path: servicePaths.pkiDir, mode: 0o700 });
    await makeDataDirectories(scope, settings.dataDir);
    await reservePorts(scope, settings.ports);
    await scope.apply({ kind: 'hosts-entry', address: settings.hostIP, names: [settings.domain] });
  },
};

async function makeDataDirectories(scope: TaskScope, dataDir: string): Promise<void> {
  const there = await scope.host.files.stat(dataDir);
  // A directory the site made keeps its attributes, as long as the services can pass through it.
  if (there?.type !== 'directory' || (there.mode & 0o001) === 0)
    await scope.apply({ kind: 'directory', path: dataDir, mode: 0o755 });
  const { registry, files, charts, digests } = dataPaths(dataDir);
  const owner = { user: serviceUser, group: serviceUser };
  await scope.apply({ kind: 'directory', path: registry, mode: 0o755, owner });
  await scope.apply({ kind: 'directory', path: files, mode: 0o755 });
  await scope.apply({ kind: 'directory', path: charts, mode: 0o755 });
  // root's, as everything that loads write by path: the service must not be able to lead them elsewhere by a link.
  await scope.apply({ kind: 'directory', path: digests, mode: 0o755 });
  for (const path of [registry, files, charts, digests]) await scope.apply({ kind: 'zone', path });
}
