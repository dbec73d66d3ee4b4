// Manifests of a release: fetched from the site's file repository, by digest, and kept as long as this process lives.
import type { Site } from '../../cluster/site.ts';
import { hostPort } from '../../lib/address.ts';
import { digestOf, isDigest } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import { type Catalogue, type FileArtifact, findFile } from '../../release/catalogue.ts';
import { platforms } from '../../release/platforms.ts';
import { createAgent } from '../../release/oci/http.ts';
import { urlBlob } from '../../release/sources/url.ts';

/** Larger ones are no manifests: objects of a cluster have a bound themselves. */
const mostBytes = 8 * 1024 * 1024;
const timeoutMs = 60_000;
const mostKept = 64;

/** The newest that any loaded release has, or the one of that version: the same for every platform. */
export function findManifest(
  catalogues: readonly Catalogue[],
  { name, version }: { readonly name: string; readonly version?: string | undefined },
): FileArtifact | undefined {
  const files = catalogues.flatMap((catalogue) => catalogue.files).filter(({ type }) => type === 'manifest');
  const found = platforms.map((platform) =>
    findFile({ files }, { name, platform, ...(version === undefined ? {} : { version }) }),
  );
  return found.find((artifact) => artifact !== undefined);
}

export class Manifests {
  readonly #texts = new Map<string, string>();

  /** @throws BkeError BKE_DOWNLOAD_FAILED, BKE_DIGEST_MISMATCH, BKE_ARTIFACT_UNUSABLE */
  async text(artifact: FileArtifact, site: Site, signal: AbortSignal): Promise<string> {
    const known = this.#texts.get(artifact.digest);
    if (known !== undefined) return known;
    const text = await fetchText(artifact, site, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    if (this.#texts.size >= mostKept) this.#texts.clear();
    this.#texts.set(artifact.digest, text);
    return text;
  }
}

/** By the address of the site: a pod has no entry for its name. */
async function fetchText({ name, digest, path }: FileArtifact, site: Site, signal: AbortSignal): Promise<string> {
  if (!isDigest(digest)) throw new Error(`${name} has no digest in the catalogue`);
  const agent = createAgent({ ca: [site.ca], proxyEnv: undefined });
  const url = `https://${hostPort(site.hostIP, site.ports.files)}/${path}`;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of urlBlob({ url, digest, agent, signal }).fetch(0)) {
      size += chunk.length;
      if (size > mostBytes) throw new BkeError('BKE_ARTIFACT_UNUSABLE', `${url} has more than ${mostBytes} bytes`);
      chunks.push(chunk);
    }
  } finally {
    agent.destroy();
  }
  const bytes = Buffer.concat(chunks);
  const actual = digestOf(bytes);
  if (actual === digest) return bytes.toString('utf8');
  throw new BkeError('BKE_DIGEST_MISMATCH', `${url} should be ${digest} but is ${actual}`, {
    hint: 'Load the bundle again on the bootstrap node: bke init --bundle FILE.',
  });
}
