// Small releases made of real parts: image layouts, charts, keys and bundles, as tests of the release folder need them.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { type Content, digestOf, hexOf } from '../../src/lib/digest.ts';
import { type BuildOptions, type BuiltBundle, buildBundle } from '../../src/release/bundle/build.ts';
import type { BundleDescription, BundleEntry } from '../../src/release/bundle/description.ts';
import { parseManifest } from '../../src/release/load-manifest.ts';
import { mediaType } from '../../src/release/oci/types.ts';

export async function temporaryFolder(name = 'bke-test-'): Promise<string> {
  return mkdtemp(join(tmpdir(), name));
}

export async function putBlob(layout: string, bytes: Buffer): Promise<Content> {
  const content = { digest: digestOf(bytes), size: bytes.length };
  const folder = join(layout, 'blobs', 'sha256');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, hexOf(content.digest)), bytes);
  return content;
}

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export interface FakeImage {
  readonly os?: string;
  readonly architecture: string;
  readonly layers: readonly Buffer[];
  /** The config as it is; default one that says os and architecture. */
  readonly config?: object;
  readonly docker?: boolean;
}

export interface PlacedManifest extends Content {
  readonly mediaType: string;
  readonly platform: { readonly os: string; readonly architecture: string };
}

export async function putImage(layout: string, image: FakeImage): Promise<PlacedManifest> {
  const os = image.os ?? 'linux';
  const type = image.docker === true ? mediaType.dockerManifest : mediaType.ociManifest;
  const config = await putBlob(layout, json(image.config ?? { os, architecture: image.architecture, rootfs: {} }));
  const layers: Content[] = [];
  for (const layer of image.layers) layers.push(await putBlob(layout, layer));
  const configType =
    image.docker === true
      ? 'application/vnd.docker.container.image.v1+json'
      : 'application/vnd.oci.image.config.v1+json';
  const layerType =
    image.docker === true
      ? 'application/vnd.docker.image.rootfs.diff.tar.gzip'
      : 'application/vnd.oci.image.layer.v1.tar';
  const manifest = await putBlob(
    layout,
    json({
      schemaVersion: 2,
      mediaType: type,
      config: { mediaType: configType, ...config },
      layers: layers.map((layer) => ({ mediaType: layerType, ...layer })),
    }),
  );
  return { mediaType: type, ...manifest, platform: { os, architecture: image.architecture } };
}

/** Writes oci-layout and index.json; several manifests go into an index of their own. */
export async function finishLayout(layout: string, manifests: readonly object[]): Promise<void> {
  const [only] = manifests;
  const root =
    manifests.length === 1
      ? only
      : {
          mediaType: mediaType.ociIndex,
          ...(await putBlob(layout, json({ schemaVersion: 2, mediaType: mediaType.ociIndex, manifests }))),
        };
  await writeFile(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  await writeFile(join(layout, 'index.json'), json({ schemaVersion: 2, manifests: [root] }));
}

/** An image for both platforms, or those named. */
export async function makeLayout(
  layout: string,
  layers: readonly Buffer[],
  architectures = ['amd64', 'arm64'],
): Promise<void> {
  const manifests: PlacedManifest[] = [];
  for (const architecture of architectures) manifests.push(await putImage(layout, { architecture, layers }));
  await finishLayout(layout, manifests);
}

/** A chart archive as `helm package` makes one. */
export async function makeChart(chartYaml: string, folder = 'chart'): Promise<Buffer> {
  const archive = pack();
  const when = new Date('2026-03-01T12:00:00Z');
  archive.entry({ name: `${folder}/Chart.yaml`, mtime: when }, chartYaml);
  archive.entry({ name: `${folder}/templates/config.yaml`, mtime: when }, 'kind: ConfigMap\n');
  archive.finalize();
  return gzipSync(await buffer(archive));
}

export interface SigningKeys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export function signingKeys(): SigningKeys {
  return generateKeyPairSync('ed25519');
}

/** `artifacts` is the YAML of the list, each line indented as at the top of a file. */
export function releaseYaml(artifacts: string, platforms = 'linux/amd64, linux/arm64'): string {
  return [
    'apiVersion: bke.io/v1alpha1',
    'kind: Release',
    'metadata: {name: test, version: 1.0.0}',
    'spec:',
    `  platforms: [${platforms}]`,
    '  kubernetesVersions: [v1.36.3]',
    '  artifacts:',
    ...artifacts
      .trim()
      .split('\n')
      .map((line) => `  ${line}`),
    '',
  ].join('\n');
}

/** Builds in `folder`, where also the sources of the artifacts are. */
export async function buildIn(
  folder: string,
  artifacts: string,
  options: Partial<BuildOptions> = {},
): Promise<BuiltBundle> {
  return buildBundle({
    manifest: parseManifest(releaseYaml(artifacts), 'release.yaml'),
    folder,
    output: join(folder, 'bundle.tar'),
    cacheDir: join(folder, 'cache'),
    ...options,
  });
}

/** One of each kind: the folder's `tool-amd64`, `tool-arm64`, `addon.yaml`, `image/` and `app.tgz`. */
export async function makeSources(folder: string): Promise<string> {
  await writeFile(join(folder, 'tool-amd64'), '#!/bin/sh\necho amd64\n');
  await writeFile(join(folder, 'tool-arm64'), '#!/bin/sh\necho arm64\n');
  await writeFile(join(folder, 'addon.yaml'), 'kind: DaemonSet\n');
  await makeLayout(join(folder, 'image'), [Buffer.from('layer one'), Buffer.alloc(100_000, 'x')]);
  await writeFile(join(folder, 'app.tgz'), await makeChart('apiVersion: v2\nname: app\nversion: 1.2.3\n'));
  return [
    '- {kind: file, name: tool, version: 1.0.0, type: binary, path: "tools/{platform}/tool", sources: {linux/amd64: {file: tool-amd64}, linux/arm64: {file: tool-arm64}}}',
    '- {kind: file, name: addon, version: 1.0.0, type: manifest, path: addons/addon.yaml, sources: {linux/amd64: {file: addon.yaml}}}',
    '- {kind: image, name: image, ref: "docker.io/library/image:1.0", sources: {all: {layout: image}}}',
    '- {kind: chart, name: app, version: 1.2.3, source: {file: app.tgz}}',
  ].join('\n');
}

/** Sources in a folder of their own, and `good.tar` beside them: built from all of them, signed with these keys. */
export async function makeGoodBundle(
  keys: SigningKeys,
): Promise<{ readonly folder: string; readonly artifacts: string }> {
  const folder = await temporaryFolder();
  const artifacts = await makeSources(folder);
  await buildIn(folder, artifacts, { output: join(folder, 'good.tar'), signKey: keys.privateKey });
  return { folder, artifacts };
}

/** The first entry of a kind. */
export function entryOf<Kind extends BundleEntry['kind']>(
  { entries }: BundleDescription,
  kind: Kind,
): Extract<BundleEntry, { kind: Kind }> {
  const entry = entries.find((each): each is Extract<BundleEntry, { kind: Kind }> => each.kind === kind);
  if (entry === undefined) throw new Error(`there is no ${kind}`);
  return entry;
}
