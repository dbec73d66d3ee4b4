// The table of images: what Kubernetes, flannel and Cluster API ask for by name, made of the built programs.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ArchiveEntry } from '../../../scripts/image/archive.ts';
import { type ImageContent, writeLayout } from '../../../scripts/image/layout.ts';
import { type Build, type BuildOptions, buildComponent, buildOwn } from '../builds/build.ts';
import { type Arch, defaultVersions } from '../builds/component.ts';
import { cacheRoot, cached } from '../cache.ts';
import { debianRoot } from '../hosts/base.ts';
import { run, TestbedError } from '../run.ts';
import { ownImage } from './bke.ts';
import { toolEntries } from './tools.ts';

/** A finished image. */
export interface Image {
  /** Full public name with tag. */
  ref: string;
  /** Folder of its OCI layout. */
  layout: string;
}

/** What an image is called and made of. */
interface NamedImage extends ImageContent {
  /** Full public name with tag. */
  ref: string;
}

/** The image of service tests: `probe serve`, `probe get URL`. */
const probeRef = 'docker.io/library/bke-probe:v1';

const nonRoot = '65532:65532';

/** The pause image that this Kubernetes version's kubeadm names. */
export async function pauseImage(options: BuildOptions = {}): Promise<Image> {
  const refs = await kubeadmRefs(options);
  const pause = await buildOwn('pause', options.arch);
  const ref = refs.find((name) => name.includes('/pause:'));
  if (ref === undefined) throw new TestbedError(`kubeadm names no pause image: ${refs.join(' ')}`);
  const layers = [[file('/pause', pause)]];
  return makeImage({ ref, layers, entrypoint: ['/pause'], user: '65535:65535' }, options.arch);
}

/** The image of service tests. */
export async function probeImage(options: BuildOptions = {}): Promise<Image> {
  const probe = await buildOwn('probe', options.arch);
  return makeImage({ ref: probeRef, layers: [[file('/probe', probe)]], entrypoint: ['/probe'] }, options.arch);
}

/** All images of a cluster with its management. */
export async function allImages(options: BuildOptions = {}): Promise<Image[]> {
  const images = [await pauseImage(options), await probeImage(options), await ownImage(options)];
  const contents = [
    ...(await kubernetesImages(options)),
    ...(await flannelImages(options)),
    ...(await clusterApiImages(options)),
  ];
  for (const content of contents) images.push(await makeImage(content, options.arch));
  return images;
}

async function kubernetesImages(options: BuildOptions): Promise<NamedImage[]> {
  const kubernetes = await buildComponent('kubernetes', options);
  const etcd = await buildComponent('etcd', options);
  const coredns = await buildComponent('coredns', options);
  const tools = await toolEntries(await debianRoot());
  const contents: NamedImage[] = [];
  for (const ref of await kubeadmRefs(options)) {
    const name = path.basename(ref).replace(/:.*/, '');
    if (name === 'pause') continue;
    if (name === 'coredns') {
      contents.push({ ref, layers: [[file('/coredns', coredns.program('coredns'))]], entrypoint: ['/coredns'] });
    } else if (name === 'etcd') {
      const layer = ['etcd', 'etcdctl'].map((program) => file(`/usr/local/bin/${program}`, etcd.program(program)));
      contents.push({ ref, layers: [layer], entrypoint: ['etcd'] });
    } else {
      const layer = [file(`/usr/local/bin/${name}`, kubernetes.program(name))];
      contents.push({ ref, layers: name === 'kube-proxy' ? [tools, layer] : [layer], entrypoint: [name] });
    }
  }
  return contents;
}

async function flannelImages(options: BuildOptions): Promise<NamedImage[]> {
  const flannel = await buildComponent('flannel', options);
  const plugin = await buildComponent('flannel-cni-plugin', options);
  const tools = await toolEntries(await debianRoot());
  const contents = {
    'flannel-cni-plugin': [file('/flannel', plugin.program('flannel'))],
    flannel: [file('/opt/bin/flanneld', flannel.program('flanneld'))],
  };
  const manifest = await readFile(path.join(flannel.dir, 'kube-flannel.yml'), 'utf8');
  return Object.entries(contents).map(([name, layer]) => {
    const ref = new RegExp(`image: (\\S+/${name}:\\S+)`).exec(manifest)?.[1];
    if (ref === undefined) throw new TestbedError(`flannel's manifest names no image ${name}`);
    return { ref, layers: [tools, layer], entrypoint: layer.map((entry) => entry.path) };
  });
}

/** Component -> name of the image that Cluster API publishes for it. */
export const clusterApiNames: Record<string, string> = {
  'cluster-api-core': 'cluster-api-controller',
  'cluster-api-bootstrap-kubeadm': 'kubeadm-bootstrap-controller',
  'cluster-api-control-plane-kubeadm': 'kubeadm-control-plane-controller',
};

async function clusterApiImages(options: BuildOptions): Promise<NamedImage[]> {
  const contents: NamedImage[] = [];
  for (const [component, image] of Object.entries(clusterApiNames)) {
    const build: Build = await buildComponent(component, options);
    contents.push({
      ref: `registry.k8s.io/cluster-api/${image}:${build.component.version}`,
      layers: [[file('/manager', build.program(`${component}-manager`))]],
      entrypoint: ['/manager'],
      user: nonRoot,
    });
  }
  return contents;
}

/** Names and tags that kubeadm of this version asks for. */
async function kubeadmRefs(options: BuildOptions): Promise<string[]> {
  const kubernetes = await buildComponent('kubernetes', options);
  const version = (options.versions ?? defaultVersions).kubernetes;
  const { stdout } = await run([
    kubernetes.program('kubeadm'),
    'config',
    'images',
    'list',
    `--kubernetes-version=${version}`,
  ]);
  return stdout.trim().split('\n');
}

function file(target: string, source: string): ArchiveEntry {
  return { path: target, type: 'file', source };
}

/** The image out of the cache; sources lie in cache folders named by content, so their paths tell what is in them. */
async function makeImage(content: NamedImage, arch: Arch = 'amd64'): Promise<Image> {
  const recipe = JSON.stringify(content).replaceAll(cacheRoot(), '');
  const name = `${content.ref.replaceAll(/[/:]/g, '+')}-${arch}`;
  const entry = { kind: 'images', name, recipe: { content: recipe, arch, recipeVersion: 1 } };
  return { ref: content.ref, layout: await cached(entry, (dir) => writeLayout(content.ref, { [arch]: content }, dir)) };
}
