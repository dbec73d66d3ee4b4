// Makes the signed bundle of a release with bke itself, as a site does that builds its own Kubernetes.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { cached, removeUnused } from '../cache.ts';
import { run } from '../run.ts';
import { type ReleaseOptions, type ReleaseSize, releaseManifest } from './manifest.ts';

/** A release that is ready to be installed. */
export interface Release {
  manifest: string;
  bundle: string;
  /** Public key (PEM) for `--trust-key`. */
  trustKey: string;
}

const root = path.join(import.meta.dirname, '../../..');
const buildLimit = 900;

/** Runs bke with the journal of the build beside the bundle, not among those of this machine's own bke. Arguments: folder, then the words. */
const runBke = `import { main } from ${JSON.stringify(pathToFileURL(path.join(root, 'src/cli/main.ts')).href)};
const [operationsDirectory, ...words] = process.argv.slice(1);
process.exitCode = await main(words, { operationsDirectory });`;

/** Folders whose code decides what a bundle looks like. */
const bundleCode = ['src/release', 'src/commands/bundle'];

/** The bundle out of the cache, or built: again when an artifact or the code that builds it changed. */
export async function makeRelease(size: ReleaseSize, options: ReleaseOptions = {}): Promise<Release> {
  const manifest = await releaseManifest(size, options);
  const keys = await signingKeys();
  const entry = {
    kind: 'bundles',
    name: options.k3s === undefined ? size : `${size}-k3s`,
    recipe: {
      manifest: await readFile(manifest, 'utf8'),
      code: await codeDigest(),
      key: await readFile(path.join(keys, 'key.pub'), 'utf8'),
    },
  };
  const dir = await cached(entry, async (draft) => {
    const output = path.join(draft, 'bundle.tar');
    const command = ['bundle', 'build', '-f', manifest, '-o', output, '--sign-key', path.join(keys, 'key.pem')];
    const program = [process.execPath, '--input-type=module', '-e', runBke, '--', path.join(draft, 'operations')];
    await run([...program, ...command], { timeout: buildLimit });
    await removeUnused(entry, draft);
  });
  return { manifest, bundle: path.join(dir, 'bundle.tar'), trustKey: path.join(keys, 'key.pub') };
}

/** A signing key of this machine's own, made once. */
async function signingKeys(): Promise<string> {
  return cached({ kind: 'keys', name: 'bundle', recipe: { type: 'ed25519' } }, async (draft) => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    await writeFile(path.join(draft, 'key.pem'), pem, { mode: 0o600 });
    await writeFile(path.join(draft, 'key.pub'), publicKey.export({ type: 'spki', format: 'pem' }), { mode: 0o644 });
  });
}

async function codeDigest(): Promise<string> {
  const digest = createHash('sha256');
  for (const folder of bundleCode) {
    const names = await readdir(path.join(root, folder), { recursive: true });
    for (const name of names.filter((file) => file.endsWith('.ts')).sort()) {
      digest.update(name).update(await readFile(path.join(root, folder, name)));
    }
  }
  return digest.digest('hex');
}
