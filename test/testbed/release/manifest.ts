// Writes a release manifest whose sources are the built files and images of this machine.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { type BuildOptions, buildComponent } from '../builds/build.ts';
import { defaultVersions } from '../builds/component.ts';
import { cached } from '../cache.ts';
import { ownBinary } from '../images/bke.ts';
import { allImages, clusterApiNames, type Image, pauseImage, probeImage } from '../images/table.ts';
import { type Chart, cniPluginsArchive, clusterApiComponents, containerdArchive, sampleChart } from './files.ts';

/** `small`: what the local services and containerd need. `full`: also clusters with their management. */
export type ReleaseSize = 'small' | 'full';

const releaseVersion = '0.1.0';

export interface ReleaseOptions extends BuildOptions {
  /** A K3s program of this machine: it can't be built here. */
  k3s?: { file: string; version: string };
}

type Artifact = Record<string, unknown>;

/** Path of the manifest. */
export async function releaseManifest(size: ReleaseSize, options: ReleaseOptions = {}): Promise<string> {
  const name = options.k3s === undefined ? size : `${size}-k3s`;
  const { kubernetes } = options.versions ?? defaultVersions;
  const images = size === 'full' ? await allImages(options) : [await pauseImage(options), await probeImage(options)];
  const text = stringify({
    apiVersion: 'bke.io/v1alpha1',
    kind: 'Release',
    metadata: { name: `testbed-${name}`, version: releaseVersion },
    spec: {
      platforms: [platformOf(options)],
      kubernetesVersions: size === 'full' ? [kubernetes] : [],
      artifacts: [
        ...(await serviceFiles(options)),
        ...(size === 'full' ? await clusterFiles(options) : []),
        ...(await k3sFiles(options)),
        ...images.map((image) => imageArtifact(image, options)),
        chartArtifact(await sampleChart(options)),
      ],
    },
  });
  const entry = { kind: 'releases', name, recipe: { text } };
  const dir = await cached(entry, (draft) => writeFile(path.join(draft, 'release.yaml'), text, { mode: 0o644 }));
  return path.join(dir, 'release.yaml');
}

async function serviceFiles(options: BuildOptions): Promise<Artifact[]> {
  const { containerd, cniPlugins } = options.versions ?? defaultVersions;
  const archives = [
    { name: 'containerd', version: containerd, file: await containerdArchive(options) },
    { name: 'cni-plugins', version: cniPlugins, file: await cniPluginsArchive(options) },
  ];
  return [
    await program('registry', 'registry', options),
    await program('runc', 'runc', options),
    await program('crictl', 'crictl', options),
    ...archives.map(({ name, version, file }) =>
      fileArtifact({ name, version, file, type: 'archive', fileName: `${name}.tar.gz` }, options),
    ),
  ];
}

async function clusterFiles(options: BuildOptions): Promise<Artifact[]> {
  const versions = options.versions ?? defaultVersions;
  const flannel = await buildComponent('flannel', options);
  const manifest = { file: path.join(flannel.dir, 'kube-flannel.yml'), fileName: 'kube-flannel.yml' };
  const clusterctl = await buildComponent('clusterctl', options);
  const inventory = { file: path.join(clusterctl.dir, 'clusterctl-api.yaml'), fileName: 'clusterctl-api.yaml' };
  const artifacts = [
    await program('kubernetes', 'kubeadm', options),
    await program('kubernetes', 'kubelet', options),
    await program('kubernetes', 'kubectl', options),
    await program('etcd', 'etcdctl', options),
    await program('helm', 'helm', options),
    await program('clusterctl', 'clusterctl', options),
    await ownProgram(options),
    fileArtifact({ name: 'flannel', version: versions.flannel, type: 'manifest', ...manifest }, options),
    fileArtifact({ name: 'clusterctl-crd', version: versions.clusterApi, type: 'manifest', ...inventory }, options),
  ];
  for (const name of Object.keys(clusterApiNames)) {
    const file = await clusterApiComponents(name, options);
    const shared = { name, version: versions.clusterApi, type: 'manifest' as const };
    artifacts.push(fileArtifact({ ...shared, file, fileName: 'components.yaml' }, options));
    const metadata = path.join((await buildComponent(name, options)).dir, 'metadata.yaml');
    const named = { ...shared, name: `${name}-metadata`, file: metadata, fileName: 'metadata.yaml' };
    artifacts.push(fileArtifact({ ...named, type: 'other' }, options));
  }
  return artifacts;
}

/** What agents are installed from. With its digest, so that another build makes another bundle. */
async function ownProgram(options: BuildOptions): Promise<Artifact> {
  const { file, version } = await ownBinary(options);
  const about = fileArtifact({ name: 'bke', version, type: 'binary', file, fileName: 'bke' }, options);
  return withDigest(about, file, options);
}

/** With its digest, so that another program at the same place makes another bundle. */
async function k3sFiles({ k3s, ...options }: ReleaseOptions): Promise<Artifact[]> {
  if (k3s === undefined) return [];
  const { file, version } = k3s;
  const about = fileArtifact({ name: 'k3s', version, type: 'binary', file, fileName: 'k3s' }, options);
  return [await withDigest(about, file, options)];
}

async function withDigest(about: Artifact, file: string, options: BuildOptions): Promise<Artifact> {
  const digest = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  return { ...about, sources: { [platformOf(options)]: { file, digest: `sha256:${digest}` } } };
}

async function program(component: string, name: string, options: BuildOptions): Promise<Artifact> {
  const build = await buildComponent(component, options);
  const { version } = build.component;
  return fileArtifact({ name, version, type: 'binary', file: build.program(name), fileName: name }, options);
}

interface ReleaseFile {
  name: string;
  version: string;
  type: 'binary' | 'archive' | 'manifest' | 'other';
  /** Where it is here. */
  file: string;
  /** What it is called in the file repository. */
  fileName: string;
}

/** Programs differ by platform, manifests don't. */
function fileArtifact({ file, fileName, ...about }: ReleaseFile, options: BuildOptions): Artifact {
  const platform = about.type === 'binary' || about.type === 'archive' ? '{platform}/' : '';
  return {
    kind: 'file',
    ...about,
    path: `${about.name}/${about.version}/${platform}${fileName}`,
    sources: { [platformOf(options)]: { file } },
  };
}

function imageArtifact({ ref, layout }: Image, options: BuildOptions): Artifact {
  const name = ref.replace(/^.*\//, '').replace(/:[^:]*$/, '');
  return { kind: 'image', name, ref, sources: { [platformOf(options)]: { layout } } };
}

function chartArtifact({ name, version, file }: Chart): Artifact {
  return { kind: 'chart', name, version, source: { file } };
}

function platformOf(options: BuildOptions): string {
  return `linux/${options.arch ?? 'amd64'}`;
}
