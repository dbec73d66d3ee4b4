// Gathers the settings of `bke init` from everywhere they may come from.
import { dirname, isAbsolute, resolve } from 'node:path';
import { type EffectiveSettings, effectiveSettings, type SettingsLayer } from '../../config/bootstrap.ts';
import { refuseProblems } from '../../config/problem.ts';
import { gatherFacts } from '../../host/facts/gather.ts';
import type { HostFacts } from '../../host/facts/schema.ts';
import type { Host } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';
import type { InputReader } from '../../lib/input.ts';
import { containerdPaths } from '../../tasks/node/containerd-config.ts';
import { programsDir } from '../../tasks/node/programs.ts';
import { addressesOf, chooseHostAddress } from '../../tasks/preflight/host-address.ts';
import { neededTools } from '../../tasks/preflight/needed-tools.ts';
import { readSettings } from '../../tasks/services/records.ts';
import type { CommandContext } from '../context.ts';
import { type ConfigFile, fileLayers, readConfigFile } from './config-file.ts';
import { optionLayer } from './options.ts';
import { settingProblems } from './setting-problems.ts';
import { refuseOtherCluster } from './unchangeable.ts';

/** Where the runtime and the cluster put much. */
const runtimePaths = [programsDir, containerdPaths.root, '/var/lib/etcd', '/var/lib/rancher'];

export interface InitSettings extends EffectiveSettings {
  /** What this host is, with the free space where things will be put. */
  readonly facts: HostFacts;
  /** Absolute path; undefined where none was named. */
  readonly bundle: string | undefined;
  /** The settings file, for hints: as it was named. */
  readonly file: string;
  /** init ran here before. */
  readonly repeated: boolean;
}

/** @throws BkeError BKE_CONFIG_INVALID with every problem of every source; BKE_DATA_DIR_CHANGED; BKE_HOST_ADDRESS_UNKNOWN. */
export async function gatherSettings(context: CommandContext, input: InputReader, host: Host): Promise<InitSettings> {
  const file = await readConfigFile(context, input.text('config'));
  if (file.spec.ui === true)
    context.note(`note: ${input.text('config') ?? ''}: spec.ui: this bke has no web UI yet; its port is kept free.`);
  const last = await readSettings(host);
  const given = [
    optionLayer(input, context.argv),
    ...fileLayers(file),
    ...environmentLayers(context),
    ...lastLayers(last),
  ];
  const { dataDir } = effectiveSettings(given, []).settings;
  const paths = [...(isAbsolute(dataDir) ? [dataDir] : []), ...runtimePaths];
  const facts = await gatherFacts(host, { paths, tools: neededTools(true), signal: context.signal });
  const addresses = addressesOf(facts);
  const named = given.find((layer) => layer.hostIP !== undefined);
  const layers =
    named === undefined ? [...given, { source: 'found on this host', hostIP: chooseHostAddress(addresses) }] : given;
  const effective = effectiveSettings(layers, addresses.global);
  const problems = [...file.problems, ...effective.problems, ...settingProblems(given, effective)];
  refuseProblems(problems, 'the settings of init');
  if (last !== undefined && last.dataDir !== effective.settings.dataDir) {
    throw new BkeError(
      'BKE_DATA_DIR_CHANGED',
      `the services' data is in ${last.dataDir}, not in ${effective.settings.dataDir}`,
      {
        host: host.name,
        hint: `Use --data-dir ${last.dataDir}, or begin anew with bke reset --all --mount.`,
      },
    );
  }
  if (last !== undefined) await refuseOtherCluster(host, last, effective.settings);
  return {
    ...effective,
    facts,
    bundle: bundlePath(context, input, file),
    file: input.text('config') ?? 'bootstrap.yaml (--config)',
    repeated: last !== undefined,
  };
}

/** openFuyao's name for where everything is put. */
function environmentLayers({ env }: CommandContext): SettingsLayer[] {
  const workspace = env['BKE_WORKSPACE'];
  return workspace === undefined || workspace === '' ? [] : [{ source: 'BKE_WORKSPACE', dataDir: workspace }];
}

function lastLayers(last: Awaited<ReturnType<typeof readSettings>>): SettingsLayer[] {
  return last === undefined ? [] : [{ source: 'the last init', ...last }];
}

/** The option is relative to where the user is, the file's field to the file. */
function bundlePath({ cwd }: CommandContext, input: InputReader, file: ConfigFile): string | undefined {
  const option = input.text('bundle');
  if (option !== undefined) return resolve(cwd, option);
  const field = file.spec.bundle;
  return field === undefined || file.path === undefined ? undefined : resolve(dirname(file.path), field);
}
