// Builds dist/bke-linux-<arch>: chunks (esbuild) -> Node single executable application, for amd64 and arm64 on any of the two.
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { bundledAssets } from './assets.ts';
import { writeNotice } from './notice.ts';
import { buildProgram, programAssets, sameEveryTime } from './program.ts';

const root = join(import.meta.dirname, '..');
const architectures = { amd64: 'x64', arm64: 'arm64' } as const;
type Architecture = keyof typeof architectures;

interface Lock {
  readonly packages: Record<string, { readonly version?: string; readonly integrity?: string }>;
}

/** The node binary of the wanted architecture: from node_modules, or (the other architecture) by npm pack, checked against package-lock.json. */
async function nodeBase(architecture: Architecture, cache: string): Promise<string> {
  const name = `node-linux-${architectures[architecture]}`;
  const installed = join(root, 'node_modules', name, 'bin/node');
  if (await stat(installed).catch(() => undefined)) return installed;
  const lock: Lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const entry = lock.packages[`node_modules/${name}`];
  if (entry?.version === undefined || entry.integrity === undefined)
    throw new Error(`${name} is not in package-lock.json`);
  const unpacked = join(cache, `${name}-${entry.version}`);
  const binary = join(unpacked, 'package/bin/node');
  if (await stat(binary).catch(() => undefined)) return binary;
  await mkdir(unpacked, { recursive: true });
  await execa('npm', ['pack', `${name}@${entry.version}`, '--pack-destination', unpacked], { cwd: tmpdir() });
  const archive = join(unpacked, `${name}-${entry.version}.tgz`);
  const found = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (found !== entry.integrity) throw new Error(`${name}: expected ${entry.integrity}, got ${found}`);
  await execa('tar', ['-xzf', archive, '-C', unpacked, 'package/bin/node']);
  await rm(archive);
  return binary;
}

async function buildBinary(architecture: Architecture, work: string, cache: string): Promise<string> {
  const base = await nodeBase(architecture, cache);
  const host = process.arch === architectures[architecture];
  const config = join(work, `sea-${architecture}.json`);
  const blob = join(work, `sea-${architecture}.blob`);
  await writeFile(
    config,
    JSON.stringify({
      // Relative: the blob holds this path, and two builds shall be alike.
      main: 'main.cjs',
      output: blob,
      disableExperimentalSEAWarning: true,
      useSnapshot: false,
      // Of the loader: without it, NODE_COMPILE_CACHE would make Node write one.
      useCodeCache: host,
      // NODE_OPTIONS must not reach a program that runs as root.
      execArgvExtension: 'none',
      assets: { ...(await bundledAssets(root)), ...(await programAssets(work, host)) },
    }),
  );
  await execa(process.execPath, [...sameEveryTime, '--experimental-sea-config', config], {
    cwd: work,
    stderr: 'inherit',
  });
  const out = join(root, `dist/bke-linux-${architecture}`);
  const staged = join(work, `bke-linux-${architecture}`);
  await copyFile(base, staged);
  await chmod(staged, 0o755);
  const strip = host ? 'strip' : `${architecture === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu-strip`;
  await execa(strip, [staged]).catch(() =>
    console.error(`note: ${strip} is not here; bke-linux-${architecture} stays larger`),
  );
  await execa(join(root, 'node_modules/.bin/postject'), [
    staged,
    'NODE_SEA_BLOB',
    blob,
    '--sentinel-fuse',
    'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
  ]);
  await copyFile(staged, `${out}.new`);
  await chmod(`${out}.new`, 0o755);
  await execa('mv', [`${out}.new`, out]);
  return out;
}

const wanted = process.argv.slice(2);
const targets = (['amd64', 'arm64'] as const).filter((a) => wanted.length === 0 || wanted.includes(a));
const cache = join(process.env['BKE_CACHE'] ?? join(process.env['HOME'] ?? '/root', '.cache/bke'), 'node');
const work = await mkdtemp(join(tmpdir(), 'bke-build-'));
try {
  await mkdir(join(root, 'dist'), { recursive: true });
  const metafile = await buildProgram(root, work);
  await writeNotice(metafile, join(root, 'dist/NOTICE'));
  for (const target of targets) console.log(await buildBinary(target, work, cache));
} finally {
  await rm(work, { recursive: true });
}
