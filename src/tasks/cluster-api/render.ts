// What is applied for a provider, made of the objects of its manifest: pure, so that a test can show it.
import { z } from 'zod';
import type { KubeObject } from '../../kube/client.ts';
import { BkeError } from '../../lib/errors.ts';
import { withFeatureGates } from './feature-gates.ts';
import { injectCa, withCaBundle } from './inject-ca.ts';
import type { Provider } from './providers.ts';
import { servingNames } from './serving-names.ts';

export interface RenderOptions {
  /** Every feature gate that the managers of this release know. */
  readonly knownGates: ReadonlySet<string>;
  /** Base64 of the PEM of the management CA. */
  readonly caBundle: string;
  /** What an image is run as: its name with the digest it has in the release; undefined where the release does not have it. */
  image(ref: string): string | undefined;
}

const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  imagePullPolicy: z.string().optional(),
  args: z.array(z.string()).optional(),
});
type Container = z.infer<typeof container>;
const workload = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({ containers: z.array(container), initContainers: z.array(container).optional() }),
    }),
  }),
});
const workloadKinds = new Set(['Deployment', 'DaemonSet', 'StatefulSet', 'Job']);

const certificate = z.looseObject({
  spec: z.looseObject({ secretName: z.string(), dnsNames: z.array(z.string()) }),
});

/** cert-manager's request to write the CA bundle. */
const certManagerAnnotation = 'cert-manager.io/inject-ca-from';

/**
 * The objects in their order in the manifest: labelled as clusterctl does, without what belongs to cert-manager, with images, feature gates and CA.
 * @throws BkeError BKE_COMPONENTS_INVALID that names an image which the release lacks, or a certificate that is not made here.
 */
export function renderProvider(
  provider: Provider,
  objects: readonly KubeObject[],
  options: RenderOptions,
): readonly KubeObject[] {
  requireCertificates(provider, objects);
  const images = new Set(objects.flatMap(imagesOf));
  const missing = [...images].filter((ref) => options.image(ref) === undefined);
  if (missing.length > 0) {
    throw new BkeError(
      'BKE_COMPONENTS_INVALID',
      `${provider.name} needs images that the release does not have: ${missing.join(', ')}`,
    );
  }
  return objects
    .filter((object) => !isOfCertManager(object))
    .map((object) => withWorkload(withCa(withLabels(object, providerLabels(provider)), options), provider, options));
}

/** As clusterctl labels all it installs. */
export function providerLabels({ name }: Pick<Provider, 'name'>): Readonly<Record<string, string>> {
  return { 'clusterctl.cluster.x-k8s.io': '', 'cluster.x-k8s.io/provider': name };
}

export function withLabels(object: KubeObject, labels: Readonly<Record<string, string>>): KubeObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
}

/** Arguments of all containers, where the feature gates stand. */
export function argumentsOf(object: KubeObject): readonly string[] {
  return containersOf(object).flatMap(({ args = [] }) => args);
}

function imagesOf(object: KubeObject): readonly string[] {
  return containersOf(object).map(({ image }) => image);
}

function containersOf(object: KubeObject): readonly Container[] {
  if (!workloadKinds.has(object.kind)) return [];
  const { containers, initContainers = [] } = workload.parse(object).spec.template.spec;
  return [...initContainers, ...containers];
}

function isOfCertManager({ apiVersion }: KubeObject): boolean {
  return apiVersion.startsWith('cert-manager.io/');
}

/** bke makes the certificates of its table of providers, in this process and later in the controller, which has no manifests. */
function requireCertificates({ name, namespace, webhook }: Provider, objects: readonly KubeObject[]): void {
  for (const object of objects.filter((one) => isOfCertManager(one) && one.kind === 'Certificate')) {
    const { secretName, dnsNames } = certificate.parse(object).spec;
    const made = webhook === undefined ? [] : servingNames({ namespace, service: webhook.service });
    const names = dnsNames.filter((dnsName) => !made.includes(dnsName));
    if (secretName === webhook?.secret && object.metadata.namespace === namespace && names.length === 0) continue;
    throw new BkeError(
      'BKE_COMPONENTS_INVALID',
      `${name} wants the certificate ${object.metadata.namespace}/${secretName} for ${dnsNames.join(', ')}, which this bke does not make`,
    );
  }
}

function withCa(object: KubeObject, { caBundle }: RenderOptions): KubeObject {
  const { [certManagerAnnotation]: asked, ...annotations } = object.metadata.annotations ?? {};
  if (asked === undefined && object.metadata.labels?.[injectCa.label] !== injectCa.value) return object;
  const { annotations: _, ...metadata } = object.metadata;
  const kept = Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations };
  return withCaBundle(withLabels({ ...object, metadata: kept }, { [injectCa.label]: injectCa.value }), caBundle);
}

function withWorkload(object: KubeObject, provider: Provider, options: RenderOptions): KubeObject {
  if (!workloadKinds.has(object.kind)) return object;
  const copy = workload.parse(object);
  const pod = copy.spec.template.spec;
  const render = (one: Container): Container => withContainer(one, provider, options);
  pod.containers = pod.containers.map(render);
  if (pod.initContainers !== undefined) pod.initContainers = pod.initContainers.map(render);
  return { ...object, spec: copy.spec };
}

function withContainer(one: Container, { featureGates }: Provider, options: RenderOptions): Container {
  const image = options.image(one.image) ?? one.image;
  // Always would ask the registry on each start, and a pod could not come back while that is away.
  const imagePullPolicy = 'IfNotPresent';
  if (one.name !== 'manager') return { ...one, image, imagePullPolicy };
  const args = [...withFeatureGates(one.args ?? [], featureGates, options.knownGates)];
  return { ...one, image, imagePullPolicy, ...(args.length === 0 ? {} : { args }) };
}
