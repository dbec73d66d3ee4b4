// The built binary in odd surroundings: it needs nothing but itself, and obeys no variable meant for Node.
import { copyFile, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
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

it('starts in a root file system with nothing but the C and C++ libraries', async () => {
  const root = join(folder, 'root');
  const { stdout } = await execa('ldd', [binary]);
  const libraries = [...stdout.matchAll(/(\/\S+\.so[.\d]*)/g)].map(([, path]) => path ?? '');
  expect(libraries.length).toBeGreaterThan(3);
  for (const library of libraries) {
    await mkdir(join(root, library, '..'), { recursive: true });
    await copyFile(library, join(root, library));
  }
  await copyFile(binary, join(root, 'bke'));
  const result = await execa('/usr/sbin/chroot', [root, '/bke', 'version'], { env: {}, extendEnv: false });
  expect(result.stdout).toMatch(version);
});
