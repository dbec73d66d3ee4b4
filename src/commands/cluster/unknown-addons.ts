// Add-ons of a cluster.yaml that no release of the site has: told with their lines before anything is written.
import { fieldPath } from '../../config/read-yaml.ts';
import type { Path } from '../../config/yaml-source.ts';
import { findManifest } from '../../controllers/addons/manifests.ts';
import { BkeError } from '../../lib/errors.ts';
import { nearest } from '../../lib/suggest.ts';
import { listedShort, plural } from '../../lib/text.ts';
import type { Catalogue } from '../../release/catalogue.ts';
import type { LoadedHosts } from '../host/access.ts';

/** The same look-up as the controller's (controllers/addons). @throws BkeError BKE_ARTIFACT_MISSING */
export function refuseUnknownAddons(
  { config, placeOf }: Pick<LoadedHosts, 'config' | 'placeOf'>,
  catalogues: readonly Catalogue[],
): void {
  const details = config.addons.flatMap(({ name, version }, index) => {
    if (findManifest(catalogues, { name, version }) !== undefined) return [];
    const versions = versionsOf(catalogues, name);
    const field = version === undefined || versions.length === 0 ? 'name' : 'version';
    const path: Path = ['spec', 'addons', index, field];
    const why = field === 'name' ? nameWords(name, catalogues) : versionWords(`${name} ${version ?? ''}`, versions);
    return [`${placeOf(path)}: ${fieldPath(path)}: ${why}`];
  });
  if (details.length === 0) return;
  throw new BkeError(
    'BKE_ARTIFACT_MISSING',
    `no release of this site has ${plural(details.length, 'add-on')} of the file`,
    {
      details,
      hint: "Nothing was written. Correct them, or load a bundle of a whole release that has them as well ('bke init --bundle FILE'), and run the same command again.",
    },
  );
}

function manifestsOf(catalogues: readonly Catalogue[]): Catalogue['files'] {
  return catalogues.flatMap(({ files }) => files).filter(({ type }) => type === 'manifest');
}

function versionsOf(catalogues: readonly Catalogue[], addon: string): string[] {
  return [...new Set(manifestsOf(catalogues).flatMap(({ name, version }) => (name === addon ? [version] : [])))];
}

function nameWords(name: string, catalogues: readonly Catalogue[]): string {
  const meant = nearest(name, [...new Set(manifestsOf(catalogues).map((file) => file.name))]);
  return `there is no ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function versionWords(addon: string, versions: readonly string[]): string {
  return `there is no ${addon}, but ${listedShort(versions.toSorted(), 5)}`;
}
