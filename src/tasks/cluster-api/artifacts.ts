// What of a release the management needs: manifests and images, by the table of providers.
import { type Catalogue, findFile, findImages, tagOf } from '../../release/catalogue.ts';
import type { Platform } from '../../release/platforms.ts';
import { type Provider, providers } from './providers.ts';

/** File with the definition of clusterctl's inventory. */
export const inventoryFile = 'clusterctl-crd';

export interface ArtifactSource {
  readonly catalogue: Catalogue;
  readonly platform: Platform;
  /** Of this bke: its image is the provider. */
  readonly bkeVersion: string;
}

/** What of the catalogue is missing for it, a line each; empty where nothing is. */
export function missingForManagement(source: ArtifactSource): string[] {
  // The metadata is for clusterctl, which a move and an upgrade of the providers ask.
  const ofProviders = providers.flatMap(({ file }) => (file === undefined ? [] : [file, `${file}-metadata`]));
  const missing = [...ofProviders, inventoryFile].filter(
    (name) => findFile(source.catalogue, { name, platform: source.platform }) === undefined,
  );
  return [
    ...missing.map((name) => `the file ${name}`),
    ...providers.flatMap((provider) => missingImage(source, provider)),
  ];
}

/** Version of a provider's components, with a leading v; undefined where the release does not have them. */
export function providerVersion(source: ArtifactSource, { file }: Provider): string | undefined {
  if (file === undefined) return `v${source.bkeVersion}`;
  return findFile(source.catalogue, { name: file, platform: source.platform })?.version;
}

/** Its name with its digest: what a pod is told to run, so that a tag that was given to another image does not matter. */
export function pinnedImage({ catalogue, platform }: ArtifactSource, ref: string): string | undefined {
  const image = catalogue.images.find((one) => one.ref === ref && one.platforms[platform] !== undefined);
  return image === undefined ? undefined : `${image.ref}@${image.digest}`;
}

function missingImage(source: ArtifactSource, provider: Provider): string[] {
  const version = providerVersion(source, provider);
  if (version === undefined) return [];
  const found = findImages(source.catalogue, { repository: provider.image, platform: source.platform });
  return found.some(({ ref }) => tagOf(ref) === version) ? [] : [`the image ${provider.image}:${version}`];
}
