// bootstrap.yaml as one source of the settings of init.
import { resolve } from 'node:path';
import {
  type BootstrapFile,
  bootstrapFile,
  type Placing,
  readableSpec,
  type SettingsLayer,
} from '../../config/bootstrap.ts';
import { refuseOtherKind } from '../../config/file-kind.ts';
import type { Problem } from '../../config/problem.ts';
import { passThroughFindings } from '../../config/pass-through.ts';
import { readYaml } from '../../config/read-yaml.ts';
import { readYamlFile } from '../../config/yaml-file.ts';
import type { CommandContext } from '../context.ts';
import { definedPorts } from './options.ts';

export interface ConfigFile {
  readonly path: string | undefined;
  /** What of it can be used. */
  readonly spec: BootstrapFile['spec'];
  readonly problems: readonly Problem[];
  readonly place: Placing | undefined;
}

/** @throws BkeError BKE_CONFIG_INVALID where it cannot be read or is no text. */
export async function readConfigFile(
  { cwd }: Pick<CommandContext, 'cwd'>,
  name: string | undefined,
): Promise<ConfigFile> {
  if (name === undefined) return { path: undefined, spec: {}, problems: [], place: undefined };
  const path = resolve(cwd, name);
  const text = await readYamlFile({ path, name, what: 'settings file', code: 'BKE_CONFIG_INVALID' });
  const result = readYaml(text, name, bootstrapFile, passThroughFindings);
  if (!('value' in result)) refuseOtherKind(result.raw, name, 'Bootstrap');
  const place: Placing = (field) => ({ at: result.placeOf(['spec', ...field.split('.')]), field: `spec.${field}` });
  return 'value' in result
    ? { path, spec: result.value.spec, problems: [], place }
    : { path, spec: readableSpec(result.raw), problems: result.problems, place };
}

/** Of a file that was not named: none. */
export function fileLayers({ path, spec, place }: ConfigFile): SettingsLayer[] {
  if (path === undefined) return [];
  const { hostIP, domain, ports, dataDir, bootstrap, network, settings } = spec;
  return [
    {
      source: path,
      place,
      hostIP,
      domain,
      ports: definedPorts(ports ?? {}),
      pushOpen: ports?.['registryPush'] === undefined ? undefined : true,
      dataDir,
      bootstrap,
      network,
      settings,
    },
  ];
}
