// Lays built binaries out as a download server has them: <out>/latest, <out>/download.sh, <out>/v<version>/{bke-linux-<arch>, sha256sums.txt, download.sh, NOTICE}.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, link, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

export interface ReleaseInput {
  /** Has bke-linux-<arch> and NOTICE. */
  readonly dist: string;
  readonly out: string;
  /** 0.1.0 */
  readonly version: string;
  /** Of the server, for the copies of download.sh; without it they ask for BKE_DOWNLOAD_URL. */
  readonly url?: string | undefined;
}

/** @returns the folder of the version. @throws Error where no binary is built or the address is none. */
export async function writeRelease({ dist, out, version, url = '' }: ReleaseInput): Promise<string> {
  // It goes into a shell script, in single quotes.
  if (url !== '' && !/^https:\/\/[\w.:/[\]~%-]+$/.test(url)) throw new Error(`${url} is no https address`);
  const binaries = (await readdir(dist)).filter((name) => /^bke-linux-(?:amd64|arm64)$/.test(name)).sort();
  if (binaries.length === 0) throw new Error(`${dist} has no binary: npm run build`);
  const folder = join(out, `v${version}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const sums: string[] = [];
  for (const name of binaries) {
    await place(join(dist, name), join(folder, name));
    sums.push(`${await sha256(join(folder, name))}  ${name}\n`);
  }
  await copyFile(join(dist, 'NOTICE'), join(folder, 'NOTICE'));
  await write(join(folder, 'sha256sums.txt'), sums.join(''), 0o644);
  const script = await readFile(join(import.meta.dirname, 'download.sh'), 'utf8');
  await write(join(folder, 'download.sh'), filledIn(script, url, `v${version}`), 0o755);
  await write(join(out, 'download.sh'), filledIn(script, url, ''), 0o755);
  // Last: who reads it finds all of that version.
  await write(join(out, 'latest'), `v${version}\n`, 0o644);
  return folder;
}

function filledIn(script: string, url: string, version: string): string {
  return script
    .replace("default_url=''", `default_url='${url}'`)
    .replace("default_version=''", `default_version='${version}'`);
}

/** A hard link where the file system has them: the binaries are large. */
async function place(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function write(path: string, text: string, mode: number): Promise<void> {
  await writeFile(`${path}.new`, text);
  await chmod(`${path}.new`, mode);
  await rename(`${path}.new`, path);
}
