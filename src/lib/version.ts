// The version of this bke: put in by the build, or read from package.json when run from source.
declare const BKE_VERSION: string | undefined;

/** e.g. 0.1.0 */
export async function bkeVersion(): Promise<string> {
  if (typeof BKE_VERSION === 'string') return BKE_VERSION;
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  const { version }: { version: string } = JSON.parse(text);
  return version;
}
