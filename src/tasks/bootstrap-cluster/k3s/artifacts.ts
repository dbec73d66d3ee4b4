// What of a release K3s is made of, and what a person can do where it is not there.
import { BkeError } from '../../../lib/errors.ts';
import { listed } from '../../../lib/text.ts';
import { type CatalogueImage, findFile, findImages } from '../../../release/catalogue.ts';
import type { ProgramArtifact } from '../../node/programs.ts';
import type { BootstrapPlan } from '../bootstrap-cluster.ts';

type Source = Pick<BootstrapPlan, 'catalogue' | 'platform'>;

/** The first that a release has is taken: what clusters by kubeadm use, then K3s's own copy. */
const pauseRepositories = ['registry.k8s.io/pause', 'docker.io/rancher/mirrored-pause'];
const corednsRepositories = [
  'registry.k8s.io/coredns/coredns',
  'docker.io/coredns/coredns',
  'docker.io/rancher/mirrored-coredns-coredns',
];

/** What of the catalogue is missing for it, a line each; empty where nothing is. */
export function missingForK3s(source: Source): string[] {
  return [
    ...(findFile(source.catalogue, { ...source, name: 'k3s' })?.type === 'binary' ? [] : ['binary k3s']),
    ...(imageOf(source, pauseRepositories) === undefined ? [`image ${pauseRepositories[0]}`] : []),
    ...(imageOf(source, corednsRepositories) === undefined ? [`image ${corednsRepositories[0]}`] : []),
  ];
}

function imageOf(source: Source, repositories: readonly string[]): CatalogueImage | undefined {
  for (const repository of repositories) {
    const [newest] = findImages(source.catalogue, { ...source, repository });
    if (newest !== undefined) return newest;
  }
  return undefined;
}

export interface K3sArtifacts {
  readonly k3s: ProgramArtifact;
  /** Public names. */
  readonly pauseImage: string;
  readonly corednsImage: string;
}

/** @throws BkeError BKE_K3S_MISSING */
export function k3sArtifacts(plan: Pick<BootstrapPlan, 'catalogue' | 'platform' | 'filesDir'>): K3sArtifacts {
  const file = findFile(plan.catalogue, { ...plan, name: 'k3s' });
  const pause = imageOf(plan, pauseRepositories);
  const coredns = imageOf(plan, corednsRepositories);
  if (file?.type !== 'binary' || pause === undefined || coredns === undefined) throw k3sMissing(missingForK3s(plan));
  const { name, version, digest, path } = file;
  return {
    k3s: { name, version, type: 'binary', digest, source: `${plan.filesDir}/${path}` },
    pauseImage: pause.ref,
    corednsImage: coredns.ref,
  };
}

/** What a release manifest says of K3s: the release page has the digests in sha256sum-<arch>.txt. */
const snippet = [
  '- kind: file',
  '  name: k3s',
  '  version: v1.36.3+k3s1',
  '  type: binary',
  '  path: k3s/v1.36.3+k3s1/{platform}/k3s',
  '  sources:',
  '    linux/amd64:',
  '      url: https://github.com/k3s-io/k3s/releases/download/v1.36.3%2Bk3s1/k3s',
  '      digest: sha256:<64 hex digits of sha256sum-amd64.txt>',
];

/**
 * The error for a bundle that K3s can't be made of, with the ways out.
 * @param missing as `missingForK3s` tells it
 * @param kubeadm the bundle has all that kubeadm needs: then nobody has to build another one
 */
export function k3sMissing(missing: readonly string[], kubeadm = false): BkeError {
  const what = `the bundle cannot make a K3s cluster: it has no ${listed(missing, 'or')}`;
  if (kubeadm) {
    return new BkeError('BKE_K3S_MISSING', what, {
      hint: 'It has all that kubeadm needs: run the same command with --bootstrap kubeadm. How a bundle gets K3s: docs/guide/k3s.md.',
    });
  }
  return new BkeError('BKE_K3S_MISSING', what, {
    details: missing.includes('binary k3s')
      ? ['K3s in a release manifest, e.g. of version v1.36.3+k3s1:', ...snippet]
      : [],
    hint: 'Build a bundle that has it (docs/guide/k3s.md), or take --bootstrap kubeadm; --bootstrap none sets up the local services only.',
  });
}
