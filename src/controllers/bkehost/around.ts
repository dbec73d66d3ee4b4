// What is around hosts: their clusters, the settings of the site, the releases; watched, and looked up from what was seen.
import { coreVersion, hostLabels, infrastructureVersion } from '../../cluster/render/names.ts';
import type { Site } from '../../cluster/site.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt } from '../../kube/fields.ts';
import { type Catalogue, compareVersions } from '../../release/catalogue.ts';
import type { Informers, ObjectView } from '../informers.ts';
import { SiteView } from '../site-view.ts';
import { isPaused } from './host.ts';
import type { ClusterNeeds } from './needs.ts';

export interface AroundOptions {
  readonly namespace: string | undefined;
  /** Told of a cluster whose hosts are to be looked at again; undefined: all hosts. */
  readonly onChange: (cluster: { readonly namespace: string | undefined; readonly name: string } | undefined) => void;
}

export class Around {
  readonly #clusters: ObjectView;
  readonly #bkeClusters: ObjectView;
  readonly #site: SiteView;
  /** What was last seen of each cluster that matters to hosts. */
  readonly #seen = new Map<string, string>();

  constructor(informers: Informers, { namespace, onChange }: AroundOptions) {
    const scope = namespace === undefined ? {} : { namespace };
    const told = (object: KubeObject, there: boolean, what: string): void => {
      const { kind, metadata } = object;
      const key = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
      const now = there ? what : 'gone';
      if (this.#seen.get(key) === now) return;
      this.#seen.set(key, now);
      onChange({ namespace: metadata.namespace, name: metadata.name });
    };
    this.#clusters = informers.watch({ apiVersion: coreVersion, kind: 'Cluster', ...scope }, (object, there) =>
      told(object, there, String(isClusterPaused(object))),
    );
    this.#bkeClusters = informers.watch(
      { apiVersion: infrastructureVersion, kind: 'BKECluster', ...scope },
      (object, there) => told(object, there, String(object.metadata.generation)),
    );
    this.#site = new SiteView(informers, () => onChange(undefined));
  }

  /** Cluster API leaves a paused cluster alone, and so are its hosts. */
  isClusterPaused(host: KubeObject): boolean {
    const cluster = this.#ofHost(this.#clusters, host);
    return cluster !== undefined && isClusterPaused(cluster);
  }

  clusterNeeds(host: KubeObject): ClusterNeeds | undefined {
    const bkeCluster = this.#ofHost(this.#bkeClusters, host);
    const versions = this.catalogues().flatMap(({ kubernetesVersions }) => kubernetesVersions);
    const [newest] = versions.toSorted((a, b) => compareVersions(b, a));
    return bkeCluster === undefined || newest === undefined ? undefined : { bkeCluster, kubernetesVersion: newest };
  }

  /** @throws BkeError BKE_SITE_UNKNOWN */
  site(): Site {
    return this.#site.site();
  }

  catalogues(): Catalogue[] {
    return this.#site.catalogues();
  }

  #ofHost(view: ObjectView, { metadata: { namespace, labels = {} } }: KubeObject): KubeObject | undefined {
    const name = labels[hostLabels.cluster];
    return name === undefined ? undefined : view.get(name, namespace);
  }
}

/** Cluster API leaves it alone, and so does bke. */
export function isClusterPaused(cluster: KubeObject): boolean {
  return fieldAt(cluster, 'spec', 'paused') === true || isPaused(cluster);
}
