import { X509Certificate } from 'node:crypto';
import { createServer, request } from 'node:https';
import { describe, expect, it } from 'vitest';
import {
  createCaCertificate,
  generateKey,
  isPair,
  issueServingCertificate,
  notAfter,
  whyRenew,
} from '../../../src/lib/x509.ts';

const now = new Date();
const later = (days: number): Date => new Date(now.getTime() + days * 86_400_000);

async function makeCa(commonName = 'bke site CA') {
  const key = generateKey();
  return { key, certificate: await createCaCertificate(key, { commonName, now, days: 3650 }) };
}

const names = ['deploy.bke.internal', '10.0.0.5', 'localhost', '::1'];

describe('site certificates', () => {
  it('makes a CA that can only sign leaves', async () => {
    const ca = new X509Certificate((await makeCa()).certificate);
    expect(ca.ca).toBe(true);
    expect(ca.subject).toBe('CN=bke site CA');
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(ca.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });

  it('issues certificates that name hosts and addresses and no CA rights', async () => {
    const ca = await makeCa();
    const leaf = await issueServingCertificate(ca, { commonName: 'bke services', names, now, days: 365 });
    const parsed = new X509Certificate(leaf.certificate);
    expect(parsed.ca).toBe(false);
    expect(parsed.subjectAltName).toBe(
      'DNS:deploy.bke.internal, IP Address:10.0.0.5, DNS:localhost, IP Address:0:0:0:0:0:0:0:1',
    );
    expect(isPair(leaf)).toBe(true);
    expect(isPair({ ...leaf, key: generateKey() })).toBe(false);
    expect(notAfter(leaf.certificate)?.getTime()).toBe(Math.floor(later(365).getTime() / 1000) * 1000);
  });

  it('is accepted by a TLS client that knows the CA and refused by one that does not', async () => {
    const ca = await makeCa();
    const leaf = await issueServingCertificate(ca, { commonName: 'bke services', names, now, days: 365 });
    const server = createServer({ cert: leaf.certificate, key: leaf.key }, (_, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const get = (caText: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const address = server.address();
        const port = typeof address === 'object' ? address?.port : undefined;
        const options = {
          host: '127.0.0.1',
          port,
          servername: 'deploy.bke.internal',
          ca: caText,
          agent: false as const,
        };
        request(options, (response) => resolve(response.resume().statusCode ?? 0))
          .on('error', reject)
          .end();
      });
    await expect(get(ca.certificate)).resolves.toBe(200);
    await expect(get((await makeCa()).certificate)).rejects.toThrow(/unable to verify|self-signed|signature/i);
    server.close();
  });

  it('asks for a new certificate exactly when the old one is no longer right', async () => {
    const ca = await makeCa();
    const leaf = await issueServingCertificate(ca, { commonName: 'bke services', names, now, days: 300 });
    const why = (change: { names?: string[]; now?: Date; key?: string; ca?: string }) =>
      whyRenew({ ...leaf, key: change.key ?? leaf.key }, change.ca ?? ca.certificate, {
        names: change.names ?? names,
        now: change.now ?? now,
      });
    expect(why({})).toBeUndefined();
    expect(why({ now: later(198) })).toBeUndefined();
    expect(why({ now: later(201) })).toBe('two thirds of its life are over');
    expect(why({ names: [...names, '10.0.0.6'] })).toBe('it does not name 10.0.0.6');
    expect(why({ now: later(-2) })).toBe('its life has not begun: it was made while the clock was ahead');
    expect(why({ key: generateKey() })).toBe('it does not belong to its key');
    expect(why({ ca: (await makeCa()).certificate })).toBe('another CA signed it');
    expect(why({ ca: 'nonsense' })).toBe('it cannot be read');
  });

  it('never gives a leaf a longer life than its CA', async () => {
    const key = generateKey();
    const ca = { key, certificate: await createCaCertificate(key, { commonName: 'short', now, days: 10 }) };
    const leaf = await issueServingCertificate(ca, { commonName: 'x', names: ['x'], now, days: 300 });
    expect(notAfter(leaf.certificate)).toEqual(notAfter(ca.certificate));
    // A new one would not live longer either.
    expect(whyRenew(leaf, ca.certificate, { names: ['x'], now: later(9) })).toBeUndefined();
  });
});
