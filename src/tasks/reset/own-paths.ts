// bke's own files by name: what a reset goes by where the ledger is missing or damaged, and what it sweeps up behind the ledger.
import { defaultStateDir } from '../../host/ledger/ledger.ts';
import type { KnownPath } from '../../host/state/known-paths.ts';
import { unitFolder } from '../../host/state/units.ts';
import type { ResetFlags } from './reset-plan.ts';

/** Programs bke puts on hosts. */
export const programsFolder = '/usr/local/libexec/bke';

function serviceUnits(names: readonly string[]): KnownPath[] {
  return names.flatMap((name) =>
    [`${unitFolder}/multi-user.target.wants/${name}`, `${unitFolder}/${name}`].map(
      (path): KnownPath => ({ path, kind: 'file', what: 'bke unit' }),
    ),
  );
}

/** Without a ledger nothing tells who needs a shared file: programs and settings go only with everything. */
export function ownPaths(flags: ResetFlags): KnownPath[] {
  const paths: KnownPath[] = [];
  if (flags.mount) {
    paths.push(...serviceUnits(['bke-files.service', 'bke-registry.service', 'bke-registry-push.service']));
    paths.push({ path: '/etc/sysctl.d/90-bke-services.conf', kind: 'file', what: 'reserved ports' });
    paths.push({ path: '/etc/bke/services', kind: 'tree', what: 'settings of the local services' });
    paths.push({
      path: `${defaultStateDir}/services`,
      kind: 'tree',
      what: 'images, files and charts of the local services',
    });
    paths.push({ path: `${defaultStateDir}/pki`, kind: 'tree', what: 'site CA' });
  }
  if (flags.all) {
    paths.push(...serviceUnits(['bke-agent.service']));
    paths.push({ path: `${defaultStateDir}/agent`, kind: 'tree', what: 'agent state' });
  }
  if (flags.all && flags.mount) {
    paths.push({ path: programsFolder, kind: 'tree', what: 'programs bke installed' });
    paths.push({ path: '/etc/bke', kind: 'tree', what: 'settings of bke' });
  }
  return paths;
}

export const ownUnits = [
  'bke-agent.service',
  'bke-files.service',
  'bke-registry.service',
  'bke-registry-push.service',
] as const;
