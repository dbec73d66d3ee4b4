// The work of installing the management, piece by piece; each looks first and says whether it changed anything.
import { type Site, siteObject } from '../../cluster/site.ts';
import type { Host } from '../../host/host.ts';
import { applyAll } from '../../kube/apply.ts';
import type { KubeClient, KubeObject, ListOptions, ObjectKey, ResourceKind } from '../../kube/client.ts';
import { pendingOf } from '../../kube/pending.ts';
import { fieldManager } from '../field-manager.ts';
import { connectionByKubeconfig } from '../kubeconfig.ts';
import type { TaskScope } from '../task.ts';
import { clustersNamespaceObjects } from './clusters-namespace.ts';
import { type CertificateOptions, reconcileCertificates } from './certificates.ts';
import {
  type Components,
  type ComponentSource,
  loadComponents,
  type ProviderComponents,
  renderComponents,
} from './components.ts';
import { inventoryObject } from './inventory.ts';
import { ensureManagementCa, hasManagementCa, readManagementCa } from './management-ca.ts';
import { clustersNamespace, type Provider } from './providers.ts';
import { hasRelease, putRelease, releaseObject } from './release-object.ts';
import { toBase64 } from './tls-secret.ts';

/** What hosts are told of the site. */
export interface SitePlan extends Omit<Site, 'ca' | 'serverCa'> {
  /** PEM of the site CA, as an earlier step made it; asked while a step runs. */
  readonly ca: () => string;
}

export interface InstallationPlan extends ComponentSource {
  /** Path of the administrator's kubeconfig on this host. */
  readonly kubeconfig: string;
  readonly site: SitePlan;
  readonly now: () => Date;
}

const siteWords = 'the settings of the site';

/** `client` is undefined in a dry run where there is no cluster yet. */
export interface Work {
  readonly scope: TaskScope;
  readonly client: KubeClient | undefined;
}

export class Installation {
  readonly #plan: InstallationPlan;
  #components: Promise<Components> | undefined;
  #rendered: Promise<readonly ProviderComponents[]> | undefined;

  constructor(plan: InstallationPlan) {
    this.#plan = plan;
  }

  /** Of all providers, and the one for clusters; the providers' own as their manifests have them. */
  async namespaces(work: Work): Promise<void> {
    const components = await this.#load(work.scope.host);
    // Without a CA, which comes later: a Namespace has none.
    const all = renderComponents(components, this.#plan, '').flatMap(({ objects }) => objects);
    const namespaces = all.filter(({ kind }) => kind === 'Namespace');
    await applyObjects(work, 'namespaces', [...namespaces, ...clustersNamespaceObjects(clustersNamespace)]);
  }

  async certificates({ scope, client }: Work): Promise<void> {
    const options = { now: this.#plan.now(), warn: (message: string) => scope.warn(message) };
    const what = 'make the management CA and the certificates of the webhooks';
    if (scope.dryRun) {
      const pending = client === undefined ? [what] : await pendingCertificates(client, options);
      for (const line of pending) await scope.act(line, async () => true);
      return;
    }
    const connected = needed(client);
    await scope.act(what, async () => {
      const made = await ensureManagementCa(connected, options);
      const changed = await reconcileCertificates(connected, options);
      for (const message of changed) scope.progress({ message });
      return made || changed.length > 0;
    });
  }

  async inventory(work: Work): Promise<void> {
    const { inventory } = await this.#load(work.scope.host);
    await applyObjects(work, "the definition of clusterctl's inventory", inventory);
  }

  async catalogue({ scope, client }: Work): Promise<void> {
    const { catalogue } = this.#plan;
    const object = releaseObject(catalogue);
    if (client !== undefined && (await hasRelease(client, object))) return;
    const what = `put the catalogue of ${catalogue.name} ${catalogue.version} into the cluster`;
    await scope.act(what, () => putRelease(needed(client), object));
  }

  async site(work: Work): Promise<void> {
    const { scope, client } = work;
    if (scope.dryRun && client === undefined) {
      await scope.act(`apply ${siteWords}`, async () => true);
      return;
    }
    const { kubeconfig, site } = this.#plan;
    const { ca = [] } = await connectionByKubeconfig(scope.host, kubeconfig);
    await applyObjects(work, siteWords, [siteObject({ ...site, ca: site.ca(), serverCa: ca.join('\n') })]);
  }

  /** With its entry in the inventory. */
  async provider(work: Work, provider: Provider): Promise<void> {
    const { version, objects } = await this.#renderedOf(work, provider);
    await applyObjects(work, `${provider.title} ${version}`, [...objects, inventoryObject(provider, version)]);
  }

  async #load(host: Pick<Host, 'files'>): Promise<Components> {
    this.#components ??= loadComponents(host, this.#plan);
    return this.#components;
  }

  async #renderedOf({ scope, client }: Work, provider: Provider): Promise<ProviderComponents> {
    this.#rendered ??= this.#render(scope, client);
    const found = (await this.#rendered).find((one) => one.provider === provider);
    if (found === undefined) throw new Error(`no components of ${provider.name}`);
    return found;
  }

  async #render(scope: TaskScope, client: KubeClient | undefined): Promise<readonly ProviderComponents[]> {
    const components = await this.#load(scope.host);
    return renderComponents(components, this.#plan, await this.#caBundle(scope, client));
  }

  /** A dry run may come before there is a CA; whatever would have it is new then anyway. */
  async #caBundle(scope: TaskScope, client: KubeClient | undefined): Promise<string> {
    if (scope.dryRun && (client === undefined || !(await hasManagementCa(client)))) return '';
    const { certificate } = await readManagementCa(needed(client), { now: this.#plan.now() });
    return toBase64(certificate);
  }
}

function needed(client: KubeClient | undefined): KubeClient {
  if (client === undefined) throw new Error('only a dry run does without a cluster');
  return client;
}

/** Nothing is said where all is as it should be. */
async function applyObjects({ scope, client }: Work, what: string, objects: readonly KubeObject[]): Promise<void> {
  if (!scope.dryRun) {
    await scope.act(`apply ${what}`, () => changesAnything(scope, needed(client), objects));
    return;
  }
  const pending = client === undefined ? objects : await pendingOf(client, objects, fieldManager);
  if (pending.length > 0) await scope.act(`apply ${what}: ${namesOf(pending)}`, async () => true);
}

async function changesAnything(scope: TaskScope, client: KubeClient, objects: readonly KubeObject[]): Promise<boolean> {
  const { signal } = scope;
  const onWait = (message: string): void => scope.progress({ message });
  // These objects are bke's alone: what somebody else changed in them is put back.
  const applied = await applyAll(client, objects, { fieldManager, signal, onWait, force: true });
  return applied.some(({ outcome }) => outcome !== 'unchanged');
}

function namesOf(objects: readonly KubeObject[]): string {
  const shown = objects.slice(0, 3).map(({ kind, metadata: { name } }) => `${kind} ${name}`);
  const more = objects.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** What reconcileCertificates would do: the same, with a client that writes nothing. */
async function pendingCertificates(client: KubeClient, options: CertificateOptions): Promise<readonly string[]> {
  if (!(await hasManagementCa(client))) return ['make the management CA and the certificates of the webhooks'];
  const reader = {
    get: (key: ObjectKey) => client.get(key),
    list: (kind: ResourceKind, list?: ListOptions) => client.list(kind, list),
    apply: async (object: KubeObject) => object,
    patch: async ({ apiVersion, kind, name }: ObjectKey) => ({ apiVersion, kind, metadata: { name } }),
  };
  return reconcileCertificates(reader, options);
}
