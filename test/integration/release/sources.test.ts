import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/lib/digest.ts';
import { createRegistryClient } from '../../../src/release/oci/registry-client.ts';
import { type AccessRecord, type FileServer, startFileServer } from '../../../src/release/repository/server.ts';
import { openFileRepository } from '../../../src/release/repository/store.ts';
import { buildIn, temporaryFolder } from '../../fakes/release.ts';
import { makeCertificates, startCuttingProxy, type TestCertificates } from './registry.ts';

let dir: string;
let certificates: TestCertificates;
let server: FileServer;
const records: AccessRecord[] = [];
const tool = randomBytes(9_000_000);

beforeAll(async () => {
  dir = await temporaryFolder();
  certificates = await makeCertificates(join(dir, 'tls'));
  const repository = await openFileRepository(join(dir, 'data'));
  await writeFile(join(dir, 'data/files/tool'), tool);
  server = await startFileServer({
    repository,
    address: '127.0.0.1',
    filesPort: 0,
    chartsPort: 0,
    tls: { certificate: certificates.certificateFile, key: certificates.keyFile },
    onAccess: (record) => records.push(record),
  });
});
afterAll(async () => {
  await server.stop(0);
  await rm(dir, { recursive: true });
});

function artifact(port: number, digest = digestOf(tool)): string {
  return `- {kind: file, name: tool, version: 1.0.0, type: other, path: tool, sources: {linux/amd64: {url: "https://127.0.0.1:${port}/tool", digest: "${digest}"}}}`;
}

async function build(name: string, artifacts: string) {
  await mkdir(join(dir, name));
  return buildIn(join(dir, name), artifacts, { ca: [certificates.ca], platforms: ['linux/amd64'] });
}

describe('a file from an address', () => {
  it('comes whole over connections that break', async () => {
    const proxy = await startCuttingProxy(server.filesPort, [{ down: 3_000_000 }, { down: 3_000_000 }]);
    records.length = 0;
    try {
      const built = await build('cut', artifact(proxy.port));
      expect((await readFile(built.path)).includes(tool.subarray(0, 1000))).toBe(true);
    } finally {
      await proxy.stop();
    }
    await expect
      .poll(() => records.filter(({ path, range }) => path === '/tool' && range !== undefined).length)
      .toBe(2);
  });

  it('that is another than promised is refused after a second try, with both digests', async () => {
    const wanted = digestOf('another');
    await expect(build('other', artifact(server.filesPort, wanted))).rejects.toMatchObject({
      code: 'BKE_ARTIFACT_UNUSABLE',
      message: `file tool 1.0.0: https://127.0.0.1:${server.filesPort}/tool should be ${wanted} but is ${digestOf(tool)} (9000000 bytes); it was fetched twice`,
    });
  });

  it('that is not there is told with its address', async () => {
    const missing = artifact(server.filesPort).replace('/tool"', '/none"');
    await expect(build('missing', missing)).rejects.toMatchObject({
      code: 'BKE_ARTIFACT_UNUSABLE',
      message: `file tool 1.0.0: cannot download https://127.0.0.1:${server.filesPort}/none: HTTP 404`,
    });
  });
});

describe('a registry that wants tokens', () => {
  let registry: Server;
  let port: number;
  const requests: string[] = [];

  beforeAll(async () => {
    const tls = { cert: await readFile(certificates.certificateFile), key: await readFile(certificates.keyFile) };
    registry = createServer(tls, (request, response) => {
      requests.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? ''}`);
      if (request.url?.startsWith('/token') === true) {
        const known = request.headers.authorization === `Basic ${Buffer.from('me:secret').toString('base64')}`;
        response
          .writeHead(known ? 200 : 401)
          .end(JSON.stringify({ token: `T-${new URL(request.url, 'https://x').searchParams.get('scope') ?? ''}` }));
      } else if (request.headers.authorization === 'Bearer T-repository:a/b:pull') {
        response
          .writeHead(200, {
            'docker-content-digest': digestOf('x'),
            'content-type': 'application/vnd.oci.image.manifest.v1+json',
          })
          .end();
      } else {
        const realm = `https://127.0.0.1:${port}/token`;
        response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="reg"` }).end();
      }
    });
    await new Promise<void>((resolve) => {
      registry.listen(0, '127.0.0.1', resolve);
    });
    const address = registry.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterAll(() => {
    registry.closeAllConnections();
    registry.close();
  });

  it('gets them asked for once, with the login', async () => {
    const client = createRegistryClient({
      url: `https://127.0.0.1:${port}`,
      ca: [certificates.ca],
      username: 'me',
      password: 'secret',
    });
    expect(await client.resolve('a/b', 'v1')).toMatchObject({ digest: digestOf('x') });
    expect(await client.hasBlob('a/b', digestOf('x'))).toBe(true);
    client.close();
    expect(requests.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'HEAD /v2/a/b/manifests/v1',
      'GET /token?service=reg&scope=repository%3Aa%2Fb%3Apull',
      'HEAD /v2/a/b/manifests/v1',
      `HEAD /v2/a/b/blobs/${digestOf('x')}`,
    ]);
  });

  it('refuses a wrong login by name, without telling the password', async () => {
    const client = createRegistryClient({
      url: `https://127.0.0.1:${port}`,
      ca: [certificates.ca],
      username: 'me',
      password: 'wr0ng',
    });
    const refused = await client.resolve('a/b', 'v1').catch((thrown: unknown) => thrown);
    client.close();
    expect(refused).toMatchObject({
      code: 'BKE_REGISTRY_LOGIN',
      message: `127.0.0.1:${port} gives no token for repository:a/b:pull: HTTP 401`,
    });
    expect(JSON.stringify(refused)).not.toContain('wr0ng');
  });
});
