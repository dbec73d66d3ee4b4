// The settings of the site and the releases that it has, watched.
import { type Site, siteKey, siteOf } from '../cluster/site.ts';
import type { KubeObject } from '../kube/client.ts';
import { textAt } from '../kube/fields.ts';
import { BkeError } from '../lib/errors.ts';
import { tryJson } from '../lib/try-json.ts';
import { type Catalogue, catalogueSchema } from '../release/catalogue.ts';
import { catalogueDataKey, catalogueLabel } from '../tasks/cluster-api/release-object.ts';
import type { Informers, ObjectView } from './informers.ts';

const { name: siteName, ...siteKind } = siteKey;

export class SiteView {
  readonly #site: ObjectView;
  readonly #catalogues: ObjectView;
  readonly #parsed = new WeakMap<KubeObject, Catalogue>();

  constructor(informers: Informers, onChange: () => void) {
    this.#site = informers.watch({ ...siteKind, fieldSelector: `metadata.name=${siteName}` }, onChange);
    this.#catalogues = informers.watch({ ...siteKind, labelSelector: catalogueLabel }, onChange);
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
}
