// Builds a bundle from a release manifest: resolve everything, refuse what is incomplete, then write one file.
import type { KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import type { Content } from '../../lib/digest.ts';
import { isErrno } from '../../lib/errno.ts';
import { BkeError } from '../../lib/errors.ts';
import { publicCertificates } from '../../lib/tls-trust.ts';
import { bkeVersion } from '../../lib/version.ts';
import type { Platform, ReleaseManifest, Source } from '../manifest.ts';
import { createAgent } from '../oci/http.ts';
import { parseReference } from '../oci/reference.ts';
import { createRegistryClient, type RegistryClient } from '../oci/registry-client.ts';
import { BlobCache, contentOf } from '../sources/blob-cache.ts';
import { type BlobOrigin, fileOrigin } from '../sources/blob-origin.ts';
import { layoutSource } from '../sources/layout.ts';
import { registrySource } from '../sources/registry.ts';
import { urlBlob } from '../sources/url.ts';
import { type BundleDescription, parseDescription } from './description.ts';
import { jsonBytes } from './members.ts';
import { type BuildInput, chooseOutput } from './output.ts';
import { type Progress, reporter } from './progress.ts';
import { resolveArtifacts } from './resolve.ts';
import type { Sources } from './wanted.ts';
import { blobList, writeBundle } from './write.ts';

export interface BuildOptions {
  readonly manifest: ReleaseManifest;
  /** Folder that relative paths in the manifest start from. */
  readonly folder: string;
  readonly output: string;
  /** Files beside the manifest's sources that the output must not be: the manifest itself, keys, certificates. */
  readonly inputs?: readonly BuildInput[];
  /** Fewer than the manifest's; without it all of them. */
  readonly platforms?: readonly Platform[];
  readonly signKey?: KeyObject;
  /** Where downloads are kept; used only for url and registry sources. */
  readonly cacheDir: string;
  /** PEM certificates for registries and urls beside the machine's own. */
  readonly ca?: readonly string[];
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BuildProgress) => void;
}

interface BuildProgress extends Progress {
  /** resolve counts artifacts, write bytes. */
  readonly phase: 'resolve' | 'write';
}

export interface BuiltBundle extends Content {
  readonly path: string;
  readonly description: BundleDescription;
}

/** The same manifest, sources, key and bke give the same bytes. @throws BkeError as resolveArtifacts and writeBundle. */
export async function buildBundle(options: BuildOptions): Promise<BuiltBundle> {
  const { manifest, signKey, signal } = options;
  const platforms = chosenPlatforms(manifest, options.platforms);
  const output = await chooseOutput({
    path: options.output,
    inputs: options.inputs ?? [],
    manifest,
    folder: options.folder,
  });
  await using sources = openSources(options);
  const report = reporter(options.onProgress);
  const total = manifest.spec.artifacts.length;
  const { entries, blobs } = await resolveArtifacts(manifest, { platforms, sources }, (item, done) => {
    signal?.throwIfAborted();
    report({ phase: 'resolve', done, total, item });
  });
  const description: BundleDescription = {
    format: 1,
    name: manifest.metadata.name,
    version: manifest.metadata.version,
    bke: await bkeVersion(),
    platforms: [...platforms],
    kubernetesVersions: manifest.spec.kubernetesVersions,
    entries: [...entries],
    blobs: blobList(blobs),
  };
  // What could not be opened again is not written.
  parseDescription(jsonBytes(description), options.output);
  const content = await writeBundle(
    output,
    { description, blobs, signKey },
    {
      signal,
      onBytes: (done, bytes, item) => report({ phase: 'write', done, total: bytes, item }),
    },
  );
  return { path: options.output, description, ...content };
}

function chosenPlatforms({ spec }: ReleaseManifest, wanted: readonly Platform[] | undefined): readonly Platform[] {
  if (wanted === undefined || wanted.length === 0) return spec.platforms;
  const foreign = wanted.find((platform) => !spec.platforms.includes(platform));
  if (foreign === undefined) return spec.platforms.filter((platform) => wanted.includes(platform));
  throw new BkeError('BKE_USAGE', `the release is not made for ${foreign}, only for ${spec.platforms.join(', ')}`);
}

/** Registries are opened when the first image asks for them, and closed at the end. */
function openSources(options: BuildOptions): Sources & AsyncDisposable {
  const cache = new BlobCache(options.cacheDir);
  const agent = createAgent({ ca: trustedBy(options), proxyEnv: options.proxyEnv });
  const clients = new Map<string, RegistryClient>();
  return {
    file: (source) =>
      source.url === undefined ? localFile(source, options.folder) : cache.ensure(urlOf(source, agent, options)),
    image: (source, ref) => {
      if (source.layout !== undefined) return layoutSource(resolve(options.folder, source.layout), ref);
      const reference = source.registry ?? ref;
      return registrySource(reference, {
        client: clientFor(reference, clients, options),
        cache,
        signal: options.signal,
      });
    },
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      for (const client of clients.values()) client.close();
    },
  };
}

/** A release may come from a private registry and from public ones at once. */
function trustedBy({ ca }: BuildOptions): readonly string[] | undefined {
  return ca === undefined ? undefined : [...publicCertificates(), ...ca];
}

function urlOf({ url = '', digest }: Source, agent: ReturnType<typeof createAgent>, { signal }: BuildOptions) {
  if (digest === undefined) throw new Error(`${url} has no digest`);
  return urlBlob({ url, digest, agent, signal });
}

function clientFor(reference: string, clients: Map<string, RegistryClient>, options: BuildOptions): RegistryClient {
  const { registry } = parseReference(reference);
  const known = clients.get(registry);
  if (known !== undefined) return known;
  // Docker Hub answers under another name than the one in image names.
  const host = registry === 'docker.io' ? 'registry-1.docker.io' : registry;
  const ca = trustedBy(options);
  const client = createRegistryClient({
    url: `https://${host}`,
    ...(ca === undefined ? {} : { ca }),
    ...(options.proxyEnv === undefined ? {} : { proxyEnv: options.proxyEnv }),
  });
  clients.set(registry, client);
  return client;
}

async function localFile({ file = '', digest }: Source, folder: string): Promise<BlobOrigin> {
  const path = resolve(folder, file);
  const content = await contentOf(path).catch((cause: unknown) => {
    if (cause instanceof BkeError) throw cause;
    const why = isErrno(cause, 'EACCES') ? 'you may not read it' : String(cause);
    throw new BkeError('BKE_ARTIFACT_UNUSABLE', `cannot read ${path}: ${why}`, { cause });
  });
  if (content === undefined) throw new BkeError('BKE_ARTIFACT_UNUSABLE', `there is no file ${path}`);
  if (digest !== undefined && digest !== content.digest) {
    throw new BkeError('BKE_DIGEST_MISMATCH', `${path} should be ${digest} but is ${content.digest}`);
  }
  return fileOrigin(path, content);
}
