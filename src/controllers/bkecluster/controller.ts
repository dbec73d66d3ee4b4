// Looks after clusters: their endpoint, the host that their control plane begins on, and what state they are in, with all that holds it.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, numberAt, textAt } from '../../kube/fields.ts';
import { isClusterPaused } from '../bkehost/around.ts';
import { type HostName, isPaused, nameOf, objectName, viewOf } from '../bkehost/host.ts';
import { failureReasons } from '../bkemachine/conditions.ts';
import { bkeClusterKind, clusterNameOf, isInitialized, keyIn } from '../cluster-objects.ts';
import { no, unknown, type Verdict, yes } from '../conditions.ts';
import type { Controller, ControllerContext, ReconcileResult, ReconcileScope } from '../controller.ts';
import type { Giving } from '../host-command/give.ts';
import { Retries } from '../host-command/retries.ts';
import type { Informers } from '../informers.ts';
import { identityOf } from '../object-status.ts';
import { WorkloadClients, type Workloads } from '../workload.ts';
import { type AheadOptions, chooseFirst, poolsOf, prepareFirst, prepareOthers } from './ahead.ts';
import { Around } from './around.ts';
import { askHealth, type Health } from './health.ts';
import { leaveCluster } from './leaving.ts';
import { clusterAnnotations, clusterFinalizer, fieldManager } from './marks.ts';
import { type Members, membersOf } from './members.ts';
import { missingOf, stateOf } from './state.ts';
import { writeClusterStatus } from './status.ts';

export type ClusterClient = Pick<KubeClient, 'get' | 'list' | 'apply' | 'patch'>;

const concurrency = 8;
const defaultPort = 6443;
/** Pods and nodes of a cluster tell nobody here when they change. */
const healthPollMs = { healthy: 30_000, otherwise: 5000 } as const;
/** A host may become free without anybody telling. */
const hostPollMs = 10_000;
const systemNamespaces = ['kube-system', 'kube-flannel'];

