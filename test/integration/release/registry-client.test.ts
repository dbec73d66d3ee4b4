import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/lib/digest.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/release/oci/registry-client.ts';
import { mediaType, type StoredManifest } from '../../../src/release/oci/types.ts';
import { json, temporaryFolder } from '../../fakes/release.ts';
import { freePort } from '../free-port.ts';
import { startCuttingProxy, startRegistry, type TestRegistry } from './registry.ts';

let dir: string;
let registry: TestRegistry;
let client: RegistryClient;

beforeAll(async () => {
  dir = await temporaryFolder();
  registry = await startRegistry(dir);
  client = registry.client();
});
afterAll(async () => {
  client.close();
  await registry.stop();
  await rm(dir, { recursive: true });
});

function upload(bytes: Buffer) {
  return {
    digest: digestOf(bytes),
    size: bytes.length,
    source: (offset: number) => Readable.from([bytes.subarray(offset)]),
  };
}

/** In pieces, as a file gives them. */
function inPieces(bytes: Buffer, offset: number): Readable {
  const pieces = [];
  for (let at = offset; at < bytes.length; at += 256 * 1024) pieces.push(bytes.subarray(at, at + 256 * 1024));
  return Readable.from(pieces);
}

async function manifestOf(repository: string, layer: Buffer): Promise<StoredManifest> {
  const config = json({ os: 'linux', architecture: 'amd64', nonce: randomBytes(4).toString('hex') });
  await client.pushBlob(repository, upload(config));
  const bytes = json({
    schemaVersion: 2,
    mediaType: mediaType.ociManifest,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: digestOf(config), size: config.length },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: digestOf(layer), size: layer.length }],
  });
  return { bytes, digest: digestOf(bytes), mediaType: mediaType.ociManifest };
}

describe('a real registry', () => {
  it('takes and gives back blobs and manifests byte for byte', async () => {
    await client.ping();
    const layer = randomBytes(3_000_000);
    expect(await client.hasBlob('a/b', digestOf(layer))).toBe(false);
    expect(await client.pushBlob('a/b', upload(layer))).toBe('sent');
    expect(await client.pushBlob('a/b', upload(layer))).toBe('present');
    expect(await client.pushBlob('c/d', { ...upload(layer), mountFrom: 'a/b' })).toBe('mounted');
    expect((await buffer(client.blob('c/d', upload(layer)))).equals(layer)).toBe(true);
    expect(
      (await buffer(client.blob('c/d', upload(layer), { offset: 2_999_990 }))).equals(layer.subarray(2_999_990)),
    ).toBe(true);
    const manifest = await manifestOf('a/b', layer);
    expect(await client.resolve('a/b', 'v1')).toBeUndefined();
    await client.putManifest('a/b', 'v1', manifest);
    expect(await client.resolve('a/b', 'v1')).toEqual({ digest: manifest.digest, mediaType: mediaType.ociManifest });
    expect(await client.getManifest('a/b', manifest.digest)).toEqual(manifest);
    expect(await client.getManifest('a/b', 'v2')).toBeUndefined();
  });

  it('takes an empty blob, and two pushes of one blob at once', async () => {
    expect(await client.pushBlob('empty/x', upload(Buffer.alloc(0)))).toBe('sent');
    const blob = randomBytes(8_000_000);
    const outcomes = await Promise.all([
      client.pushBlob('twice/x', upload(blob)),
      client.pushBlob('twice/x', upload(blob)),
    ]);
    expect(outcomes).toEqual(['sent', 'sent']);
    expect((await buffer(client.blob('twice/x', upload(blob)))).equals(blob)).toBe(true);
  });

  it('tells what it refuses in its own words', async () => {
    const wrong = { ...upload(Buffer.from('abc')), digest: digestOf('other') };
    await expect(client.pushBlob('a/b', wrong)).rejects.toMatchObject({
      code: 'BKE_REGISTRY_REFUSED',
      message: expect.stringMatching(
        /^127\.0\.0\.1:\d+\/a\/b: cannot push blob sha256:\w+: HTTP 400: DIGEST_INVALID: provided digest did not match uploaded content/,
      ),
    });
    const bytes = json({
      schemaVersion: 2,
      mediaType: mediaType.ociManifest,
      config: { mediaType: 'x', digest: digestOf('none'), size: 4 },
      layers: [],
    });
    await expect(
      client.putManifest('a/b', 'v3', { bytes, digest: digestOf(bytes), mediaType: mediaType.ociManifest }),
    ).rejects.toMatchObject({
      code: 'BKE_REGISTRY_REFUSED',
      message: expect.stringContaining(
        'cannot push manifest v3: HTTP 400: MANIFEST_BLOB_UNKNOWN: blob unknown to registry',
      ),
    });
    expect(await uploadsLeft('a/b')).toEqual([]);
  });

  it('is not trusted blindly: CA, name, login and TLS itself', async () => {
    const { url, port, certificates } = registry;
    const strangers = [
      [
        createRegistryClient({ url }),
        'BKE_REGISTRY_TLS',
        `127.0.0.1:${port} cannot be trusted: its certificate comes from a CA that is not trusted`,
      ],
      [
        createRegistryClient({ url, ca: [certificates.ca], username: 'pusher', password: 'wrong' }),
        'BKE_REGISTRY_LOGIN',
        expect.stringContaining('cannot reach the registry: HTTP 401: UNAUTHORIZED: authentication required'),
      ],
      [createRegistryClient({ url, ca: [certificates.ca] }), 'BKE_REGISTRY_LOGIN', expect.stringContaining('HTTP 401')],
      [
        createRegistryClient({ url: `https://127.0.0.1:${await freePort()}` }),
        'BKE_REGISTRY_UNREACHABLE',
        expect.stringMatching(/^127\.0\.0\.1:\d+: cannot reach the registry: connection refused$/),
      ],
    ] as const;
    for (const [stranger, code, message] of strangers)
      await expect(stranger.ping()).rejects.toMatchObject({ code, message });
    expect(() => createRegistryClient({ url: 'http://127.0.0.1:5000' })).toThrow(
      'bke talks to registries over TLS only',
    );
  });
});

