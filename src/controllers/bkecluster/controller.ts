// Looks after clusters: their endpoint, the host that their control plane begins on, and what state they are in, with all that holds it.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { isClusterPaused } from '../bkehost/around.ts';
import { type HostName, nameOf, objectName } from '../bkehost/host.ts';
import { bkeClusterKind, clusterNameOf, isInitialized, keyIn } from '../cluster-objects.ts';
import { no, unknown, type Verdict, yes } from '../conditions.ts';
import type { Controller, ControllerContext, ReconcileResult, ReconcileScope } from '../controller.ts';
import type { Giving } from '../host-command/give.ts';
import { Retries } from '../host-command/retries.ts';
import type { Informers } from '../informers.ts';
import { deleteOwnSecret } from '../own-secret.ts';
import { isHeld } from '../paused.ts';
import { WorkloadClients, type Workloads } from '../workload.ts';
import { addonNamespaces, withAddons } from './addons.ts';
import { Around } from './around.ts';
import { blockMove } from './block-move.ts';
import { type Ground, groundTrouble, Groundwork, readyOf } from './ground.ts';
import { askHealth, type Health } from './health.ts';
import { leaveCluster } from './leaving.ts';
import { clusterAnnotations } from './marks.ts';
import { type Members, membersOf } from './members.ts';
import { applyMarks, hasFinalizer, isMarked, marksOf } from './own-fields.ts';
import { missingOf, stateOf } from './state.ts';
import { writeClusterStatus } from './status.ts';

export type ClusterClient = Pick<KubeClient, 'get' | 'list' | 'apply' | 'patch' | 'delete'>;

const concurrency = 8;
/** Pods and nodes of a cluster tell nobody here when they change. */
const healthPollMs = { healthy: 30_000, otherwise: 5000 } as const;
const systemNamespaces = ['kube-system', 'kube-flannel'];

export function bkeClusterController(
  client: ClusterClient,
  context: ControllerContext,
  workloads: Workloads = new WorkloadClients(client, context),
): Controller {
  let clusters: ClusterReconciler | undefined;
  return {
    name: 'bkecluster',
    concurrency,
    // Each time this process leads it begins anew: what it knew may be old.
    watch: (informers, enqueue) => {
      clusters = new ClusterReconciler({ client, context, workloads, informers, enqueue });
    },
    reconcile: async (key, scope) => (await clusters?.reconcile(key, scope)) ?? {},
  };
}

interface Parts {
  readonly client: ClusterClient;
  readonly context: ControllerContext;
  readonly workloads: Workloads;
  readonly informers: Informers;
  readonly enqueue: (key: string) => void;
}

interface Found {
  readonly object: KubeObject;
  readonly cluster: KubeObject;
  readonly scope: ReconcileScope;
}