export function bkeClusterController(
  client: ClusterClient,
  context: ControllerContext,
  workloads: Workloads = new WorkloadClients(client),
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

/** How far the infrastructure is. */
interface Ground {
  readonly object: KubeObject;
  readonly provisioned: boolean;
  readonly endpoint: Verdict;
  readonly firstHost: Verdict;
  /** Name of the first control plane's host, while it is prepared. */
  readonly host?: string;
  readonly waitMs?: number | undefined;
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
    const object = await this.#parts.client.get(keyIn(namespace, bkeClusterKind, name));
    if (object === undefined) {
      this.#parts.workloads.forget({ namespace, name });
      return {};
    }
    const cluster = this.#around.clusterOf(object);
    // Before all else, deletion too: a move must not look like one.
    if (isPaused(object) || (cluster !== undefined && isClusterPaused(cluster))) return {};
    if (object.metadata.deletionTimestamp !== undefined) return this.#leave(object, cluster, scope);
    // Until a Cluster has it, nobody has said what it is to be.
    return cluster === undefined ? {} : this.#keep({ object, cluster, scope });
  }

  async #keep({ object, cluster, scope }: Found): Promise<ReconcileResult> {
    const held = hasFinalizer(object) ? object : await this.#applyOwn(object, { finalizer: true });
    const ground = await this.#ground({ object: held, cluster, scope });
    const members = this.#members(cluster);
    const health = await this.#health(ground.object, cluster, members);
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
      ended: {
        infrastructure: ground.provisioned,
        'control-plane': isInitialized(cluster, 'controlPlaneInitialized'),
        workers: missing.controlPlane + missing.workers === 0 && hasAny(members),
        network: health?.nodesReady === true,
      },
    });
    const pollMs = state.name === 'Healthy' ? healthPollMs.healthy : healthPollMs.otherwise;
    return { requeueAfterMs: Math.min(ground.waitMs ?? hostPollMs, pollMs) };
  }

  /** Endpoint, and the first control plane's host: with both, the infrastructure is there. */
  async #ground(found: Found): Promise<Ground> {
    const { cluster, scope } = found;
    const pools = poolsOf(this.#around, cluster);
    const first = pools.find(({ controlPlane }) => controlPlane);
    const isKnown = isMarked(found.object, clusterAnnotations.provisioned);
    const isWanted = first !== undefined && !isKnown;
    const choice = isWanted ? chooseFirst(first, this.#aheadOptions(found.object, cluster, scope)) : undefined;
    const single = first?.replicas === 1;
    const { object, endpoint } = await this.#endpoint(found.object, cluster, { host: choice?.host, single });
    const base = { object, endpoint, provisioned: isKnown };
    if (cluster.metadata.deletionTimestamp !== undefined) return { ...base, firstHost: unknown('Deleting', '') };
    const ahead = this.#aheadOptions(object, cluster, scope);
    if (isKnown) {
      await prepareOthers(
        pools.filter((pool) => !pool.controlPlane || pool.replicas > 1),
        ahead,
      );
      return { ...base, firstHost: yes('Prepared') };
    }
    // Whoever makes the control plane is not kubeadm, or comes later.
    if (first === undefined || choice === undefined) return { ...base, firstHost: noControlPlane };
    if (choice.host === undefined) return { ...base, firstHost: choice.why, waitMs: hostPollMs };
    const { verdict, waitMs } = await prepareFirst(choice.host, first, ahead);
    await prepareOthers(pools, ahead);
    return this.#begun({ ...base, firstHost: verdict, host: choice.host.metadata.name, waitMs });
  }

  /** Noted where all of it is there: it stays so. */
  async #begun(ground: Ground): Promise<Ground> {
    if (ground.firstHost.status !== 'True' || ground.endpoint.status !== 'True') return ground;
    const object = await this.#applyOwn(ground.object, { finalizer: true, provisioned: true });
    return { ...ground, object, provisioned: true };
  }

  /** Given by people, by the Cluster, or the address of the only control plane. */
  async #endpoint(
    object: KubeObject,
    cluster: KubeObject,
    { host, single }: { readonly host: KubeObject | undefined; readonly single: boolean },
  ): Promise<{ readonly object: KubeObject; readonly endpoint: Verdict }> {
    if (textAt(object, 'spec', 'loadBalancer') === 'keepalived') return { object, endpoint: noKeepalived };
    const known = endpointIn(object);
    if (known !== undefined) return { object, endpoint: yes('EndpointKnown', known) };
    const address = endpointOf(cluster, single ? host : undefined);
    if (address === undefined) {
      const why = single
        ? 'it will be the address of the control plane host, and none is chosen yet'
        : 'several control planes need one: set spec.controlPlaneEndpoint and spec.loadBalancer';
      return { object, endpoint: no(single ? 'WaitingForHost' : 'EndpointNeeded', why) };
    }
    const { namespace, name } = objectName(object);
    const patch = { spec: { controlPlaneEndpoint: address } };
    const key = keyIn(namespace, bkeClusterKind, name);
    const after = await this.#parts.client.patch(key, patch, { type: 'merge', fieldManager });
    return { object: after, endpoint: yes('EndpointKnown', endpointIn(after) ?? '') };
  }

  #aheadOptions(bkeCluster: KubeObject, cluster: KubeObject, scope: ReconcileScope): AheadOptions {
    const balanced = textAt(bkeCluster, 'spec', 'loadBalancer') !== undefined;
    const endpoint =
      textAt(bkeCluster, 'spec', 'controlPlaneEndpoint', 'host') ??
      textAt(cluster, 'spec', 'controlPlaneEndpoint', 'host');
    return {
      client: this.#parts.client,
      around: this.#around,
      cluster,
      bkeCluster,
      endpoint: balanced ? undefined : endpoint,
      giving: (host) => this.#giving(host, scope),
    };
  }

  #giving(host: HostName, { leaseGeneration }: ReconcileScope): Giving {
    return { client: this.#parts.client, host, leaseGeneration, retries: this.#retries };
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
  async #health(object: KubeObject, cluster: KubeObject, members: Members): Promise<Health | undefined> {
    const missing = missingOf(members);
    if (missing.controlPlane + missing.workers > 0 || !hasAny(members)) return undefined;
    const { workloads } = this.#parts;
    const client = await workloads.clientOf(objectName(cluster));
    if (client === undefined) {
      return { trouble: { message: 'there is no kubeconfig of it yet' }, nodesReady: false };
    }
    const { controlPlane, workers } = members.joined;
    return askHealth(client, [...systemNamespaces, ...addonNamespaces(object)], controlPlane + workers);
  }

  /** Noted once all of the first machines have joined. */
  async #installed({ object, provisioned }: Ground, members: Members): Promise<KubeObject> {
    const missing = missingOf(members);
    const is = isMarked(object, clusterAnnotations.installed);
    if (is || !provisioned || !hasAny(members) || missing.controlPlane + missing.workers > 0) return object;
    return this.#applyOwn(object, { finalizer: true, provisioned, installed: true });
  }

  async #leave(object: KubeObject, cluster: KubeObject | undefined, scope: ReconcileScope): Promise<ReconcileResult> {
    const own = objectName(object);
    const name = { ...own, name: cluster?.metadata.name ?? clusterNameOf(object) ?? own.name };
    const { client, context, workloads } = this.#parts;
    const giving = (host: HostName): Giving => this.#giving(host, scope);
    const left = await leaveCluster(object, name, { client, around: this.#around, now: context.now, giving });
    if (left.done) {
      workloads.forget(name);
      if (hasFinalizer(object)) await this.#applyOwn(object, { ...marksOf(object), finalizer: false });
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
      ended: { infrastructure: false, 'control-plane': false, workers: false, network: false },
    });
    return { requeueAfterMs: healthPollMs.otherwise };
  }

  async #write(object: KubeObject, status: Parameters<typeof writeClusterStatus>[2]): Promise<void> {
    const { client, context } = this.#parts;
    await writeClusterStatus({ client, events: context.events, now: context.now }, object, status);
  }

  async #applyOwn(object: KubeObject, wanted: Marks): Promise<KubeObject> {
    const marks = { ...marksOf(object), ...wanted };
    const frame = identityOf(object);
    const annotations = {
      ...(marks.provisioned === true ? { [clusterAnnotations.provisioned]: 'true' } : {}),
      ...(marks.installed === true ? { [clusterAnnotations.installed]: 'true' } : {}),
    };
    const finalizers = marks.finalizer === true ? { finalizers: [clusterFinalizer] } : {};
    const own = { ...frame, metadata: { ...frame.metadata, annotations, ...finalizers } };
    return this.#parts.client.apply(own, { fieldManager, force: true });
  }
}

