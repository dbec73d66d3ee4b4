// The site CA and the certificate of the local services (ARCHITECTURE.md, "bke init"): made once, kept on every later run, renewed in time.
import { digestOf } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import {
  type CertificatePair,
  createCaCertificate,
  generateKey,
  isPair,
  issueServingCertificate,
  whyRenew,
} from '../../lib/x509.ts';
import type { TaskScope } from '../task.ts';
import { servicePaths, serviceUser } from './layout.ts';

const CA_DAYS = 3650;
const LEAF_DAYS = 730;

export interface CertificatesParameters {
  readonly hostIP: string;
  readonly domain: string;
  readonly hostname: string;
  readonly now: Date;
}

export interface SiteCertificates {
  /** PEM of the site CA. */
  readonly ca: string;
  /** Changes when the services must take a new certificate. */
  readonly leafDigest: string;
  /** The certificate of the services was made anew. */
  readonly renewed: boolean;
}

/**
 * Makes what is missing and renews what is due, in an order that a crash anywhere leaves mendable: the CA key before its certificate,
 * the leaf's key before its certificate (a pair that does not match is made anew).
 * @throws BkeError BKE_SITE_CA_BROKEN where hosts may trust a CA whose key is gone.
 */
export async function ensureCertificates(
  scope: TaskScope,
  parameters: CertificatesParameters,
): Promise<SiteCertificates> {
  const ca = await ensureCa(scope, parameters.now);
  const leaf = await ensureLeaf(scope, ca, parameters);
  await scope.apply({ kind: 'file', path: servicePaths.siteCa, mode: 0o644, content: { text: ca.certificate } });
  return { ca: ca.certificate, leafDigest: digestOf(leaf.certificate), renewed: leaf.renewed };
}

async function ensureCa(scope: TaskScope, now: Date): Promise<CertificatePair> {
  const { siteCaKey, siteCaCertificate } = servicePaths;
  const keptKey = await readText(scope, siteCaKey);
  const keptCertificate = await readText(scope, siteCaCertificate);
  if (
    keptCertificate !== undefined &&
    (keptKey === undefined || !isPair({ certificate: keptCertificate, key: keptKey }))
  ) {
    throw new BkeError('BKE_SITE_CA_BROKEN', `${siteCaKey} is not the key of ${siteCaCertificate}`, {
      host: scope.host.name,
      hint: `Bring ${siteCaKey} back from a backup, or begin anew: bke reset --all --mount, then bke init.`,
    });
  }
  const key = keptKey ?? generateKey();
  // The date makes the CAs of two installs distinguishable for people; their keys are what tells machines.
  const commonName = `bke site CA ${now.toISOString().slice(0, 10)}`;
  const certificate = keptCertificate ?? (await createCaCertificate(key, { commonName, now, days: CA_DAYS }));
  await scope.apply({ kind: 'file', path: siteCaKey, mode: 0o600, content: { text: key } });
  await scope.apply({ kind: 'file', path: siteCaCertificate, mode: 0o644, content: { text: certificate } });
  return { key, certificate };
}

async function ensureLeaf(
  scope: TaskScope,
  ca: CertificatePair,
  parameters: CertificatesParameters,
): Promise<CertificatePair & { readonly renewed: boolean }> {
  const { certificate: certificatePath, key: keyPath } = servicePaths;
  const kept = {
    certificate: (await readText(scope, certificatePath)) ?? '',
    key: (await readText(scope, keyPath)) ?? '',
  };
  const names = servingNames(parameters);
  const why = whyRenew(kept, ca.certificate, { names, now: parameters.now });
  const request = { commonName: parameters.domain, names, now: parameters.now, days: LEAF_DAYS };
  const leaf = why === undefined ? kept : await issueServingCertificate(ca, request);
  const owner = { user: serviceUser, group: serviceUser };
  await scope.apply({ kind: 'file', path: keyPath, mode: 0o600, owner, content: { text: leaf.key } });
  await scope.apply({ kind: 'file', path: certificatePath, mode: 0o644, content: { text: leaf.certificate } });
  return { ...leaf, renewed: why !== undefined };
}

/** Every name and address the services are reached by. */
function servingNames({ domain, hostIP, hostname }: CertificatesParameters): string[] {
  return [...new Set([domain, hostname, 'localhost', hostIP, '127.0.0.1', '::1'])];
}

async function readText(scope: TaskScope, path: string): Promise<string | undefined> {
  return (await scope.host.files.read(path))?.toString('utf8');
}
