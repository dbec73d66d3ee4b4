// Image names: registry/repository:tag@digest, taken apart once.
import { BkeError } from '../../lib/errors.ts';
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
  const [beforeDigest = '', digest, ...rest] = text.split('@');
  const slash = beforeDigest.indexOf('/');
  const registry = beforeDigest.slice(0, Math.max(0, slash));
  const path = beforeDigest.slice(slash + 1);
  const colon = path.lastIndexOf(':');
  const repository = colon === -1 ? path : path.slice(0, colon);
  const tag = colon === -1 ? undefined : path.slice(colon + 1);
  const problem =
    rest.length > 0 || (digest !== undefined && !isDigest(digest))
      ? 'the digest must be sha256: and 64 hex digits'
      : !/[.:]|^localhost$/.test(registry) || !registryForm.test(registry)
        ? 'it must begin with its registry, e.g. docker.io/library/nginx:1.29'
        : !repositoryForm.test(repository)
          ? `${JSON.stringify(repository)} is no repository name`
          : tag !== undefined && !tagForm.test(tag)
            ? `${JSON.stringify(tag)} is no tag`
            : tag === undefined && digest === undefined
              ? 'a tag or digest is missing'
              : undefined;
  if (problem !== undefined)
    throw new BkeError('BKE_IMAGE_REFERENCE', `${JSON.stringify(text)} is no full image name: ${problem}`);
  return { registry, repository, tag, digest: digest !== undefined && isDigest(digest) ? digest : undefined };
}

/** What comes after the repository in a registry's URL: the digest where there is one, else the tag. */
export function manifestReference(reference: ImageReference): string {
  return reference.digest ?? reference.tag ?? 'latest';
}

/** Where an image lies in the site's own registry: the source registry is the first folder; its port is set off by an underscore, since a repository can't hold a colon. */
export function localRepository(reference: ImageReference): string {
  return `${reference.registry.toLowerCase().replaceAll(/[[\]]/g, '').replaceAll(':', '_')}/${reference.repository}`;
}
