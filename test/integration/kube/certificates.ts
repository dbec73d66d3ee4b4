// The certificates of a small Kubernetes: a CA, the API server's own, and accounts by client certificate.
import { createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';
import {
  type CertificatePair,
  createCaCertificate,
  generateKey,
  issueServingCertificate,
} from '../../../src/lib/x509.ts';

export interface ClusterCertificates {
  readonly ca: CertificatePair;
  readonly serving: CertificatePair;
  /** @param groups e.g. system:masters */
  account(name: string, groups: readonly string[]): Promise<CertificatePair>;
}

const day = 24 * 3_600_000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };

export async function makeClusterCertificates(): Promise<ClusterCertificates> {
  const now = new Date();
  const key = generateKey();
  const ca = { key, certificate: await createCaCertificate(key, { commonName: 'kubernetes', now, days: 2 }) };
  const names = ['127.0.0.1', 'localhost', 'kubernetes.default.svc'];
  return {
    ca,
    serving: await issueServingCertificate(ca, { commonName: 'kube-apiserver', names, now, days: 1 }),
    account: (name, groups) => clientCertificate(ca, [...groups.map((group) => `O=${group}`), `CN=${name}`].join(', ')),
  };
}

async function clientCertificate(ca: CertificatePair, subject: string): Promise<CertificatePair> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  const key = generateKey();
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: new x509.X509Certificate(ca.certificate).subject,
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + day),
    publicKey: await publicKeyOf(key),
    signingKey: await signingKeyOf(ca.key),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
  });
  return { certificate: certificate.toString('pem'), key };
}

async function signingKeyOf(key: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}

async function publicKeyOf(key: string): Promise<webcrypto.CryptoKey> {
  const der = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
  return webcrypto.subtle.importKey('spki', der, algorithm, true, ['verify']);
}
