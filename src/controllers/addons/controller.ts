// Gives clusters their network as soon as their control plane is there, before any node can be ready, and then what else they ask for.
import { flannelObjects } from '../../cluster/cni/flannel.ts';
import { applyAll } from '../../kube/apply.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, numberAt, textAt } from '../../kube/fields.ts';
import { parseManifests } from '../../kube/manifests.ts';
import { pendingOf } from '../../kube/pending.ts';
import { appliedTrouble } from '../../kube/readiness.ts';
import { BkeError, toErrorReport } from '../../lib/errors.ts';
import type { FileArtifact } from '../../release/catalogue.ts';
import { isClusterPaused } from '../bkehost/around.ts';
import { isPaused, keyText, nameOf, objectName } from '../bkehost/host.ts';
import { machineAnnotations } from '../bkemachine/marks.ts';
import {
  bkeClusterKind,
  bkeMachineKind,
  clusterKind,
  clusterNameOf,
  isControlPlane,
  isInitialized,
  keyIn,
  ownerNameOf,
  referredName,
} from '../cluster-objects.ts';
import { no, storedConditions, unknown, type Verdict, yes } from '../conditions.ts';
import type { Controller, ControllerContext, ReconcileResult, ReconcileScope } from '../controller.ts';
import type { Informers, ObjectView } from '../informers.ts';
import { putStatus } from '../object-status.ts';
import { SiteView } from '../site-view.ts';
import { WorkloadClients, type Workloads } from '../workload.ts';
import { findManifest, Manifests } from './manifests.ts';
import { keptStatus } from './kept.ts';
import { namespacesOf } from './namespaces.ts';
import { type AddonStatus, type PlannedAddon, plannedAddons } from './plan.ts';

export type AddonClient = Pick<KubeClient, 'get' | 'apply'>;

export interface AddonSources {
  readonly workloads: Workloads;
  readonly manifests: Pick<Manifests, 'text'>;
}

const fieldManager = 'bke-controller-addons';
const concurrency = 8;
const waitMs = 2000;
const failedMs = 10_000;
/** What is applied is looked at again: somebody may have taken it away. */
const settledMs = 300_000;
const applyMs = 60_000;
/** As its definition allows. */
const longestMessage = 4096;

export function addonsController(
  client: AddonClient,
  context: ControllerContext,
  sources: AddonSources = { workloads: new WorkloadClients(client, context), manifests: new Manifests() },
): Controller {
  let addons: AddonReconciler | undefined;
  return {
    name: 'addons',
    concurrency,
    watch: (informers, enqueue) => {
      addons = new AddonReconciler({ client, context, sources, informers, enqueue });
    },
    reconcile: async (key, scope) => (await addons?.reconcile(key, scope)) ?? {},
  };
}

interface Parts {
  readonly client: AddonClient;
  readonly context: ControllerContext;
  readonly sources: AddonSources;
  readonly informers: Informers;
  readonly enqueue: (key: string) => void;
}

interface Target {
  readonly workload: KubeClient;
  readonly cluster: KubeObject;
  readonly bkeCluster: KubeObject;
  readonly scope: ReconcileScope;
}

class AddonReconciler {
  readonly #parts: Parts;
  readonly #clusters: ObjectView;
  readonly #machines: ObjectView;
  readonly #site: SiteView;

