// Image names: registry/repository:tag@digest, taken apart once.
import { BkeError } from '../../lib/errors.ts';
import { quoted } from '../../lib/text.ts';
import { type Digest, isDigest } from '../../lib/digest.ts';

export interface ImageReference {
  /** Host and port as written, e.g. registry.k8s.io or localhost:5000. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string | undefined;
  readonly digest: Digest | undefined;
}

const repositoryForm = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagForm = /^\w[\w.-]{0,127}$/;
const registryForm = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;

/**
 * The full name only: which registry a short name like `nginx` means depends on who reads it.
 * @throws BkeError BKE_IMAGE_REFERENCE
 */
export function parseReference(text: string): ImageReference {
  const parts = /^(?<registry>[^/@]*)\/(?<repository>[^@:]*)(?::(?<tag>[^@:]*))?(?:@(?<digest>.*))?$/s.exec(
    text,
  )?.groups;
  const { registry = '', repository = '', tag, digest } = parts ?? {};
  const problem = registryProblem(registry) ?? repositoryProblem(repository) ?? suffixProblem(tag, digest);
  if (problem !== undefined) {
    throw new BkeError('BKE_IMAGE_REFERENCE', `${quoted(text)} is no full image name: ${problem}`);
  }
  return { registry, repository, tag, digest: digest !== undefined && isDigest(digest) ? digest : undefined };
}

function registryProblem(registry: string): string | undefined {
  // The rule of all container tools: a first part without dot, colon or `localhost` is no registry but a folder of Docker Hub.
  if (/[.:]|^localhost$/.test(registry) && registryForm.test(registry)) return undefined;
  return 'it must begin with its registry, e.g. docker.io/library/nginx:1.29';
}

function repositoryProblem(repository: string): string | undefined {
  return repositoryForm.test(repository) ? undefined : `${quoted(repository)} is no repository name`;
}

function suffixProblem(tag: string | undefined, digest: string | undefined): string | undefined {
  if (tag !== undefined && !tagForm.test(tag)) return `${quoted(tag)} is no tag`;
  if (digest !== undefined && !isDigest(digest)) return 'its digest must be sha256: and 64 hex digits';
  return tag === undefined && digest === undefined ? 'a tag or digest is missing' : undefined;
}

/** What comes after the repository in a registry's URL: the digest where there is one, else the tag. */
export function manifestReference(reference: ImageReference): string {
  return reference.digest ?? reference.tag ?? 'latest';
}

/** The folder of a source registry in the site's own one; its port is set off by an underscore, since a repository can't hold a colon. */
export function localFolder(registry: string): string {
  return registry.toLowerCase().replaceAll(/[[\]]/g, '').replaceAll(':', '_');
}

/** Where an image lies in the site's own registry: the source registry is the first folder. */
export function localRepository(reference: ImageReference): string {
  return `${localFolder(reference.registry)}/${reference.repository}`;
}
