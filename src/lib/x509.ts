// Certificates: a self-made CA and serving certificates signed by it (EC P-256), as PEM text; no files, no clock of its own.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import type * as X509 from '@peculiar/x509';

export interface CertificatePair {
  /** PEM, CERTIFICATE. */
  readonly certificate: string;
  /** PEM, PKCS#8, unencrypted: a secret. */
  readonly key: string;
}

export interface CaRequest {
  readonly commonName: string;
  readonly now: Date;
  readonly days: number;
}

export interface ServingRequest {
  readonly commonName: string;
  /** DNS names and IP addresses, each as a subject alternative name of its kind. */
  readonly names: readonly string[];
  readonly now: Date;
  readonly days: number;
}

/** Backdated, so that a host whose clock is behind accepts a certificate made today. */
const BACKDATE_MS = 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNING_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' } as const;

async function loadX509(): Promise<typeof X509> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

/** PKCS#8 PEM of a new P-256 key. */
export function generateKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

/** A CA certificate for `key`, good for signing leaves only (pathlen 0). */
export async function createCaCertificate(key: string, request: CaRequest): Promise<string> {
  const x509 = await loadX509();
  const keys = await importKeys(key);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: distinguishedName(request.commonName),
    notBefore: new Date(request.now.getTime() - BACKDATE_MS),
    notAfter: new Date(request.now.getTime() + request.days * DAY_MS),
    keys,
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pem(certificate.toString('pem'));
}

/** A serving certificate with a new key, signed by `ca`. */
export async function issueServingCertificate(ca: CertificatePair, request: ServingRequest): Promise<CertificatePair> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(ca.certificate);
  const caKeys = await importKeys(ca.key);
  const key = generateKey();
  const { publicKey } = await importKeys(key);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: distinguishedName(request.commonName),
    issuer: issuer.subject,
    notBefore: new Date(request.now.getTime() - BACKDATE_MS),
    // A leaf that outlives its CA would be refused after the CA's end anyway.
    notAfter: new Date(Math.min(request.now.getTime() + request.days * DAY_MS, issuer.notAfter.getTime())),
    publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        request.names.map((name) => ({ type: isIP(name) === 0 ? 'dns' : 'ip', value: name })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { certificate: pem(certificate.toString('pem')), key };
}

export interface CertificateNeed {
  readonly names: readonly string[];
  readonly now: Date;
}

/**
 * Why a serving certificate can't be used any longer, or undefined where it can: other CA, other names, other key, two thirds of its life gone. One
 * that lives as long as its CA is as good as any new one.
 */
export function whyRenew(pair: CertificatePair, caCertificate: string, need: CertificateNeed): string | undefined {
  const leaf = parse(pair.certificate);
  const ca = parse(caCertificate);
  if (leaf === undefined || ca === undefined) return 'it cannot be read';
  if (!leaf.verify(ca.publicKey)) return 'another CA signed it';
  if (!keyMatches(leaf, pair.key)) return 'it does not belong to its key';
  const missing = need.names.filter((name) => !covers(leaf, name));
  if (missing.length > 0) return `it does not name ${missing.join(', ')}`;
  const used = lifeUsed(leaf, need.now);
  if (used < 0) return 'its life has not begun: it was made while the clock was ahead';
  if (used >= 2 / 3 && !endsTogether(leaf, ca)) return 'two thirds of its life are over';
  return undefined;
}

/** End of a certificate's life; undefined where the text is none. */
export function notAfter(certificate: string): Date | undefined {
  const parsed = parse(certificate);
  return parsed === undefined ? undefined : new Date(parsed.validTo);
}

/** Whether `key` is the private key of `certificate`. */
export function isPair(pair: CertificatePair): boolean {
  const parsed = parse(pair.certificate);
  return parsed !== undefined && keyMatches(parsed, pair.key);
}

function keyMatches(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function covers(certificate: X509Certificate, name: string): boolean {
  const match = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
  return match !== undefined;
}

function lifeUsed(certificate: X509Certificate, now: Date): number {
  const start = new Date(certificate.validFrom).getTime();
  const end = new Date(certificate.validTo).getTime();
  return (now.getTime() - start) / (end - start);
}

function endsTogether(leaf: X509Certificate, ca: X509Certificate): boolean {
  return new Date(leaf.validTo).getTime() >= new Date(ca.validTo).getTime();
}

function parse(certificate: string): X509Certificate | undefined {
  try {
    return new X509Certificate(certificate);
  } catch {
    return undefined;
  }
}

async function importKeys(key: string): Promise<webcrypto.CryptoKeyPair> {
  const { subtle } = webcrypto;
  const privateKey = createPrivateKey(key);
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return {
    privateKey: await subtle.importKey('pkcs8', pkcs8, KEY_ALGORITHM, false, ['sign']),
    publicKey: await subtle.importKey('spki', spki, KEY_ALGORITHM, true, ['verify']),
  };
}

/** 128 random bits, positive as RFC 5280 4.1.2.2 wants. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

function distinguishedName(commonName: string): string {
  return `CN=${commonName.replaceAll(/[\\,+"<>;=#]/g, (character) => `\\${character}`)}`;
}

function pem(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
