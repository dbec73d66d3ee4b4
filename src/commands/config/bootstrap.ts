// A bootstrap.yaml for the config commands: checked as `bke init` checks it, without asking this host.
import { type BootstrapSettings, effectiveSettings } from '../../config/bootstrap.ts';
import { refuseProblems } from '../../config/problem.ts';
import { fileLayers, readConfigFile } from '../init/config-file.ts';
import { settingProblems } from '../init/setting-problems.ts';
import type { CommandContext } from '../context.ts';

export interface BootstrapConfig {
  readonly kind: 'Bootstrap';
  readonly settings: BootstrapSettings;
  /** Where the value of a field comes from: 'default' or the file. */
  readonly sourceOf: (field: string) => string;
}

/** @throws BkeError BKE_CONFIG_INVALID with every problem. */
export async function readBootstrap(context: CommandContext, name: string): Promise<BootstrapConfig> {
  const file = await readConfigFile(context, name);
  const { hostIP } = file.spec;
  const layers = fileLayers(file);
  const effective = effectiveSettings(layers, hostIP === undefined ? [] : [hostIP]);
  const problems = [...file.problems, ...effective.problems, ...settingProblems(layers, effective)];
  refuseProblems(problems, name, Number.POSITIVE_INFINITY);
  const { settings, sources } = effective;
  return { kind: 'Bootstrap', settings, sourceOf: (field) => (sources[field] === undefined ? 'default' : name) };
}
