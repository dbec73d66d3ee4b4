// bke's own files by name: what a reset goes by where the ledger is missing or damaged, and what it sweeps up behind the ledger.
import { defaultStateDir } from '../../host/ledger/ledger.ts';
import type { KnownPath } from '../../host/state/known-paths.ts';
import { unitFolder } from '../../host/systemd.ts';
import { programsDir } from '../node/programs.ts';
import { servicePaths, unitNames } from '../services/layout.ts';
import { reservedPortsFile } from '../services/reserved-ports.ts';
import type { ResetFlags } from './reset-plan.ts';

const agentUnit = 'bke-agent.service';
const serviceUnits = Object.values(unitNames);

function unitPaths(names: readonly string[]): KnownPath[] {
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
    paths.push(...unitPaths(serviceUnits));
    paths.push({ path: reservedPortsFile, kind: 'file', what: 'reserved ports' });
    paths.push({ path: servicePaths.configDir, kind: 'tree', what: 'settings of the local services' });
    paths.push({
      path: `${defaultStateDir}/services`,
      kind: 'tree',
      what: 'images, files and charts of the local services',
    });
    paths.push({ path: servicePaths.pkiDir, kind: 'tree', what: 'site CA' });
  }
  if (flags.all) {
    paths.push(...unitPaths([agentUnit]));
    paths.push({ path: `${defaultStateDir}/agent`, kind: 'tree', what: 'agent state' });
  }
  if (flags.all && flags.mount) {
    paths.push({ path: programsDir, kind: 'tree', what: 'programs bke installed' });
    paths.push({ path: '/etc/bke', kind: 'tree', what: 'settings of bke' });
  }
  return paths;
}

export const ownUnits: readonly string[] = [agentUnit, ...serviceUnits];
