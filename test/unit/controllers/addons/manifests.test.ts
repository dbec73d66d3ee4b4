// Manifests come from a real HTTPS server of the site, trusted by its CA alone, and are what the catalogue says.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Manifests } from '../../../../src/controllers/addons/manifests.ts';
import { digestOf } from '../../../../src/lib/digest.ts';
import { createCaCertificate, generateKey, issueServingCertificate } from '../../../../src/lib/x509.ts';
import type { FileArtifact } from '../../../../src/release/catalogue.ts';
import { site } from '../../../fakes/fleet.ts';

const content = 'kind: List\n';
const { signal } = new AbortController();
let server: Server;
let ca: string;
let served = content;
const asked: string[] = [];

beforeAll(async () => {
  const now = new Date();
  const key = generateKey();
  ca = await createCaCertificate(key, { commonName: 'site', now, days: 1 });
  const names = ['127.0.0.1'];
  const leaf = await issueServingCertificate({ certificate: ca, key }, { commonName: 'site', names, now, days: 1 });
  server = createServer({ cert: leaf.certificate, key: leaf.key }, (request, response) => {
    asked.push(request.url ?? '');
    response.end(served);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  served = content;
  asked.length = 0;
});
afterAll(() => server.close());

function text(manifests: Manifests, of: Partial<typeof site> = {}): Promise<string> {
  const address = server.address();
  const files = typeof address === 'object' && address !== null ? address.port : 0;
  const artifact: FileArtifact = {
    name: 'flannel',
    version: 'v1',
    type: 'manifest',
    path: 'flannel/v1/flannel.yml',
    digest: digestOf(content),
    size: content.length,
  };
  return manifests.text(artifact, { ...site, hostIP: '127.0.0.1', ports: { ...site.ports, files }, ca, ...of }, signal);
}

it('fetches a manifest once', async () => {
  const manifests = new Manifests();
  expect(await text(manifests)).toBe(content);
  expect(await text(manifests)).toBe(content);
  expect(asked).toEqual(['/flannel/v1/flannel.yml']);
});

it('takes nothing else than what the catalogue says, and asks again afterwards', async () => {
  const manifests = new Manifests();
  served = 'kind: Secret\n';
  await expect(text(manifests)).rejects.toMatchObject({ code: 'BKE_DIGEST_MISMATCH' });
  served = 'x'.repeat(9 * 1024 * 1024);
  await expect(text(manifests)).rejects.toMatchObject({ code: 'BKE_ARTIFACT_UNUSABLE' });
  served = content;
  expect(await text(manifests)).toBe(content);
});

it('trusts the CA of the site and no other', async () => {
  const key = generateKey();
  const other = await createCaCertificate(key, { commonName: 'site', now: new Date(), days: 1 });
  await expect(text(new Manifests(), { ca: other })).rejects.toMatchObject({ code: 'BKE_REGISTRY_TLS' });
  expect(asked).toEqual([]);
});
