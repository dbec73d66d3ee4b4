// What the binary is made of: the same bytes every time, and traces that lead to the source.
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import type { Metafile } from 'esbuild';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRequire } from '../../../bin/chunks.ts';
import { buildProgram, programAssets } from '../../../scripts/program.ts';

const root = join(import.meta.dirname, '../../..');
let folder: string;
let program: string;
let metafile: Metafile;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-chunks-'));
  ({ work: program, metafile } = await built('program'));
});
afterAll(async () => rm(folder, { recursive: true }));

async function built(name: string): Promise<{ work: string; metafile: Metafile }> {
  const work = join(folder, name);
  await mkdir(work);
  return { work, metafile: await buildProgram(root, work) };
}

it('is built twice alike', async () => {
  const { work: again } = await built('again');
  const files = (await readdir(program, { recursive: true })).filter((name) => /\.(?:c?js|map|cache)$/.test(name));
  expect(files.length).toBeGreaterThan(100);
  for (const file of files) {
    const [one, other] = await Promise.all([readFile(join(program, file)), readFile(join(again, file))]);
    expect(one.equals(other), file).toBe(true);
  }
  expect((await readdir(again, { recursive: true })).length).toBe((await readdir(program, { recursive: true })).length);
});

it('has a code cache for the architecture of the build machine only', async () => {
  const [host, other] = [await programAssets(program, true), await programAssets(program, false)];
  const scripts = Object.keys(other).filter((key) => key.endsWith('.js'));
  expect(scripts).toContain('chunks/bke.js');
  for (const key of scripts) expect(host).toHaveProperty([`${key}.cache`]);
  expect(Object.keys(other).filter((key) => key.endsWith('.cache'))).toEqual([]);
});

it('gives of a package what Node gives of it', async () => {
  // As src/lib/x509.ts does, before the package that needs it.
  await import('reflect-metadata');
  const readScript = (name: string): Script => new Script(readFileSync(join(program, 'chunks', name), 'utf8'));
  const load = createRequire(readScript, 'bke.js');
  const packages = Object.entries(metafile.outputs).filter(([, { entryPoint }]) =>
    entryPoint?.includes('node_modules/'),
  );
  expect(packages.map(([, { entryPoint }]) => entryPoint)).toContain('node_modules/@peculiar/x509/build/x509.cjs.js');
  for (const [chunk, { entryPoint }] of packages) {
    const ofNode: object = await import(pathToFileURL(join(root, entryPoint ?? '')).href);
    const names = Object.keys(ofNode).filter((name) => name !== 'default' && name !== 'module.exports');
    expect(Object.keys(Object(load(`./${basename(chunk)}`))), chunk).toEqual(expect.arrayContaining(names));
  }
});

it('keeps apart what a start does not need', async () => {
  const names = await readdir(join(program, 'chunks'));
  const size = async (name: string): Promise<number> => (await readFile(join(program, 'chunks', name))).length;
  const sizes = await Promise.all(names.filter((name) => name.endsWith('.js')).map(size));
  const all = sizes.reduce((sum, one) => sum + one, 0);
  expect(await size('bke.js')).toBeLessThan(all / 5);
});

it('writes the log of a bug with the places in the source', async () => {
  const cli = join(import.meta.dirname, 'bug-cli.ts');
  const env = { PATH: process.env['PATH'] ?? '', XDG_STATE_HOME: join(folder, 'state') };
  const run = await execa(process.execPath, [cli, program], { env, extendEnv: false, reject: false, stdin: 'ignore' });
  const log = /\/\S+\/bug-\S+\.log/.exec(run.stderr)?.[0] ?? run.stderr;
  const text = await readFile(log, 'utf8');
  expect(text).toMatch(/TypeError: odd name\n(?: {4}at .*\n)+/);
  expect(text).not.toContain('bke:');
  const place = /at <instance_members_initializer> \((src\/\S+):(\d+):\d+\)/.exec(text);
  const source = await readFile(join(root, place?.[1] ?? ''), 'utf8');
  expect(source.split('\n')[Number(place?.[2]) - 1]).toContain('hostname()');
});
