// The built binary in odd surroundings: it needs nothing but itself, and obeys no variable meant for Node.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';

const binary = join(import.meta.dirname, '../../../dist/bke-linux-amd64');
const version = /^bke \d+\.\d+\.\d+ \(linux\/amd64, node 24\.\d+\.\d+\)$/;
let folder: string;

beforeAll(async () => {
  if (!(await stat(binary).catch(() => undefined))) throw new Error(`${binary} is not there: npm run build`);
  folder = await mkdtemp(join(tmpdir(), 'bke-binary-'));
});
afterAll(async () => rm(folder, { recursive: true }));

/** Runs it with an environment of just these variables, and no stdin. */
async function bke(env: Record<string, string>, path = binary): Promise<string> {
  const { stdout, stderr } = await execa(path, ['version'], { env, extendEnv: false, stdin: 'ignore' });
  expect(stderr).toBe('');
  return stdout;
}

/** Paths of plain files in `path` at any depth; none where it is not there. */
async function filesBelow(path: string): Promise<string[]> {
  const found = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

it('starts without PATH and HOME, with stdin closed', async () => {
  expect(await bke({})).toMatch(version);
});

it('starts where HOME is missing or cannot be written, and TMPDIR is not there', async () => {
  expect(await bke({ HOME: '/nowhere', TMPDIR: '/nowhere' })).toMatch(version);
  expect(await bke({ HOME: '/proc' })).toMatch(version);
});

it('starts under another name and through a link', async () => {
  await copyFile(binary, join(folder, 'renamed'));
  await symlink(binary, join(folder, 'link'));
  expect(await bke({}, join(folder, 'renamed'))).toMatch(version);
  expect(await bke({}, join(folder, 'link'))).toMatch(version);
});

it('runs no code that NODE_OPTIONS names, opens no debugger', async () => {
  const trap = join(folder, 'trap.cjs');
  const caught = join(folder, 'caught');
  await writeFile(trap, `require('node:fs').writeFileSync(${JSON.stringify(caught)}, '');`);
  // The same variable does work on Node itself: without that this test would prove nothing.
  await execa(process.execPath, ['-e', '0'], { env: { NODE_OPTIONS: `--require ${trap}` } });
  expect((await stat(caught)).isFile()).toBe(true);
  await rm(caught);
  expect(await bke({ NODE_OPTIONS: `--require ${trap}` })).toMatch(version);
  expect(await bke({ NODE_OPTIONS: '--inspect=0' })).toMatch(version);
  expect(await stat(caught).catch(() => 'nothing')).toBe('nothing');
});

it('starts itself again without the variables of Node, as the same process with the same words', async () => {
  const running = execa(binary, ['serve', '--help'], { env: { NODE_X: '1' }, extendEnv: false });
  const plain = await execa(binary, ['serve', '--help'], { env: {}, extendEnv: false });
  expect((await running).stdout).toBe(plain.stdout);
  const { exitCode } = await execa(binary, ['nonsense'], { env: { NODE_X: '1' }, extendEnv: false, reject: false });
  expect(exitCode).toBe(2);
  const renamed = join(folder, 'gone');
  await copyFile(binary, renamed);
  const script = `exec 3<"$0"; rm "$0"; exec /proc/self/fd/3 version`;
  const { stdout } = await execa('/bin/sh', ['-c', script, renamed], { env: { NODE_X: '1' }, extendEnv: false });
  expect(stdout).toMatch(version);
});

it('writes nothing that NODE_V8_COVERAGE, NODE_COMPILE_CACHE or NODE_REDIRECT_WARNINGS asks for', async () => {
  const [coverage, cache, warnings] = ['coverage', 'cache', 'warnings'].map((name) => join(folder, name));
  const env = {
    NODE_V8_COVERAGE: `${coverage}`,
    NODE_COMPILE_CACHE: `${cache}`,
    NODE_REDIRECT_WARNINGS: `${warnings}`,
  };
  // On Node itself they do write.
  await execa(process.execPath, ['-e', '0'], { env });
  expect(await filesBelow(`${coverage}`)).not.toEqual([]);
  await rm(`${coverage}`, { recursive: true });
  await rm(`${cache}`, { recursive: true, force: true });
  const { stdout, stderr } = await execa(binary, ['version'], { env, extendEnv: false });
  expect(stdout).toMatch(version);
  // What remains is Node's own (docs/adr/0001-node-sea.md): an empty cache folder, and its word that there is no coverage to write.
  expect(stderr).toMatch(/^Failed to get 'result' from coverage profile response:\n.*has not been started\."\}\}$/);
  expect(await filesBelow(folder)).not.toContainEqual(expect.stringMatching(/coverage|cache|warnings/));
});

it('trusts no certificate because NODE_TLS_REJECT_UNAUTHORIZED or NODE_EXTRA_CA_CERTS says so', async () => {
  const [key, certificate] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=a'];
  await execa('openssl', [...request, '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate]);
  let served = 0;
  const server = createServer({ key: await readFile(key), cert: await readFile(certificate) }, (_, response) => {
    served += 1;
    response.end('x');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `https://localhost:${address.port}/x`;
  const digest = `sha256:${createHash('sha256').update('x').digest('hex')}`;
  const release = join(folder, 'release.yaml');
  await writeFile(
    release,
    `apiVersion: bke.io/v1alpha1
kind: Release
metadata: {name: test, version: 1.0.0}
spec:
  platforms: [linux/amd64]
  kubernetesVersions: [v1.36.3]
  artifacts:
    - {kind: file, name: x, version: '1', path: x/x, type: other, sources: {linux/amd64: {url: '${url}', digest: '${digest}'}}}
`,
  );
  const build = async (env: Record<string, string>, words: readonly string[] = []) =>
    execa(binary, ['bundle', 'build', '-f', release, '-o', join(folder, 'x.tar'), ...words], {
      env: { ...env, HOME: folder },
      extendEnv: false,
      reject: false,
    });
  for (const env of [{}, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, { NODE_EXTRA_CA_CERTS: certificate }]) {
    expect((await build(env)).stderr).toContain('cannot be trusted');
  }
  expect(served).toBe(0);
  // The same server is good where its certificate is given: it was nothing else that failed.
  expect((await build({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, ['--ca', certificate])).exitCode).toBe(0);
  expect(served).toBe(1);
  server.close();
});

it('needs nothing but the C and C++ libraries, and writes nowhere', async () => {
  const root = join(folder, 'root');
  const { stdout } = await execa('ldd', [binary]);
  const libraries = [...stdout.matchAll(/(\/\S+\.so[.\d]*)/g)].map(([, path]) => path ?? '');
  expect(libraries.length).toBeGreaterThan(3);
  for (const library of libraries) {
    await mkdir(join(root, library, '..'), { recursive: true });
    await copyFile(library, join(root, library));
  }
  await copyFile(binary, join(root, 'bke'));
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec /usr/sbin/chroot "$0" /bke "$@"';
  const run = async (...words: readonly string[]): Promise<string> => {
    const command = ['--mount', '/bin/sh', '-c', script, root, ...words];
    const { all } = await execa('unshare', command, {
      env: { PATH: '/usr/bin:/bin' },
      extendEnv: false,
      reject: false,
      all: true,
    });
    return all;
  };
  expect(await run('version')).toMatch(version);
  // Commands whose code is read only when they run.
  expect(await run('init', '--help')).toContain('bke init');
  expect(await run('completion', 'bash')).toContain('complete');
  expect(await run('operation', 'list')).toMatch(/no operation/i);
  expect(await run('version', '-o', 'yaml')).toMatch(/^version: /m);
  expect(await run('bundle', 'inspect', '/nowhere.tar')).toContain('there is no such file');
  expect(await run('serve')).toContain('error[');
});
