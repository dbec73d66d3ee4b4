// Which release in the management cluster makes a cluster: the version must be in one, and tags of images come from it.
import type { ImageTags } from '../../cluster/render/kubeadm.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { listed } from '../../lib/text.ts';
import { tryJson } from '../../lib/try-json.ts';
import { type Catalogue, catalogueSchema, findImages, tagOf } from '../../release/catalogue.ts';
import { platforms } from '../../release/platforms.ts';
import { catalogueDataKey, catalogueLabel } from '../../tasks/cluster-api/release-object.ts';

export async function readCatalogues(client: Pick<KubeClient, 'list'>): Promise<Catalogue[]> {
  const { items } = await client.list(
    { apiVersion: 'v1', kind: 'ConfigMap' },
    { namespace: 'bke-system', labelSelector: catalogueLabel },
  );
  return items.flatMap((object) => catalogueOf(object) ?? []);
}

function catalogueOf(object: KubeObject): Catalogue | undefined {
  return catalogueSchema.safeParse(tryJson(textAt(object, 'data', catalogueDataKey) ?? '')).data;
}

/** @throws BkeError BKE_ARTIFACT_MISSING with the versions that there are */
export function imagesOf(
  { kubernetesVersion }: Pick<ClusterConfig, 'kubernetesVersion'>,
  catalogues: readonly Catalogue[],
): ImageTags {
  const release = catalogues.find(({ kubernetesVersions }) => kubernetesVersions.includes(kubernetesVersion));
  if (release === undefined) {
    const versions = [...new Set(catalogues.flatMap(({ kubernetesVersions }) => kubernetesVersions))];
    const there = versions.length === 0 ? 'no version at all' : listed(versions.toSorted());
    throw new BkeError(
      'BKE_ARTIFACT_MISSING',
      `no release of this site has Kubernetes ${kubernetesVersion}: there is ${there}`,
      {
        hint: "Name one of those in spec.kubernetesVersion, or load a bundle that has it: 'bke init --bundle FILE'.",
      },
    );
  }
  const etcd = newestTag(release, 'registry.k8s.io/etcd');
  const coredns = newestTag(release, 'registry.k8s.io/coredns/coredns');
  return { ...(etcd === undefined ? {} : { etcd }), ...(coredns === undefined ? {} : { coredns }) };
}

function newestTag(release: Catalogue, repository: string): string | undefined {
  const [newest] = platforms.flatMap((platform) => findImages(release, { repository, platform }));
  return newest === undefined ? undefined : tagOf(newest.ref);
}