interface Marks {
  readonly finalizer?: boolean;
  readonly provisioned?: boolean;
  readonly installed?: boolean;
}

function marksOf(object: KubeObject): Marks {
  return {
    finalizer: hasFinalizer(object),
    provisioned: isMarked(object, clusterAnnotations.provisioned),
    installed: isMarked(object, clusterAnnotations.installed),
  };
}

const noMembers: Members = {
  wanted: { controlPlane: 0, workers: 0 },
  joined: { controlPlane: 0, workers: 0 },
  leaving: 0,
  joining: false,
  outdated: 0,
  failed: [],
  waits: undefined,
  deleteTrouble: [],
};

function hasFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(clusterFinalizer) === true;
}

function isMarked({ metadata }: KubeObject, annotation: string): boolean {
  return metadata.annotations?.[annotation] === 'true';
}

function hasAny({ wanted }: Members): boolean {
  return wanted.controlPlane > 0;
}

const noControlPlane = no(
  'WaitingForControlPlane',
  'there is no KubeadmControlPlane with a version and a BKEMachineTemplate yet',
);

/** Nobody would answer at the address. */
const noKeepalived = no(
  'LoadBalancerUnsupported',
  'this bke does not run keepalived yet: put a load balancer of your own in front (loadBalancer: external), or take one control plane without',
);

/** host:port */
function endpointIn(object: KubeObject): string | undefined {
  const host = textAt(object, 'spec', 'controlPlaneEndpoint', 'host');
  return host === undefined ? undefined : `${host}:${numberAt(object, 'spec', 'controlPlaneEndpoint', 'port') ?? 0}`;
}

function endpointOf(cluster: KubeObject, host: KubeObject | undefined): object | undefined {
  const given = fieldAt(cluster, 'spec', 'controlPlaneEndpoint');
  if (typeof given === 'object' && given !== null && textAt(given, 'host') !== undefined) return given;
  if (host === undefined) return undefined;
  const port = numberAt(cluster, 'spec', 'clusterNetwork', 'apiServerPort') ?? defaultPort;
  return { host: viewOf(host).spec.address, port };
}

function firstWait({ endpoint, firstHost }: Ground): Verdict {
  return endpoint.status === 'True' ? firstHost : firstHost.status === 'True' ? endpoint : firstHost;
}

/** Before there is a ground, machines have nothing to tell. */
function groundTrouble(ground: Ground): Partial<Pick<Members, 'failed' | 'waits'>> {
  if (ground.provisioned) return {};
  const { reason, message } = firstWait(ground);
  const trouble = { host: ground.host, message };
  return failureReasons.has(reason) ? { failed: [trouble], waits: trouble } : { waits: trouble };
}

function readyOf(ground: Ground): Verdict {
  if (ground.provisioned) return yes('Provisioned');
  const { reason, message } = firstWait(ground);
  return no(reason, message);
}

function healthyOf(healthy: boolean, health: Health | undefined, message: string): Verdict {
  if (health === undefined) return unknown('NotAsked', 'it is asked once all nodes have joined');
  return healthy ? yes('AllReady') : no('NotReady', health.trouble?.message ?? message);
}

function addonNamespaces(bkeCluster: KubeObject): string[] {
  return listAt(bkeCluster, 'spec', 'addons').flatMap((addon) => textAt(addon, 'namespace') ?? []);
}
