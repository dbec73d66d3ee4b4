// How bke comes to a host: fetched by the host itself from a real HTTPS server, by a real shell; streamed where that does not go.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type BinarySources, bringBinary } from '../../../../src/controllers/bkehost/binary.ts';
import type { HostShell, UploadTarget } from '../../../../src/host/host.ts';
import { openLocalHost } from '../../../../src/host/local/local-host.ts';
import { digestOf } from '../../../../src/lib/digest.ts';
import { createCaCertificate, generateKey, issueServingCertificate } from '../../../../src/lib/x509.ts';

const content = `bke for a test ${process.pid}`;
const digest = digestOf(content);
const place = `/var/lib/bke-brought-${digest.slice(7, 23)}`;
const bringing = { signal: AbortSignal.timeout(30_000), tell: () => undefined };
let server: Server;
let ca: string;
let served = content;
const asked: string[] = [];

beforeAll(async () => {
  const now = new Date();
  const key = generateKey();
  ca = await createCaCertificate(key, { commonName: 'site', now, days: 1 });
  const leaf = await issueServingCertificate(
    { certificate: ca, key },
    { commonName: 'site', names: ['127.0.0.1'], now, days: 1 },
  );
  server = createServer({ cert: leaf.certificate, key: leaf.key }, (request, response) => {
    asked.push(request.url ?? '');
    response.end(served);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  served = content;
  asked.length = 0;
  for (const path of [place, `${place}.new`, `${place}.ca`]) rmSync(path, { force: true });
});
afterAll(() => server.close());

/** This machine as a host over SSH; uploads are noted only. */
async function host(): Promise<HostShell & { readonly uploads: (UploadTarget & { path: string })[] }> {
  const local = await openLocalHost();
  const uploads: (UploadTarget & { path: string })[] = [];
  return {
    name: 'h1',
    uploads,
    run: (argv, options) => local.run(argv, options),
    close: () => local.close(),
    upload: async (source, path, file) => {
      source.destroy();
      uploads.push({ path, ...file });
    },
  };
}

function sources(more: Partial<BinarySources> = {}): BinarySources {
  const address = server.address();
  const files = typeof address === 'object' && address !== null ? address.port : 0;
  const file = { path: 'bke/0.1.0/linux-amd64/bke', digest, size: content.length };
  return {
    version: '0.1.0',
    own: undefined,
    site: { hostIP: '127.0.0.1', ports: { registry: 1, files, charts: 1 }, ca },
    catalogues: [
      {
        name: 'r',
        version: '1',
        kubernetesVersions: [],
        files: [{ name: 'bke', version: '0.1.0', type: 'binary', variants: { 'linux/amd64': file } }],
        images: [],
        charts: [],
      },
    ],
    ...more,
  };
}

function own(platform: 'linux/amd64' | 'linux/arm64') {
  return { platform, size: 3, digest: async () => `sha256:${'0'.repeat(64)}`, open: () => Readable.from(['own']) };
}

it('is fetched by the host itself, trusting the site CA alone, and is a program there', async () => {
  const shell = await host();
  expect(await bringBinary(shell, 'amd64', sources(), bringing)).toBe(place);
  expect(readFileSync(place, 'utf8')).toBe(content);
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(asked).toEqual(['/bke/0.1.0/linux-amd64/bke']);
  expect(existsSync(`${place}.ca`) || existsSync(`${place}.new`)).toBe(false);
  // What is there already is not fetched again.
  await bringBinary(shell, 'amd64', sources(), bringing);
  expect(asked).toHaveLength(1);
  expect(shell.uploads).toEqual([]);
});

it('is fetched anew where what is there is something else', async () => {
  writeFileSync(place, 'half of it');
  await bringBinary(await host(), 'amd64', sources(), bringing);
  expect(readFileSync(place, 'utf8')).toBe(content);
});

it('is streamed where what came is not what the catalogue says, or nothing came', async () => {
  const shell = await host();
  served = 'somebody else';
  const path = await bringBinary(shell, 'amd64', sources({ own: own('linux/amd64') }), bringing);
  expect(path).toBe(`/var/lib/bke-brought-${'0'.repeat(16)}`);
  expect(existsSync(place) || existsSync(`${place}.new`)).toBe(false);
  const nowhere = { hostIP: '127.0.0.1', ports: { registry: 1, files: 1, charts: 1 }, ca };
  await bringBinary(shell, 'amd64', sources({ own: own('linux/amd64'), site: nowhere }), bringing);
  expect(shell.uploads).toHaveLength(2);
  expect(shell.uploads[0]).toMatchObject({ path, mode: 0o700, sizeBytes: 3 });
});

it('is missed with both reasons where there is none for the architecture', async () => {
  const bring = bringBinary(await host(), 'arm64', sources({ own: own('linux/amd64') }), bringing);
  await expect(bring).rejects.toMatchObject({
    code: 'BKE_ARTIFACT_MISSING',
    message:
      'no bke 0.1.0 for h1 (arm64): the loaded release has none for linux/arm64, and this controller can send the one for linux/amd64 only',
  });
});