  constructor(parts: Parts) {
    const { informers, context, enqueue } = parts;
    this.#parts = parts;
    const scope = context.namespace === undefined ? {} : { namespace: context.namespace };
    const bkeClusters = informers.watch({ ...bkeClusterKind, ...scope }, (object) =>
      enqueue(keyText(objectName(object))),
    );
    this.#clusters = informers.watch({ ...clusterKind, ...scope }, (cluster) => this.#tell(cluster));
    this.#machines = informers.watch({ ...bkeMachineKind, ...scope }, (machine) => {
      const name = clusterNameOf(machine);
      const cluster = name === undefined ? undefined : this.#clusters.get(name, machine.metadata.namespace);
      if (cluster !== undefined && isBootstrapped(machine)) this.#tell(cluster);
    });
    this.#site = new SiteView(informers, () => {
      for (const object of bkeClusters.items()) enqueue(keyText(objectName(object)));
    });
  }

  async reconcile(key: string, scope: ReconcileScope): Promise<ReconcileResult> {
    const { client, sources } = this.#parts;
    const { namespace, name } = nameOf(key);
    const object = await client.get(keyIn(namespace, bkeClusterKind, name));
    if (object === undefined) sources.workloads.forget({ namespace, name });
    const cluster = object && this.#clusterOf(object);
    if (object === undefined || cluster === undefined || isLeftAlone(object, cluster)) return {};
    if (plannedAddons(object).length === 0 || !this.#hasControlPlane(cluster)) return {};
    const workload = await sources.workloads.clientOf(objectName(cluster));
    if (workload === undefined) return { requeueAfterMs: waitMs };
    return this.#all({ workload, cluster, bkeCluster: object, scope });
  }

  async #all(target: Target): Promise<ReconcileResult> {
    const statuses: AddonStatus[] = [];
    let isUnseen = false;
    for (const addon of plannedAddons(target.bkeCluster)) {
      const now = await this.#one(addon, target);
      const kept = keptStatus(target.bkeCluster, addon, now);
      isUnseen ||= kept !== undefined;
      statuses.push(kept ?? now);
      // Pods of the others need it.
      if (addon.kind === 'network' && statuses[0]?.phase === 'Failed') break;
    }
    await this.#write(target.bkeCluster, statuses);
    if (isUnseen || statuses.some(({ phase }) => phase === 'Failed')) return { requeueAfterMs: failedMs };
    return { requeueAfterMs: statuses.every(({ phase }) => phase === 'Ready') ? settledMs : waitMs };
  }

  /** Initialized, or so the host of its first machine says: Cluster API itself looks every half minute only. */
  #hasControlPlane(cluster: KubeObject): boolean {
    if (isInitialized(cluster, 'controlPlaneInitialized')) return true;
    return this.#machines
      .items()
      .some(
        (machine) =>
          machine.metadata.namespace === cluster.metadata.namespace &&
          clusterNameOf(machine) === cluster.metadata.name &&
          isControlPlane(machine) &&
          isBootstrapped(machine),
      );
  }

  async #one(addon: PlannedAddon, target: Target): Promise<AddonStatus> {
    const { name } = addon;
    if (addon.kind === 'chart') return { name, phase: 'Failed', error: noCharts(name) };
    const artifact = findManifest(this.#site.catalogues(), addon);
    if (artifact === undefined) return { name, phase: 'Failed', error: missing(addon) };
    const told = { name, version: artifact.version };
    const { aside, signal } = target.scope;
    try {
      return { ...told, ...(await aside(() => this.#bring(addon, artifact, target))) };
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof BkeError)) throw thrown;
      const { code, message, details = [], hint } = toErrorReport(thrown);
      const words = [message, ...details].join('\n').slice(0, longestMessage);
      return { ...told, phase: 'Failed', error: { code, message: words, ...(hint === undefined ? {} : { hint }) } };
    }
  }

  /** Asks the site's file repository and the cluster itself: either may be dead. */
  async #bring(
    addon: PlannedAddon,
    artifact: FileArtifact,
    target: Target,
  ): Promise<Pick<AddonStatus, 'phase' | 'message' | 'namespaces'>> {
    const { workload, scope } = target;
    const objects = await this.#objects(addon, artifact, target);
    const pending = await pendingOf(workload, objects, fieldManager);
    if (pending.length > 0) {
      const { signal } = scope;
      await applyAll(workload, pending, { fieldManager, force: true, signal, timeoutMs: applyMs });
      await this.#told(target.bkeCluster, addon, artifact);
    }
    const namespaces = namespacesOf(objects);
    const trouble = await appliedTrouble(workload, objects);
    if (trouble === undefined) return { phase: 'Ready', namespaces };
    return { phase: 'Applied', message: trouble.slice(0, longestMessage), namespaces };
  }

  async #objects({ kind, name }: PlannedAddon, artifact: FileArtifact, target: Target): Promise<readonly KubeObject[]> {
    const text = await this.#parts.sources.manifests.text(artifact, this.#site.site(), target.scope.signal);
    if (kind !== 'network') return parseManifests(text, `the manifest of ${name}`);
    const [podCIDR = ''] = listAt(target.cluster, 'spec', 'clusterNetwork', 'pods', 'cidrBlocks').filter(
      (block) => typeof block === 'string',
    );
    const host = textAt(target.bkeCluster, 'spec', 'controlPlaneEndpoint', 'host') ?? '';
    const port = numberAt(target.bkeCluster, 'spec', 'controlPlaneEndpoint', 'port') ?? 6443;
    return flannelObjects(text, { podCIDR, endpoint: { host, port } });
  }

  async #told(object: KubeObject, { name }: PlannedAddon, { version }: FileArtifact): Promise<void> {
    const message = `${name} ${version} was applied`;
    await this.#parts.context.events.record({ object, type: 'Normal', reason: 'AddonApplied', message });
  }

  async #write(object: KubeObject, addons: readonly AddonStatus[]): Promise<void> {
    const { client, context } = this.#parts;
    const said = { AddonsReady: verdictOf(addons) };
    const conditions = storedConditions(object, ['AddonsReady'], { said, now: context.now() });
    await putStatus(client, object, { status: { conditions, addons }, fieldManager });
    const failed = addons.find(({ phase }) => phase === 'Failed');
    const before = listAt(object, 'status', 'addons').find((addon) => fieldAt(addon, 'name') === failed?.name);
    if (failed?.error === undefined || textAt(before, 'error', 'message') === failed.error.message) return;
    const message = `${failed.name}: ${failed.error.code}: ${failed.error.message}`.slice(0, 1000);
    await context.events.record({ object, type: 'Warning', reason: 'AddonFailed', message });
  }

  #clusterOf(object: KubeObject): KubeObject | undefined {
    const { namespace, name } = objectName(object);
    return this.#clusters.get(ownerNameOf(object, clusterKind) ?? clusterNameOf(object) ?? name, namespace);
  }

  #tell(cluster: KubeObject): void {
    const name = referredName(cluster, bkeClusterKind, 'spec', 'infrastructureRef');
    const { namespace } = objectName(cluster);
    if (name !== undefined) this.#parts.enqueue(keyText({ namespace, name }));
  }
}