class ClusterReconciler {
  readonly #parts: Parts;
  readonly #around: Around;
  readonly #retries = new Retries();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#around = new Around(parts.informers, parts.context.namespace, parts.enqueue);
  }

  async reconcile(key: string, scope: ReconcileScope): Promise<ReconcileResult> {
    const { namespace, name } = nameOf(key);
    const found = await this.#parts.client.get(keyIn(namespace, bkeClusterKind, name));
    if (found === undefined) {
      this.#parts.workloads.forget({ namespace, name });
      return {};
    }
    const cluster = this.#around.clusterOf(found);
    // Before all else, deletion too: a move must not look like one.
    const { object, held } = await this.#firstLook(found, cluster);
    if (held) return {};
    if (object.metadata.deletionTimestamp !== undefined) return this.#leave(object, cluster, scope);
    // Until a Cluster has it, nobody has said what it is to be.
    return cluster === undefined ? {} : this.#keep({ object, cluster, scope });
  }

  async #firstLook(
    object: KubeObject,
    cluster: KubeObject | undefined,
  ): Promise<{ readonly object: KubeObject; readonly held: boolean }> {
    const { client, context } = this.#parts;
    const clusterPaused = cluster !== undefined && isClusterPaused(cluster);
    const held = await isHeld(object, { client, now: context.now, clusterPaused });
    const atWork = cluster !== undefined && this.#isAtWork(objectName(cluster));
    return { object: await blockMove(object, { client, atWork, paused: held }), held };
  }

  async #keep({ object, cluster, scope }: Found): Promise<ReconcileResult> {
    const held = hasFinalizer(object) ? object : await applyMarks(this.#parts.client, object, { finalizer: true });
    const giving = (host: HostName): Giving => this.#giving(host, objectName(cluster), scope);
    const groundwork = new Groundwork({ client: this.#parts.client, around: this.#around, giving });
    const ground = await groundwork.groundOf(held, cluster);
    const members = this.#members(cluster);
    const asked = await this.#health({ object: ground.object, cluster, scope }, members);
    const health = withAddons(asked, ground.object);
    const installed = await this.#installed(ground, members);
    const deleting = cluster.metadata.deletionTimestamp !== undefined;
    const state = stateOf({
      ...members,
      ...groundTrouble(ground),
      deleting,
      installed: isMarked(installed, clusterAnnotations.installed),
      health: health?.trouble,
      before: textAt(object, 'status', 'state', 'name'),
    });
    const missing = missingOf(members);
    await this.#write(installed, {
      verdicts: {
        EndpointKnown: ground.endpoint,
        FirstHostPrepared: ground.firstHost,
        Ready: readyOf(ground),
        Healthy: healthyOf(state.name === 'Healthy', health, state.message),
      },
      provisioned: ground.provisioned,
      state,
      failed: deleting ? [] : [...members.failed, ...(groundTrouble(ground).failed ?? [])],
      // Of what goes, nothing comes to its end any more.
      ended: deleting
        ? noneEnded
        : {
            infrastructure: ground.provisioned,
            'control-plane': isInitialized(cluster, 'controlPlaneInitialized'),
            workers: missing.controlPlane + missing.workers === 0 && hasAny(members),
            network: health?.nodesReady === true,
          },
    });
    const pollMs = state.name === 'Healthy' ? healthPollMs.healthy : healthPollMs.otherwise;
    return { requeueAfterMs: Math.min(ground.waitMs ?? pollMs, pollMs) };
  }

  #isAtWork(cluster: HostName): boolean {
    return this.#around.isAtWork(cluster) || this.#around.operationOf(cluster) !== undefined;
  }

  #giving(host: HostName, cluster: HostName, { leaseGeneration }: ReconcileScope): Giving {
    const operation = this.#around.operationOf(cluster);
    return { client: this.#parts.client, host, leaseGeneration, retries: this.#retries, operation };
  }

  #members(cluster: KubeObject): Members {
    const name = objectName(cluster);
    const members = this.#around.machinesOf(name).map((machine) => {
      const bkeMachine = this.#around.bkeMachineOf(machine);
      const host = textAt(bkeMachine, 'spec', 'hostRef', 'name');
      const command =
        host === undefined ? undefined : this.#around.commandOf({ namespace: name.namespace, name: host });
      return { machine, bkeMachine, command };
    });
    const controlPlane = this.#around.controlPlaneOf(cluster);
    return membersOf({ controlPlane, deployments: this.#around.deploymentsOf(name), members });
  }

  /** Asked as soon as all that are wanted have joined; undefined before. */
  async #health({ object, cluster, scope }: Found, members: Members): Promise<Health | undefined> {
    const missing = missingOf(members);
    if (missing.controlPlane + missing.workers > 0 || !hasAny(members)) return undefined;
    const { workloads } = this.#parts;
    const { controlPlane, workers } = members.joined;
    try {
      const client = await workloads.clientOf(objectName(cluster));
      if (client === undefined) return unasked('there is no kubeconfig of it yet');
      const namespaces = [...systemNamespaces, ...addonNamespaces(object)];
      return await scope.aside(() => askHealth(client, namespaces, controlPlane + workers));
    } catch (thrown) {
      if (!(thrown instanceof BkeError) || thrown.code !== 'BKE_KUBECONFIG_INVALID') throw thrown;
      return unasked(thrown.message);
    }
  }

  /** Noted once all of the first machines have joined. */
  async #installed({ object, provisioned }: Ground, members: Members): Promise<KubeObject> {
    const missing = missingOf(members);
    const is = isMarked(object, clusterAnnotations.installed);
    if (is || !provisioned || !hasAny(members) || missing.controlPlane + missing.workers > 0) return object;
    return applyMarks(this.#parts.client, object, { finalizer: true, provisioned, installed: true });
  }

  async #leave(object: KubeObject, cluster: KubeObject | undefined, scope: ReconcileScope): Promise<ReconcileResult> {
    const own = objectName(object);
    const name = { ...own, name: cluster?.metadata.name ?? clusterNameOf(object) ?? own.name };
    const { client, context, workloads } = this.#parts;
    const giving = (host: HostName): Giving => this.#giving(host, name, scope);
    const left = await leaveCluster(object, name, { client, around: this.#around, now: context.now, giving });
    if (left.done) {
      workloads.forget(name);
      const registry = textAt(object, 'spec', 'registry', 'secretRef', 'name');
      if (registry !== undefined) await deleteOwnSecret(client, { ...name, name: registry, of: name.name });
      if (hasFinalizer(object)) await applyMarks(this.#parts.client, object, { ...marksOf(object), finalizer: false });
      return {};
    }
    const members = cluster === undefined ? noMembers : this.#members(cluster);
    const deleteTrouble = [...members.deleteTrouble, ...left.failed];
    const state = stateOf({
      ...members,
      deleting: true,
      deleteTrouble,
      installed: true,
      waits: left.waits ?? members.waits,
      health: undefined,
      before: undefined,
    });
    const verdict = no(state.name, state.message);
    await this.#write(object, {
      verdicts: {
        EndpointKnown: yes('EndpointKnown'),
        FirstHostPrepared: unknown('Deleting', ''),
        Ready: verdict,
        Healthy: unknown('Deleting', ''),
      },
      provisioned: isMarked(object, clusterAnnotations.provisioned),
      state,
      ended: noneEnded,
      failed: deleteTrouble,
    });
    return { requeueAfterMs: healthPollMs.otherwise };
  }

  async #write(object: KubeObject, status: Parameters<typeof writeClusterStatus>[2]): Promise<void> {
    const { client, context } = this.#parts;
    await writeClusterStatus({ client, events: context.events, now: context.now }, object, status);
  }
}

const noneEnded = { infrastructure: false, 'control-plane': false, workers: false, network: false };

const noMembers: Members = {
  wanted: { controlPlane: 0, workers: 0 },
  joined: { controlPlane: 0, workers: 0 },
  unjoined: 0,
  leaving: 0,
  joining: false,
  outdated: 0,
  failed: [],
  waits: undefined,
  deleteTrouble: [],
};

function unasked(message: string): Health {
  return { trouble: { message }, nodesReady: false };
}

function hasAny({ wanted }: Members): boolean {
  return wanted.controlPlane > 0;
}

function healthyOf(healthy: boolean, health: Health | undefined, message: string): Verdict {
  if (health === undefined) return unknown('NotAsked', 'it is asked once all nodes have joined');
  return healthy ? yes('AllReady') : no(health.trouble?.reason ?? 'NotReady', health.trouble?.message ?? message);
}
