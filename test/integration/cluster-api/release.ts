// The part of a release that the management is made of, as `bke init` finds it: manifests of the test bed's builds, images by name only.
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { digestOf } from '../../../src/lib/digest.ts';
import { bkeVersion } from '../../../src/lib/version.ts';
import { type Catalogue, catalogueSchema } from '../../../src/release/catalogue.ts';
import { buildComponent } from '../../testbed/builds/build.ts';
import { defaultVersions } from '../../testbed/builds/component.ts';
import { clusterApiNames } from '../../testbed/images/table.ts';
import { clusterApiComponents } from '../../testbed/release/files.ts';

export interface TestRelease {
  readonly catalogue: Catalogue;
  readonly filesDir: string;
  readonly bkeVersion: string;
  remove(): Promise<void>;
}

export async function testRelease(): Promise<TestRelease> {
  const filesDir = await mkdtemp(path.join(tmpdir(), 'bke-files-'));
  const version = defaultVersions.clusterApi;
  const clusterctl = await buildComponent('clusterctl');
  const sources = [
    { name: 'clusterctl-crd', type: 'manifest', file: path.join(clusterctl.dir, 'clusterctl-api.yaml') },
  ];
  for (const name of Object.keys(clusterApiNames)) {
    const { dir } = await buildComponent(name);
    sources.push({ name, type: 'manifest', file: await clusterApiComponents(name, {}) });
    sources.push({ name: `${name}-metadata`, type: 'other', file: path.join(dir, 'metadata.yaml') });
  }
  const bke = await bkeVersion();
  const refs = Object.values(clusterApiNames).map((name) => `registry.k8s.io/cluster-api/${name}:${version}`);
  const catalogue = catalogueSchema.parse({
    name: 'testbed-full',
    version: '0.1.0',
    kubernetesVersions: [defaultVersions.kubernetes],
    files: await Promise.all(sources.map((source) => fileEntry(filesDir, { ...source, version }))),
    images: [...refs, `bke.io/bke:v${bke}`].map(imageEntry),
    charts: [],
  });
  return {
    catalogue,
    filesDir,
    bkeVersion: bke,
    remove: () => rm(filesDir, { recursive: true, force: true }),
  };
}

interface SourceFile {
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly file: string;
}

async function fileEntry(filesDir: string, { name, version, type, file }: SourceFile): Promise<object> {
  const place = `${name}/${version}/${path.basename(file)}`;
  await mkdir(path.dirname(path.join(filesDir, place)), { recursive: true });
  await copyFile(file, path.join(filesDir, place));
  const bytes = await readFile(file);
  const variant = { path: place, digest: digestOf(bytes), size: bytes.length };
  return { name, version, type, variants: { 'linux/amd64': variant } };
}

function imageEntry(ref: string): object {
  const digest = digestOf(ref);
  return { name: path.basename(ref).replace(/:.*/, ''), ref, digest, platforms: { 'linux/amd64': digest } };
}
