// The objects of all providers, out of the release's manifests and bke's own, as they are applied.
import type { KubeObject } from '../../kube/client.ts';
import { parseManifests } from '../../kube/manifests.ts';
import type { Host } from '../../host/host.ts';
import { readAsset } from '../../lib/assets.ts';
import { digestOf } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import { findFile } from '../../release/catalogue.ts';
import { type ArtifactSource, inventoryFile, pinnedImage, providerVersion } from './artifacts.ts';
import { parseFeatureGates } from './feature-gates.ts';
import { inventoryDefinition } from './inventory.ts';
import { type Provider, providers } from './providers.ts';
import { argumentsOf, renderProvider } from './render.ts';
import { substituteVariables } from './variables.ts';

export interface ComponentSource extends ArtifactSource {
  /** Folder of the file repository on this host. */
  readonly filesDir: string;
}

export interface ProviderComponents {
  readonly provider: Provider;
  /** With a leading v. */
  readonly version: string;
  /** As its manifest has them. */
  readonly objects: readonly KubeObject[];
}

export interface Components {
  readonly providers: readonly ProviderComponents[];
  /** Definition of clusterctl's inventory. */
  readonly inventory: readonly KubeObject[];
}

/** Files of assets/crds. */
export const ownDefinitions = [
  'bkeclusters.infrastructure.cluster.x-k8s.io',
  'bkeclustertemplates.infrastructure.cluster.x-k8s.io',
  'bkehosts.bke.io',
  'bkemachines.infrastructure.cluster.x-k8s.io',
  'bkemachinetemplates.infrastructure.cluster.x-k8s.io',
  'bkeoperations.bke.io',
  'hostcommands.bke.io',
] as const;

const mostBytes = 16 * 1024 * 1024;

/**
 * Reads and parses the manifests of a release.
 * @throws BkeError BKE_DIGEST_MISMATCH, BKE_ARTIFACT_MISSING, BKE_COMPONENTS_INVALID
 */
export async function loadComponents(host: Pick<Host, 'files'>, source: ComponentSource): Promise<Components> {
  const loaded: ProviderComponents[] = [];
  for (const provider of providers) loaded.push(await loadProvider(host, source, provider));
  const definition = await readArtifact(host, source, inventoryFile);
  return { providers: loaded, inventory: inventoryDefinition(parseManifests(definition, inventoryFile)) };
}

/** Whether the files are on this host: before the first load of a bundle a dry run has nothing to look into. */
export async function hasComponents(host: Pick<Host, 'files'>, source: ComponentSource): Promise<boolean> {
  const names = [inventoryFile, ...providers.flatMap(({ file }) => file ?? [])];
  for (const name of names) {
    const artifact = findFile(source.catalogue, { name, platform: source.platform });
    if (artifact === undefined) continue;
    if ((await host.files.stat(`${source.filesDir}/${artifact.path}`)) === undefined) return false;
  }
  return true;
}

/** @param caBundle base64 of the PEM of the management CA */
export function renderComponents(
  { providers: all }: Pick<Components, 'providers'>,
  source: ArtifactSource,
  caBundle: string,
): readonly ProviderComponents[] {
  // The managers of one release are built with one list of gates; each manifest names those its own manager has a use for.
  const knownGates = new Set(all.flatMap(({ objects }) => objects.flatMap((object) => gatesOf(object))));
  const image = (ref: string): string | undefined => pinnedImage(source, ref);
  return all.map(({ provider, version, objects }) => ({
    provider,
    version,
    objects: renderProvider(provider, objects, { knownGates, caBundle, image }),
  }));
}

function gatesOf(object: KubeObject): string[] {
  return Object.keys(parseFeatureGates(argumentsOf(object)));
}

async function loadProvider(
  host: Pick<Host, 'files'>,
  source: ComponentSource,
  provider: Provider,
): Promise<ProviderComponents> {
  const version = providerVersion(source, provider);
  if (version === undefined) throw missing(provider.file ?? provider.name);
  const text = provider.file === undefined ? await ownManifest() : await readArtifact(host, source, provider.file);
  const values = provider.file === undefined ? { BKE_IMAGE: `${provider.image}:${version}` } : {};
  return {
    provider,
    version,
    objects: parseManifests(substituteVariables(provider.name, text, values), provider.name),
  };
}

/** bke's own definitions are made of its schemas, so that they are no part of the components' file. */
async function ownManifest(): Promise<string> {
  const names = ['provider/components', ...ownDefinitions.map((name) => `crds/${name}`)];
  const texts = await Promise.all(names.map((name) => readAsset(`assets/${name}.yaml`)));
  return texts.join('\n---\n');
}

async function readArtifact(host: Pick<Host, 'files'>, source: ComponentSource, name: string): Promise<string> {
  const { catalogue, platform, filesDir } = source;
  const artifact = findFile(catalogue, { name, platform });
  if (artifact === undefined) throw missing(name);
  const path = `${filesDir}/${artifact.path}`;
  const bytes = await host.files.read(path, { maxBytes: mostBytes });
  if (bytes === undefined) throw missing(name);
  const digest = digestOf(bytes);
  if (digest === artifact.digest) return bytes.toString();
  throw new BkeError('BKE_DIGEST_MISMATCH', `${path} should have ${artifact.digest} and has ${digest}`, {
    hint: 'Run `bke init` again with the bundle: it puts the file back.',
  });
}

function missing(name: string): BkeError {
  return new BkeError('BKE_ARTIFACT_MISSING', `the loaded release lacks ${name}`);
}
