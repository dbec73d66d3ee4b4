// The order `prepare`: all that makes a host ready to be a node, by digest from the releases of the site. Pure.
import type { BKEHostSpec } from '../../api/kinds/bke-host.ts';
import type { Site } from '../../cluster/site.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, numberAt, textAt } from '../../kube/fields.ts';
import { hostPort } from '../../lib/address.ts';
import { type Digest, isDigest } from '../../lib/digest.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { type Catalogue, type FileArtifact, findFile } from '../../release/catalogue.ts';
import { type Platform, platforms } from '../../release/platforms.ts';
import { kubeadmArtifacts, missingForKubeadm } from '../../tasks/bootstrap-cluster/kubeadm/artifacts.ts';
import { missingForServices, registriesOf, runtimePrograms, sandboxImage } from '../../tasks/services/content.ts';
import type { StepArtifact } from '../../tasks/steps/artifacts.ts';
import { needsOf } from '../bkehost/needs.ts';
import type { CommandSteps, Order } from './command-id.ts';

export interface PrepareInput {
  readonly host: { readonly name: string; readonly spec: BKEHostSpec };
  /** As the host's facts have it; undefined: nobody has looked yet. */
  readonly arch: string | undefined;
  /** Of Kubernetes, e.g. v1.36.3. */
  readonly version: string;
  readonly controlPlane: boolean;
  readonly bkeCluster: KubeObject | undefined;
  readonly site: Site;
  readonly catalogues: readonly Catalogue[];
  /** Absent: no machine has the host yet. */
  readonly claim?: { readonly id: string; readonly providerID: string };
}

/** @returns the order, or what no loaded release has, a line each */
export function prepareOrder(input: PrepareInput): Order | { readonly missing: readonly string[] } {
  const platform = platforms.find((one) => one === `linux/${input.arch ?? ''}`);
  if (platform === undefined) return { missing: [`anything for the architecture ${input.arch ?? '(not known yet)'}`] };
  const content = { catalogue: together(input.catalogues), platform, version: input.version };
  const missing = [
    ...missingForKubeadm(content),
    ...missingForServices(content, true).filter((line) => line !== 'program registry'),
  ];
  if (missing.length > 0) return { missing };
  return { purpose: 'prepare', claim: input.claim?.id ?? '', steps: stepsOf(input, content) };
}

/** What is left of it where the host was prepared before a machine had it: the kubelet learns which node it is. */
export function afterAhead(order: Order): Order {
  return { ...order, steps: order.steps.filter(({ id }) => id === kubernetesStep) };
}

const kubernetesStep = 'kubernetes';

/** Several releases may have what one cluster needs. */
function together(catalogues: readonly Catalogue[]): Catalogue {
  return {
    name: 'all',
    version: '',
    kubernetesVersions: catalogues.flatMap(({ kubernetesVersions }) => kubernetesVersions),
    files: catalogues.flatMap(({ files }) => files),
    images: catalogues.flatMap(({ images }) => images),
    charts: catalogues.flatMap(({ charts }) => charts),
  };
}

interface Content {
  readonly catalogue: Catalogue;
  readonly platform: Platform;
  readonly version: string;
}

function stepsOf(input: PrepareInput, content: Content): CommandSteps {
  const { host, site, claim, bkeCluster } = input;
  const nodeIP = host.spec.nodeIP ?? host.spec.address;
  const { registryHost, registry } = registryOf(bkeCluster, site);
  const artifacts = kubeadmArtifacts(content);
  const { kubeadm, kubelet, kubectl } = artifacts.programs;
  return [
    checkStep(input),
    {
      id: 'environment',
      task: 'node/environment',
      parameters: { nodeName: host.name, nodeIP, ...timeServersOf(bkeCluster) },
    },
    {
      id: 'container-runtime',
      task: 'node/container-runtime',
      parameters: {
        artifacts: runtimeArtifacts(content, site),
        registryHost,
        ...(registry === undefined ? {} : { registry }),
        mirrored: registriesOf(content.catalogue),
        sandboxImage: sandboxImage(content),
        settings: settingsOf(bkeCluster, 'containerd'),
      },
    },
    {
      id: kubernetesStep,
      task: 'node/kubernetes',
      parameters: {
        artifacts: {
          kubeadm: stepArtifact(kubeadm, site),
          kubelet: stepArtifact(kubelet, site),
          kubectl: stepArtifact(kubectl, site),
        },
        nodeIP,
        ...(claim === undefined ? {} : { providerID: claim.providerID }),
        ...(host.spec.labels === undefined ? {} : { nodeLabels: host.spec.labels }),
        settings: { kubelet: settingsOf(bkeCluster, 'kubelet'), kubeProxy: settingsOf(bkeCluster, 'kubeProxy') },
      },
    },
    { id: 'images', task: 'node/images', parameters: { images: imagesOf(input, artifacts), registryHost } },
  ];
}

