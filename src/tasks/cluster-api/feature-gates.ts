// Feature gates of Cluster API managers: read from their manifests and merged into `--feature-gates`.
import { BkeError } from '../../lib/errors.ts';

/** Gate -> whether it is on. */
export type FeatureGates = Readonly<Record<string, boolean>>;

const flag = '--feature-gates=';

/** @throws BkeError BKE_COMPONENTS_INVALID where the flag is no list of NAME=true|false. */
export function parseFeatureGates(args: readonly string[]): FeatureGates {
  const pairs = args
    .filter((arg) => arg.startsWith(flag))
    .flatMap((arg) => arg.slice(flag.length).split(','))
    .filter((pair) => pair.trim() !== '')
    .map((pair): [string, boolean] => {
      const [, name, value] = /^\s*([A-Za-z0-9]+)=(true|false)\s*$/.exec(pair) ?? [];
      if (name === undefined) throw new BkeError('BKE_COMPONENTS_INVALID', `${pair} is no feature gate of a manager`);
      return [name, value === 'true'];
    });
  return Object.fromEntries(pairs);
}

/**
 * The arguments with `wanted` merged into their feature gates.
 * @param known names that the manager knows: it does not start with any other, so only these are added.
 */
export function withFeatureGates(
  args: readonly string[],
  wanted: FeatureGates,
  known: ReadonlySet<string>,
): readonly string[] {
  const added = Object.entries(wanted).filter(([name]) => known.has(name));
  const gates = { ...parseFeatureGates(args), ...Object.fromEntries(added) };
  const list = Object.entries(gates).map(([name, on]) => `${name}=${on}`);
  const others = args.filter((arg) => !arg.startsWith(flag));
  return list.length === 0 ? others : [...others, `${flag}${list.join(',')}`];
}
