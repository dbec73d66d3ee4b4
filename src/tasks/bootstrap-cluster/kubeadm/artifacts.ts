// What of a release a cluster by kubeadm is made of: programs, images and flannel, found in the catalogue or told as missing. Pure.
import { type Catalogue, type FileArtifact, findFile, findImages, tagOf } from '../../../release/catalogue.ts';
import type { Platform } from '../../../release/platforms.ts';
import type { ProgramArtifact } from '../../node/programs.ts';

export interface ReleaseContent {
  readonly catalogue: Catalogue;
  readonly platform: Platform;
  /** Of Kubernetes; absent: the newest that the release has kubeadm of. */
  readonly version?: string;
}

const programNames = ['kubeadm', 'kubelet', 'kubectl'] as const;
type ProgramName = (typeof programNames)[number];

/** Each program of the control plane is an image by this name, with the version as its tag (Kubernetes, cmd/kubeadm/app/images). */
const registry = 'registry.k8s.io';
const versioned = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy'];
/** Those of another version than Kubernetes. */
const others = { etcd: `${registry}/etcd`, coredns: `${registry}/coredns/coredns` } as const;
const flannelImages = ['ghcr.io/flannel-io/flannel', 'ghcr.io/flannel-io/flannel-cni-plugin'];

export interface KubeadmArtifacts {
  /** Of Kubernetes, e.g. v1.36.3. */
  readonly version: string;
  readonly programs: Readonly<Record<ProgramName, FileArtifact>>;
  readonly flannel: FileArtifact;
  readonly etcdTag: string;
  readonly corednsTag: string;
  /** Full names of all images that its node runs, the pause image and the network's excepted. */
  readonly images: readonly string[];
  readonly networkImages: readonly string[];
}

/** What of the catalogue is missing for it, a line each; empty where nothing is. */
export function missingForKubeadm(content: ReleaseContent): string[] {
  const version = content.version ?? newestKubeadm(content)?.version;
  if (version === undefined) return ['program kubeadm'];
  const programs = programNames.filter((name) => findProgram(content, name, version) === undefined);
  const tagged = versioned.filter((name) => !hasTag(content, `${registry}/${name}`, version));
  const images = [...Object.values(others), ...flannelImages].filter((name) => newestTag(content, name) === undefined);
  return [
    ...programs.map((name) => `program ${name} ${version}`),
    ...tagged.map((name) => `image ${registry}/${name}:${version}`),
    ...images.map((name) => `image ${name}`),
    ...(findFlannel(content) === undefined ? ['manifest flannel'] : []),
  ];
}

/** @throws Error where something is missing: callers ask `missingForKubeadm` first. */
export function kubeadmArtifacts(content: ReleaseContent): KubeadmArtifacts {
  const version = content.version ?? needed(newestKubeadm(content)).version;
  const program = (name: ProgramName): FileArtifact => needed(findProgram(content, name, version));
  const etcdTag = needed(newestTag(content, others.etcd));
  const corednsTag = needed(newestTag(content, others.coredns));
  return {
    version,
    programs: { kubeadm: program('kubeadm'), kubelet: program('kubelet'), kubectl: program('kubectl') },
    flannel: needed(findFlannel(content)),
    etcdTag,
    corednsTag,
    images: [
      ...versioned.map((name) => `${registry}/${name}:${version}`),
      `${others.etcd}:${etcdTag}`,
      `${others.coredns}:${corednsTag}`,
    ],
    networkImages: flannelImages.map((name) => `${name}:${needed(newestTag(content, name))}`),
  };
}

/** An artifact that lies in the file repository of this host. */
export function programOf(artifact: FileArtifact, filesDir: string): ProgramArtifact {
  const { name, version, path, digest } = artifact;
  return { name, version, type: 'binary', digest, source: `${filesDir}/${path}` };
}

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('missing artifacts are told before anything is made of them');
  return value;
}

function newestKubeadm({ catalogue, platform }: ReleaseContent): FileArtifact | undefined {
  return findFile(catalogue, { name: 'kubeadm', platform });
}

function findProgram({ catalogue, platform }: ReleaseContent, name: ProgramName, version: string) {
  const found = findFile(catalogue, { name, version, platform });
  return found?.type === 'binary' ? found : undefined;
}

function findFlannel({ catalogue, platform }: ReleaseContent): FileArtifact | undefined {
  const found = findFile(catalogue, { name: 'flannel', platform });
  return found?.type === 'manifest' ? found : undefined;
}

function newestTag({ catalogue, platform }: ReleaseContent, repository: string): string | undefined {
  const [newest] = findImages(catalogue, { repository, platform });
  return newest === undefined ? undefined : tagOf(newest.ref);
}

function hasTag({ catalogue, platform }: ReleaseContent, repository: string, tag: string): boolean {
  return findImages(catalogue, { repository, platform }).some(({ ref }) => tagOf(ref) === tag);
}
