// What is around hosts: their clusters, the settings of the site, the releases; watched, and looked up from what was seen.
import { coreVersion, hostLabels, infrastructureVersion } from '../../cluster/render/names.ts';
import { type Site, siteKey, siteOf } from '../../cluster/site.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { tryJson } from '../../lib/try-json.ts';
import { type Catalogue, catalogueSchema, compareVersions } from '../../release/catalogue.ts';
import { catalogueDataKey, catalogueLabel } from '../../tasks/cluster-api/release-object.ts';
import type { Informers, ObjectView } from '../informers.ts';
import { isPaused } from './host.ts';
import type { ClusterNeeds } from './needs.ts';

export interface AroundOptions {
  readonly namespace: string | undefined;
  /** Told of a cluster whose hosts are to be looked at again; undefined: all hosts. */
  readonly onChange: (cluster: { readonly namespace: string | undefined; readonly name: string } | undefined) => void;
}

const { name: siteName, ...siteKind } = siteKey;

export class Around {
  readonly #clusters: ObjectView;
  readonly #bkeClusters: ObjectView;
  readonly #site: ObjectView;
  readonly #catalogues: ObjectView;
  readonly #parsed = new WeakMap<KubeObject, Catalogue>();
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
    this.#site = informers.watch({ ...siteKind, fieldSelector: `metadata.name=${siteName}` }, () =>
      onChange(undefined),
    );
    this.#catalogues = informers.watch({ ...siteKind, labelSelector: catalogueLabel }, () => onChange(undefined));
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
    const object = this.#site.get(siteName, siteKey.namespace);
    const site = object === undefined ? 'it is not there' : siteOf(object);
    if (typeof site !== 'string') return site;
    throw new BkeError('BKE_SITE_UNKNOWN', `the ConfigMap ${siteKey.namespace}/${siteName} cannot be used: ${site}`, {
      hint: 'Run `bke init` again on the bootstrap node: it puts the settings of the site back.',
    });
  }

  catalogues(): Catalogue[] {
    return this.#catalogues.items().flatMap((object) => this.#catalogueOf(object) ?? []);
  }

  /** Large, and asked for often. */
  #catalogueOf(object: KubeObject): Catalogue | undefined {
    const known = this.#parsed.get(object);
    if (known !== undefined) return known;
    const { data } = catalogueSchema.safeParse(tryJson(textAt(object, 'data', catalogueDataKey) ?? ''));
    if (data !== undefined) this.#parsed.set(object, data);
    return data;
  }

  #ofHost(view: ObjectView, { metadata: { namespace, labels = {} } }: KubeObject): KubeObject | undefined {
    const name = labels[hostLabels.cluster];
    return name === undefined ? undefined : view.get(name, namespace);
  }
}

function isClusterPaused(cluster: KubeObject): boolean {
  return fieldAt(cluster, 'spec', 'paused') === true || isPaused(cluster);
}
