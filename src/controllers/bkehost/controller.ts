// Brings hosts up: looks at them and installs their agents over SSH, watches their heartbeats, and says in conditions what holds each one.
import { hostLabels } from '../../cluster/render/names.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { verdictBefore } from '../conditions.ts';
import type { Controller, ControllerContext, ReconcileResult, ReconcileScope } from '../controller.ts';
import type { Informers, ObjectView } from '../informers.ts';
import { Around } from './around.ts';
import type { OwnBinary } from './binary.ts';

import type { Connect } from './enrol.ts';
import { enrolJob, type Enrolling } from './enrolling.ts';
import { Heartbeats } from './heartbeats.ts';
import {
  agentLabel,
  commandKind,
  hostKey,
  hostKind,
  type HostView,
  isPaused,
  keyText,
  leaseKind,
  nameOf,
  objectName,
  viewOf,
} from './host.ts';
import { HostJobs } from './jobs.ts';
import { leaving } from './leaving.ts';
import { factsField, type HostMemory, storedFacts } from './memory.ts';
import { type Assessment, assess, ignoredOf, needsOf } from './needs.ts';
import { dropSecret, holdForSecret } from './secret.ts';
import { writeStatus } from './status.ts';
import { verdictsOf } from './verdicts.ts';
import { noteAsked, resetVerdict } from './was-reset.ts';

export type HostClient = Pick<KubeClient, 'get' | 'apply' | 'patch' | 'create' | 'delete' | 'request'>;

export interface HostControllerOptions {
  readonly connect: Connect;
  /** Version of this bke. */
  readonly version: string;
  /** The bke of this process; undefined where it runs from source. */
  readonly own: OwnBinary | undefined;
  /** Hosts that are worked on over SSH together. Default 50. */
  readonly most?: number;
  /** Of first pauses after failures. */
  readonly firstPauseMs?: number;
}

const defaultMost = 50;
const concurrency = 16;
/** Something outside of what is watched may have changed: a Secret, the host itself. */
const pollMs = 10_000;

export function bkeHostController(
  client: HostClient,
  context: ControllerContext,
  options: HostControllerOptions,
): Controller {
  let hosts: HostReconciler | undefined;
  return {
    name: 'bkehost',
    concurrency,
    // Each time this process leads it begins anew: what it knew may be old.
    watch: (informers, enqueue) => {
      hosts = new HostReconciler({ client, context, options, informers, enqueue });
    },
    reconcile: async (key, scope) => (await hosts?.reconcile(key, scope)) ?? {},
  };
}

interface Parts {
  readonly client: HostClient;
  readonly context: ControllerContext;
  readonly options: HostControllerOptions;
  readonly informers: Informers;
  readonly enqueue: (key: string) => void;
}

class HostReconciler {
  readonly #client: HostClient;
  readonly #context: ControllerContext;
  readonly #options: HostControllerOptions;
  readonly #hosts: ObjectView;
  readonly #commands: ObjectView;
  readonly #around: Around;
  readonly #jobs: HostJobs;
  readonly #heartbeats = new Heartbeats();
  readonly #memories = new Map<string, HostMemory>();