/** Bytes of uploads that were begun in a repository and never ended. (The registry itself forgets an empty hash state of a cancelled upload.) */
async function uploadsLeft(repository: string): Promise<string[]> {
  const uploads = join(registry.store, 'docker/registry/v2/repositories', repository, '_uploads');
  const left = await readdir(uploads, { recursive: true }).catch(() => []);
  return left.filter((path) => path.endsWith('/data'));
}

function through(port: number): RegistryClient {
  const { certificates, username, password } = registry;
  return createRegistryClient({
    url: `https://127.0.0.1:${port}`,
    ca: [certificates.ca],
    username,
    password,
    idleTimeoutMs: 5000,
  });
}

describe('a connection that breaks', () => {
  const blob = randomBytes(24_000_000);

  it('in an upload: it goes on at the offset that the registry has', async () => {
    const proxy = await startCuttingProxy(registry.port, [{ up: 9_000_000 }, { up: 6_000_000 }]);
    const cut = through(proxy.port);
    const offsets: number[] = [];
    const source = (offset: number) => {
      offsets.push(offset);
      return inPieces(blob, offset);
    };
    try {
      expect(await cut.pushBlob('cut/up', { digest: digestOf(blob), size: blob.length, source })).toBe('sent');
    } finally {
      cut.close();
      await proxy.stop();
    }
    expect(proxy.cuts()).toBe(2);
    expect(offsets[0]).toBe(0);
    expect(offsets[1]).toBeGreaterThan(4_000_000);
    expect(offsets[2]).toBeGreaterThan(offsets[1] ?? 0);
    expect(offsets).toHaveLength(3);
    expect((await buffer(client.blob('cut/up', { digest: digestOf(blob), size: blob.length }))).equals(blob)).toBe(
      true,
    );
    expect(await uploadsLeft('cut/up')).toEqual([]);
  });

  it('in a download: it goes on where it was', async () => {
    await client.pushBlob('cut/down', upload(blob));
    const proxy = await startCuttingProxy(registry.port, [{ down: 7_000_000 }, { down: 7_000_000 }]);
    const cut = through(proxy.port);
    try {
      expect((await buffer(cut.blob('cut/down', { digest: digestOf(blob), size: blob.length }))).equals(blob)).toBe(
        true,
      );
    } finally {
      cut.close();
      await proxy.stop();
    }
    expect(proxy.cuts()).toBe(2);
    const ranged = registry
      .log()
      .split('\n')
      .filter((line) => line.includes(`/v2/cut/down/blobs/${digestOf(blob)}`) && line.includes(' 206 '));
    expect(ranged).toHaveLength(2);
  });

  it('again and again without progress: it is given up with the address and the reason', async () => {
    const proxy = await startCuttingProxy(
      registry.port,
      Array.from({ length: 100 }, () => ({ up: 1 })),
    );
    const cut = through(proxy.port);
    try {
      await expect(cut.hasBlob('cut/x', digestOf(blob))).rejects.toMatchObject({
        code: 'BKE_REGISTRY_UNREACHABLE',
        message: expect.stringMatching(/^127\.0\.0\.1:\d+: cannot look for blob sha256:\w+: [a-z]/),
      });
    } finally {
      cut.close();
      await proxy.stop();
    }
  });

  it('because the source of an upload fails: that fault is told and the registry keeps nothing of it', async () => {
    const source = () =>
      Readable.from(
        (async function* broken() {
          yield blob.subarray(0, 1_000_000);
          throw new Error('the disk is gone');
        })(),
      );
    await expect(client.pushBlob('gone/x', { digest: digestOf(blob), size: blob.length, source })).rejects.toThrow(
      'the disk is gone',
    );
    await expect.poll(() => uploadsLeft('gone/x')).toEqual([]);
  });
});
