// bke's own image, made of the built binary as scripts/build-image.ts makes it.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { bkeImage, bkeImageRef } from '../../../scripts/image/bke-image.ts';
import { type ImageContent, writeLayout } from '../../../scripts/image/layout.ts';
import type { BuildOptions } from '../builds/build.ts';
import { cached, removeUnused } from '../cache.ts';
import { exists } from '../files.ts';
import { TestbedError } from '../run.ts';
import type { Image } from './table.ts';

const root = path.join(import.meta.dirname, '../../..');

/** The built bke. */
export async function ownBinary({ arch = 'amd64' }: BuildOptions): Promise<{ file: string; version: string }> {
  const file = path.join(root, `dist/bke-linux-${arch}`);
  if (!(await exists(file))) throw new TestbedError(`${file} is not there: npm run build`);
  const { version }: { version: string } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  return { file, version };
}

/** Made again when the binary or a library of it changed. */
export async function ownImage({ arch = 'amd64' }: BuildOptions = {}): Promise<Image> {
  const { file: binary, version } = await ownBinary({ arch });
  const ref = bkeImageRef(version);
  const content = await bkeImage(binary, arch);
  const entry = { kind: 'images', name: `bke-${arch}`, recipe: { ref, content: await contentDigest(content) } };
  const layout = await cached(entry, async (dir) => {
    await writeLayout(ref, { [arch]: content }, dir);
    await removeUnused(entry, dir);
  });
  return { ref, layout };
}

/** The files' content, not only their paths. */
async function contentDigest(content: ImageContent): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify(content));
  for (const entry of content.layers.flat()) {
    if (entry.type === 'file') for await (const chunk of createReadStream(entry.source)) digest.update(chunk);
  }
  return digest.digest('hex');
}
