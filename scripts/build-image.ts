// Builds dist/image: an OCI image layout of bke's own image out of dist/bke-linux-<arch>, for every architecture or those that are named.
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { bkeImage, bkeImageRef, hasLibraries } from './image/bke-image.ts';
import { type Arch, type ImageContent, writeLayout } from './image/layout.ts';

const root = join(import.meta.dirname, '..');
const output = join(root, 'dist/image');

/** All that can be made here; an architecture that was asked for by name must be possible. */
async function contents(wanted: readonly string[]): Promise<Partial<Record<Arch, ImageContent>>> {
  const made: Partial<Record<Arch, ImageContent>> = {};
  for (const arch of ['amd64', 'arm64'] as const) {
    if (wanted.length > 0 && !wanted.includes(arch)) continue;
    const problem = await whyNot(arch);
    if (problem === undefined) made[arch] = await bkeImage(join(root, `dist/bke-linux-${arch}`), arch);
    else if (wanted.length > 0) throw new Error(problem);
    else console.error(`note: no image for ${arch}: ${problem}`);
  }
  return made;
}

async function whyNot(arch: Arch): Promise<string | undefined> {
  if (!(await stat(join(root, `dist/bke-linux-${arch}`)).catch(() => undefined)))
    return `dist/bke-linux-${arch} is not there: npm run build -- ${arch}`;
  if (!(await hasLibraries(arch)))
    return `the libraries of ${arch} are not there: apt-get install libstdc++6-${arch}-cross libc6-${arch}-cross`;
  return undefined;
}

const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const variants = await contents(process.argv.slice(2));
const draft = `${output}.new`;
await rm(draft, { recursive: true, force: true });
await writeLayout(bkeImageRef(version), variants, draft);
await rm(output, { recursive: true, force: true });
await rename(draft, output);
console.log(`${output} (${bkeImageRef(version)}: ${Object.keys(variants).join(', ')})`);