/** Where hosts take images from: the site's own registry, or the one that the cluster names. */
function registryOf(
  bkeCluster: KubeObject | undefined,
  { domain, ports }: Site,
): { registryHost: string; registry?: object } {
  const host = textAt(bkeCluster, 'spec', 'registry', 'host');
  if (host === undefined) return { registryHost: hostPort(domain, ports.registry) };
  const ca = textAt(bkeCluster, 'spec', 'registry', 'ca');
  const rewrites = fieldAt(bkeCluster, 'spec', 'registry', 'rewrites') ?? {};
  const registryHost = hostPort(host, numberAt(bkeCluster, 'spec', 'registry', 'port') ?? ports.registry);
  return { registryHost, registry: { ...(ca === undefined ? {} : { ca }), rewrites } };
}

function timeServersOf(bkeCluster: KubeObject | undefined): object {
  const timeServers = listAt(bkeCluster, 'spec', 'ntp');
  return timeServers.length === 0 ? {} : { timeServers };
}

/** Nothing is changed on a host that fails them. */
function checkStep({ host, version, bkeCluster }: PrepareInput): CommandSteps[number] {
  const cluster = bkeCluster === undefined ? undefined : { bkeCluster, kubernetesVersion: version };
  // Through JSON: what is undefined is not there.
  const needs: unknown = JSON.parse(JSON.stringify(needsOf(host.name, host.spec, cluster)));
  const ignoreChecks = listAt(bkeCluster, 'spec', 'settings', 'ignoreChecks');
  return {
    id: 'check',
    task: 'environment-check',
    parameters: { needs, ignoreChecks: [...ignoreChecks], mustPass: true },
  };
}

/** A worker runs fewer. */
function imagesOf(
  { controlPlane, bkeCluster }: PrepareInput,
  { images, networkImages }: ReturnType<typeof kubeadmArtifacts>,
): string[] {
  const network = textAt(bkeCluster, 'spec', 'cni') === 'none' ? [] : networkImages;
  const own = controlPlane
    ? images
    : images.filter((image) => workerImages.some((name) => image.includes(`/${name}:`)));
  return [...own, ...network];
}

const workerImages = ['kube-proxy', 'coredns'];

function runtimeArtifacts({ catalogue, platform }: Content, site: Site): Record<string, StepArtifact> {
  const keys: Readonly<Record<string, string>> = { 'cni-plugins': 'cniPlugins' };
  const entries = runtimePrograms.flatMap((name) => {
    const found = findFile(catalogue, { name, platform });
    return found === undefined ? [] : [[keys[name] ?? name, stepArtifact(found, site)] as const];
  });
  return Object.fromEntries(entries);
}

function stepArtifact(
  { name, version, type, path, digest, size }: FileArtifact,
  { domain, ports }: Site,
): StepArtifact {
  return {
    name,
    version,
    type: type === 'archive' ? 'archive' : 'binary',
    url: `https://${hostPort(domain, ports.files)}/${path}`,
    digest: contentDigest(name, digest),
    size,
  };
}

/** A catalogue has no other. */
function contentDigest(name: string, digest: string): Digest {
  if (isDigest(digest)) return digest;
  throw new Error(`${name} has no digest in the catalogue`);
}

/** Settings of the nodes' programs. */
export function settingsOf(
  bkeCluster: KubeObject | undefined,
  program: 'kubelet' | 'kubeProxy' | 'containerd',
): object {
  const found = fieldAt(bkeCluster, 'spec', 'settings', program);
  return isMapping(found) ? found : {};
}