  constructor({ client, context, options, informers, enqueue }: Parts) {
    this.#client = client;
    this.#context = context;
    this.#options = options;
    const { firstPauseMs } = options;
    this.#jobs = new HostJobs({
      most: options.most ?? defaultMost,
      onChange: enqueue,
      onEnd: (name, outcome, seconds) => context.metrics.hostJob(name, outcome, seconds),
      ...(firstPauseMs === undefined ? {} : { firstPauseMs }),
    });
    const scope = context.namespace === undefined ? {} : { namespace: context.namespace };
    const ofObject = (object: KubeObject): string => keyText(objectName(object));
    this.#hosts = informers.watch({ ...hostKind, ...scope }, (object) => enqueue(ofObject(object)));
    informers.watch({ ...leaseKind, ...scope, labelSelector: agentLabel }, (lease, there) => {
      const key = hostOf(lease);
      if (!there) this.#heartbeats.forget(key);
      else if (!this.#heartbeats.observe(key, lease)) return;
      enqueue(key);
    });
    this.#commands = informers.watch({ ...commandKind, ...scope }, (object, there) => {
      if (!there) enqueue(ofObject(object));
    });
    this.#around = new Around(informers, {
      namespace: context.namespace,
      onChange: (cluster) => {
        for (const object of this.#hosts.items()) if (isOf(object, cluster)) enqueue(this.#unsettled(ofObject(object)));
      },
    });
    context.metrics.watchHosts(() => countReasons(this.#hosts.items()));
  }

  async reconcile(key: string, scope: ReconcileScope): Promise<ReconcileResult> {
    const memory = this.#memory(key);
    const settled = this.#stillSettled(key, memory);
    if (settled !== undefined) return settled;
    memory.settled = undefined;
    const object = await this.#client.get(hostKey(nameOf(key)));
    if (object === undefined) {
      this.#forget(key);
      return {};
    }
    // Before all else, deletion too: a move must not look like one.
    if (isPaused(object) || this.#around.isClusterPaused(object)) return {};
    const view = viewOf(object);
    if (view.deleting) return this.#leave(key, view, scope);
    return this.#keep(key, viewOf(await holdForSecret(this.#client, view)), scope);
  }

  /** A healthy host costs nothing but a look at its heartbeat. */
  #stillSettled(key: string, { settled }: HostMemory): ReconcileResult | undefined {
    const { name, namespace } = nameOf(key);
    const heartbeat = this.#heartbeats.of(key);
    const same = settled !== undefined && this.#hosts.get(name, namespace)?.metadata.resourceVersion === settled;
    const command = this.#commands.get(name, namespace) !== undefined;
    return same && command && heartbeat.state === 'fresh' ? again(heartbeat.leftMs) : undefined;
  }

  async #keep(key: string, view: HostView, { signal }: ReconcileScope): Promise<ReconcileResult> {
    const memory = this.#memory(key);
    if (memory.facts?.address !== view.spec.address) delete memory.facts;
    const stored = storedFacts(view);
    if (memory.facts === undefined && stored !== undefined) memory.facts = stored;
    const heartbeat = this.#heartbeats.of(key);
    noteAsked(view.object, heartbeat, memory);
    const waitMs = await enrolJob(view, { key, memory, heartbeat, signal, ...this.#enrolling(view) });
    const after = await this.#tell(key, view);
    const isUp = heartbeat.state === 'fresh';
    if (isUp && waitMs === undefined && !this.#jobs.isRunning(key)) {
      const gone = await dropSecret(this.#client, view, { others: this.#hosts.items(), events: this.#context.events });
      if (gone) memory.settled = after.metadata.resourceVersion;
      return again(heartbeat.leftMs);
    }
    return again(heartbeat.leftMs, waitMs, isUp ? undefined : pollMs);
  }

  #enrolling(view: HostView): Enrolling {
    const { connect, version, own } = this.#options;
    const cluster = this.#around.clusterNeeds(view.object);
    return {
      client: this.#client,
      connect,
      jobs: this.#jobs,
      now: this.#context.now,
      hasCommand: this.#commands.get(view.name, view.namespace) !== undefined,
      needs: needsOf(view.name, view.spec, cluster),
      assess: () => this.#assessment(view),
      site: () => this.#around.site(),
      sources: (site) => ({ version, own, site, catalogues: this.#around.catalogues() }),
    };
  }

  async #leave(key: string, view: HostView, { signal }: ReconcileScope): Promise<ReconcileResult> {
    const client = this.#client;
    const { connect } = this.#options;
    const { events } = this.#context;
    // The job that cleans a host may take long.
    const others = (): readonly KubeObject[] => this.#hosts.items();
    const result = await leaving(view, { key, client, connect, jobs: this.#jobs, events, others, signal });
    if (result.gone) return {};
    await this.#tell(key, view, result.message);
    return again(result.waitMs, pollMs);
  }

  /** Conditions, facts, agent. @param leavingMessage why a host that is deleted is still there */
  async #tell(key: string, view: HostView, leavingMessage?: string): Promise<KubeObject> {
    const memory = this.#memory(key);
    const { object, namespace, name, spec, deleting } = view;
    const heartbeat = this.#heartbeats.of(key);
    const verdicts = verdictsOf({
      namespace,
      name,
      spec,
      deleting,
      leavingMessage,
      heartbeat,
      job: this.#jobs.of(key),
      reached: memory.reached,
      reset: resetVerdict(view, memory, heartbeat),
      assessment: this.#assessment(view),
      before: {
        Reachable: verdictBefore(object, 'Reachable'),
        AgentReady: verdictBefore(object, 'AgentReady'),
        Preflight: verdictBefore(object, 'Preflight'),
        Clean: verdictBefore(object, 'Clean'),
      },
    });
    const facts = memory.facts === undefined ? undefined : factsField(memory.facts);
    const { events, now } = this.#context;
    return writeStatus({ client: this.#client, events, now }, object, { verdicts, facts, heartbeat });
  }

  /** By the facts that are known and the needs as they are now. */
  #assessment(view: HostView): Assessment | undefined {
    const found = this.#memory(keyText(view)).facts;
    if (found === undefined) return undefined;
    const cluster = this.#around.clusterNeeds(view.object);
    const needs = needsOf(view.name, view.spec, cluster);
    return assess(found.facts, needs, { ignored: ignoredOf(cluster), asked: found.at });
  }

  #memory(key: string): HostMemory {
    const known = this.#memories.get(key) ?? {};
    this.#memories.set(key, known);
    return known;
  }

  #unsettled(key: string): string {
    this.#memory(key).settled = undefined;
    return key;
  }

  #forget(key: string): void {
    this.#memories.delete(key);
    this.#heartbeats.forget(key);
    this.#jobs.forget(key);
  }
}

function again(...times: readonly (number | undefined)[]): ReconcileResult {
  const given = times.filter((time) => time !== undefined);
  return given.length === 0 ? {} : { requeueAfterMs: Math.max(50, Math.min(...given) + 20) };
}

function hostOf({ metadata: { namespace = 'default', labels = {} } }: KubeObject): string {
  return keyText({ namespace, name: labels[agentLabel] ?? '' });
}

function isOf(
  { metadata }: KubeObject,
  cluster: { readonly namespace: string | undefined; readonly name: string } | undefined,
): boolean {
  if (cluster === undefined) return true;
  return metadata.namespace === cluster.namespace && metadata.labels?.[hostLabels.cluster] === cluster.name;
}

function countReasons(hosts: readonly KubeObject[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const host of hosts) {
    const reason = conditionOf(host, 'Available')?.reason ?? 'New';
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return counts;
}