/** Before all else: a move must not look like a deletion, and what goes gets nothing any more. */
function isLeftAlone(object: KubeObject, cluster: KubeObject): boolean {
  if (isPaused(object) || isClusterPaused(cluster)) return true;
  return object.metadata.deletionTimestamp !== undefined || cluster.metadata.deletionTimestamp !== undefined;
}

function isBootstrapped({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[machineAnnotations.bootstrapped] !== undefined;
}

function verdictOf(addons: readonly AddonStatus[]): Verdict {
  const failed = addons.filter(({ phase }) => phase === 'Failed');
  if (failed.length > 0) {
    const lines = failed.map(({ name, error }) => `${name}: ${error?.code ?? ''}: ${error?.message ?? ''}`);
    return no('AddonFailed', lines.join('\n').slice(0, 8000));
  }
  const waiting = addons
    .filter(({ phase }) => phase !== 'Ready')
    .map(({ name, message }) => (message === undefined ? name : `${name}: ${message}`));
  if (waiting.length === 0) return yes('Ready');
  return unknown('Applied', `not all pods run yet: ${waiting.join('\n')}`.slice(0, 8000));
}

function missing({ name, version }: PlannedAddon): NonNullable<AddonStatus['error']> {
  const what = version === undefined ? name : `${name} ${version}`;
  return {
    code: 'BKE_ARTIFACT_MISSING',
    message: `no loaded release has a manifest ${what}`,
    hint: 'Correct its name and version, or load a bundle that has it (bke init --bundle FILE), and run the same command again.',
  };
}

function noCharts(name: string): NonNullable<AddonStatus['error']> {
  return {
    code: 'BKE_ARTIFACT_UNUSABLE',
    message: `${name} is a chart: this bke installs manifests only`,
    hint: 'Install it with helm by the kubeconfig of the cluster.',
  };
}
