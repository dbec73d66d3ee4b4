// Certificates of the webhooks: each leaf lives a year and is renewed after two thirds of it; the CA bundle of whatever calls them is the management CA.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { issueServingCertificate, whyRenew } from '../../lib/x509.ts';
import { caPlaces, injectCa, injectedKinds } from './inject-ca.ts';
import { type ManagementCa, readManagementCa } from './management-ca.ts';
import { type Provider, type ProviderWebhook, providers } from './providers.ts';
import { servingNames } from './serving-names.ts';
import { pairOf, tlsSecret, toBase64 } from './tls-secret.ts';

type CertificatesClient = Pick<KubeClient, 'get' | 'list' | 'apply' | 'patch'>;

export interface CertificateOptions {
  readonly now: Date;
  /** Told of what people must do before long: the end of the CA is near. */
  readonly warn: (message: string) => void;
}

const leafDays = 365;
/** Whoever runs it (init, the controller): one manager, so that they never conflict. */
const fieldManager = 'bke-certificates';

/**
 * Makes or renews the leaf of each webhook, and writes the CA bundle wherever it differs. Reads one Secret per webhook by name and lists, by label,
 * the kinds that can name a CA; writes only what differs. Namespaces of the providers must exist. Several at once do no harm.
 * @returns a line for each change; empty where all was so already.
 * @throws BkeError BKE_MANAGEMENT_CA where the CA is missing, damaged or over: it is never replaced here.
 */
export async function reconcileCertificates(
  client: CertificatesClient,
  { now, warn }: CertificateOptions,
): Promise<readonly string[]> {
  const ca = await readManagementCa(client, { now });
  if (ca.warning !== undefined) warn(ca.warning);
  const changed: string[] = [];
  for (const provider of providers) {
    if (provider.webhook === undefined) continue;
    const line = await reconcileLeaf(client, { provider, webhook: provider.webhook, ca, now });
    if (line !== undefined) changed.push(line);
  }
  for (const kind of injectedKinds) {
    const { items } = await client.list(kind, { labelSelector: `${injectCa.label}=${injectCa.value}` });
    for (const item of items) {
      const line = await reconcileCaBundle(client, { ...item, ...kind }, toBase64(ca.certificate));
      if (line !== undefined) changed.push(line);
    }
  }
  return changed;
}

interface Leaf {
  readonly provider: Provider;
  readonly webhook: ProviderWebhook;
  readonly ca: ManagementCa;
  readonly now: Date;
}

async function reconcileLeaf(
  client: CertificatesClient,
  { provider: { namespace }, webhook: { service, secret }, ca, now }: Leaf,
): Promise<string | undefined> {
  const names = servingNames({ namespace, service });
  const found = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name: secret });
  const reason = found === undefined ? 'there was none' : whyReplace(found, { ca: ca.certificate, names, now });
  if (reason === undefined) return undefined;
  const commonName = names[0] ?? service;
  const leaf = await issueServingCertificate(ca, { commonName, names, now, days: leafDays });
  await client.apply(tlsSecret({ namespace, name: secret }, { ...leaf, ca: ca.certificate }), {
    fieldManager,
    force: true,
  });
  return `certificate of ${namespace}/${service}: ${reason}`;
}

interface LeafNeed {
  readonly ca: string;
  readonly names: readonly string[];
  readonly now: Date;
}

function whyReplace(secret: KubeObject, { ca, names, now }: LeafNeed): string | undefined {
  const pair = pairOf(secret);
  if (pair === undefined) return 'it cannot be read';
  return whyRenew(pair, ca, { names, now }) ?? (pair.ca === ca ? undefined : 'it does not name its CA');
}

async function reconcileCaBundle(
  client: CertificatesClient,
  object: KubeObject,
  caBundle: string,
): Promise<string | undefined> {
  const places = caPlaces(object).filter((place) => place.caBundle !== caBundle);
  if (places.length === 0) return undefined;
  const {
    apiVersion,
    kind,
    metadata: { name },
  } = object;
  const operations = places.flatMap((place) => [
    ...(place.name === undefined ? [] : [{ op: 'test', path: place.name.pointer, value: place.name.value }]),
    { op: 'add', path: place.pointer, value: caBundle },
  ]);
  await client.patch({ apiVersion, kind, name }, operations, { type: 'json', fieldManager });
  return `CA bundle of ${kind} ${name}`;
}
