// The catalogue of a release in the cluster: one ConfigMap per release, from which controllers resolve versions. Its content never changes.
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { keyOf } from '../../kube/fields.ts';
import { digestOf, hexOf } from '../../lib/digest.ts';
import { BkeError } from '../../lib/errors.ts';
import type { Catalogue } from '../../release/catalogue.ts';
import { fieldManager } from '../field-manager.ts';
import { systemNamespace } from './providers.ts';

/** Label of the catalogues of all releases; its value is empty. */
export const catalogueLabel = 'bke.io/catalogue';
const digestAnnotation = 'bke.io/content-digest';
export const catalogueDataKey = 'catalogue.json';
/** Of a ConfigMap's keys and values together. */
const mostBytes = 1024 * 1024;
const longestName = 253;

/**
 * Immutable, with the digest of its content as annotation.
 * @throws BkeError BKE_CATALOGUE_TOO_LARGE
 */
export function releaseObject(catalogue: Catalogue): KubeObject {
  const text = JSON.stringify(catalogue);
  const size = Buffer.byteLength(text) + catalogueDataKey.length;
  if (size > mostBytes) {
    throw new BkeError(
      'BKE_CATALOGUE_TOO_LARGE',
      `the catalogue of release ${catalogue.name} ${catalogue.version} has ${size} bytes; ${mostBytes} fit into the cluster`,
    );
  }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: releaseObjectName(catalogue),
      namespace: systemNamespace,
      labels: { [catalogueLabel]: '' },
      annotations: { [digestAnnotation]: digestOf(text) },
    },
    immutable: true,
    data: { [catalogueDataKey]: text },
  };
}

/** What of name and version no DNS name can have becomes a hyphen; a digest of both keeps apart what then looks the same. */
export function releaseObjectName({ name, version }: Pick<Catalogue, 'name' | 'version'>): string {
  const digest = hexOf(digestOf(JSON.stringify([name, version]))).slice(0, 8);
  const safe = `release-${name}-${version}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/-*\.[.-]*/g, '.')
    .slice(0, longestName - digest.length - 1)
    .replace(/[.-]+$/, '');
  return `${safe}-${digest}`;
}

/** Whether the cluster has any. */
export async function hasReleases(client: Pick<KubeClient, 'list'>): Promise<boolean> {
  const options = { namespace: systemNamespace, labelSelector: catalogueLabel };
  return (await client.list({ apiVersion: 'v1', kind: 'ConfigMap' }, options)).items.length > 0;
}

/** Whether the cluster has exactly this one. */
export async function hasRelease(client: Pick<KubeClient, 'get'>, object: KubeObject): Promise<boolean> {
  const found = await client.get(keyOf(object));
  return found !== undefined && found['immutable'] === true && isDeepStrictEqual(found['data'], object['data']);
}

/** The content of a ConfigMap of that kind cannot be changed: where a release was built again with other content, a new one takes its place. */
export async function putRelease(
  client: Pick<KubeClient, 'get' | 'delete' | 'apply'>,
  object: KubeObject,
): Promise<void> {
  const found = await client.get(keyOf(object));
  const { uid } = found?.metadata ?? {};
  if (found !== undefined) await client.delete(keyOf(object), uid === undefined ? {} : { uid });
  await client.apply(object, { fieldManager, force: true });
}
