// Carries operations of clusters out: watches all that a cluster is made of, tells in the operation how far it is, notes on its hosts who asks, and pauses
// the cluster where it is to stop.
import type { BKEOperationStatus } from '../../api/kinds/bke-operation.ts';
import { coreLabels, hostLabels } from '../../cluster/render/names.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { keyOf, textAt } from '../../kube/fields.ts';
import { kubeStatus } from '../../kube/status-error.ts';
import { BkeError, toErrorReport } from '../../lib/errors.ts';
import type { Controller, ControllerContext, ReconcileResult } from '../controller.ts';
import type { Informers, ObjectView } from '../informers.ts';
import { annotations, askedBy, isPaused as isHeldByOthers, nameOf } from '../bkehost/host.ts';
import { identityOf } from '../object-status.ts';
import { commandSteps } from './causes.ts';
import type { Chain } from './chain.ts';
import { createChains, createFrame, whilePaused } from './create.ts';
import { deletedError } from './deleted.ts';
import { type Asking, isYounger } from './host-errors.ts';
import {
  isOver,
  isPaused,
  type OperationView,
  openedOperation,
  operationsOf,
  operationView,
  opensIn,
  outdated,
  pauseManager,
} from './operations.ts';
import { type Advance, advance } from './progress.ts';
import { stored } from './reports.ts';
import { withEvents } from './ring.ts';
import { type ClusterName, type KindName, kinds, type World, worldOf } from './world.ts';

export type OperationClient = Pick<KubeClient, 'get' | 'apply' | 'create' | 'delete'>;

const fieldManager = pauseManager;
const concurrency = 4;
/** A wait that comes to its bound is no change that is watched. */
const pollMs = 5000;
/** Agents end the step they are in; one that is dead never does. */
const cancelMs = 10 * 60_000;

export function bkeOperationController(client: OperationClient, context: ControllerContext): Controller {
  let operations: OperationReconciler | undefined;
  return {
    name: 'bkeoperation',
    concurrency,
    // Each time this process leads it begins anew: what it knew may be old.
    watch: (informers, enqueue) => {
      operations = new OperationReconciler({ client, context, informers, enqueue });
    },
    reconcile: async (key) => (await operations?.reconcile(nameOf(key))) ?? {},
  };
}

interface Parts {
  readonly client: OperationClient;
  readonly context: ControllerContext;
  readonly informers: Informers;
  readonly enqueue: (key: string) => void;
}

/** Keys are clusters: of one, no two operations run at once. */
class OperationReconciler {
  readonly #client: OperationClient;
  readonly #now: () => Date;
  readonly #events: ControllerContext['events'];
  readonly #views: ReadonlyMap<KindName, ObjectView>;
  /** When a cancel was seen first. */
  readonly #cancelled = new Map<string, number>();

  constructor({ client, context, informers, enqueue }: Parts) {
    this.#client = client;
    this.#now = context.now;
    this.#events = context.events;
    const scope = context.namespace === undefined ? {} : { namespace: context.namespace };
    const names = Object.keys(kinds).filter((name): name is KindName => Object.hasOwn(kinds, name));
    this.#views = new Map(
      names.map((name) => [
        name,
        informers.watch({ ...kinds[name], ...scope }, (object) => {
          for (const cluster of this.#clustersOf(name, object))
            enqueue(`${object.metadata.namespace ?? ''}/${cluster}`);
        }),
      ]),
    );
  }

  async reconcile(cluster: ClusterName): Promise<ReconcileResult> {
    const operations = operationsOf(cluster, this.#items('operation'));
    const world = worldOf(cluster, (kind) => this.#items(kind));
    // A move must not look like a deletion; and what somebody else has stopped is not begun.
    if (world.cluster !== undefined && isHeldByOthers(world.cluster)) return {};
    const opens = opensIn(world, operations, this.#now());
    if (opens !== undefined && opens > 0) return { requeueAfterMs: opens };
    if (opens !== undefined) await this.#open(cluster, world);
    const open = operations.filter((object) => !isOver(object));
    for (const object of open.filter((one) => !hasExecutor(one))) await this.#fail(object, noExecutor(object));
    const [active, ...waiting] = open.filter(hasExecutor);
    for (const object of outdated(operations)) await this.#client.delete(keyOf(object));
    if (active === undefined) return {};
    for (const object of waiting) await this.#fail(object, conflictWith(active));
    return this.#carryOn(active, world);
  }

  async #open(name: ClusterName, { cluster }: World): Promise<void> {
    if (cluster === undefined) return;
    const object = openedOperation(name, cluster);
    try {
      await this.#client.create(object);
    } catch (thrown) {
      if (kubeStatus(thrown)?.status !== 409) throw thrown;
      return;
    }
    const message = `bke operation attach ${object.metadata.name} shows how it gets on`;
    await this.#events.record({ object: cluster, type: 'Normal', reason: 'OperationOpened', message });
  }

  async #carryOn(seen: KubeObject, world: World): Promise<ReconcileResult> {
    // What this controller wrote itself may not be in what is watched yet.
    const object = await this.#client.get(keyOf(seen));
    if (object === undefined || isOver(object)) return {};
    const view = operationView(object);
    const stopped = deletedError(world, view.status);
    const cancelled = stopped === undefined ? await this.#isToStop(view, world) : false;
    if (cancelled === undefined) return { requeueAfterMs: pollMs };
    const now = this.#now();
    const asking = { name: view.name, since: object.metadata.creationTimestamp ?? now.toISOString() };
    const goesOn = stopped === undefined && !cancelled;
    if (goesOn) await this.#ask(world, asking);
    const frame = createFrame(world);
    const chains = createChains(world, view.status, asking);
    const told = goesOn ? toldChains(chains, world) : chains;
    const result = advance(view.status, told, { frame, now, cancelled, stopped });
    await this.#write(object, view.status, { ...result, now });
    return result.status.phase === 'Running' ? { requeueAfterMs: pollMs } : {};
  }

  /** What failed on hosts before is tried again at once: somebody asks who may have mended it. Of new hosts nothing has. */
  async #ask({ nodes }: World, asking: Asking): Promise<void> {
    for (const { host } of nodes) {
      if (askedBy(host) === asking.name || isYounger(host, asking)) continue;
      const frame = identityOf(host);
      const asked = { ...frame, metadata: { ...frame.metadata, annotations: { [annotations.asked]: asking.name } } };
      await this.#client.apply(asked, { fieldManager, force: true }).catch((thrown: unknown) => {
        // Gone, or another one of its name.
        if (![404, 409].includes(kubeStatus(thrown)?.status ?? 0)) throw thrown;
      });
    }
  }

  /** undefined: it is to stop, but agents are at work still. */
  async #isToStop({ name, spec, status }: OperationView, world: World): Promise<boolean | undefined> {
    if (spec.cancelRequested === true) return (await this.#hold(name, world)) ? true : undefined;
    if (status.started === undefined) await this.#release(world);
    return false;
  }

  /** Pauses the cluster, so that nothing new is begun. @returns whether no agent is at work for it any more */
  async #hold(operation: string, world: World): Promise<boolean> {
    const { cluster, nodes } = world;
    if (cluster !== undefined && !isPaused(cluster)) await this.#applyPaused(cluster, { paused: true });
    const since = this.#cancelled.get(operation) ?? this.#now().getTime();
    this.#cancelled.set(operation, since);
    const atWork = nodes.some(({ command }) => commandSteps(command).some(({ state }) => state === 'Running'));
    if (atWork && this.#now().getTime() - since < cancelMs) return false;
    this.#cancelled.delete(operation);
    return true;
  }

  /** What a cancelled operation before this one paused goes on. A pause of somebody else is theirs. */
  async #release({ cluster }: World): Promise<void> {
    if (isPaused(cluster) && cluster !== undefined) await this.#applyPaused(cluster, {});
  }

  async #applyPaused(cluster: KubeObject, spec: object): Promise<void> {
    await this.#client.apply({ ...identityOf(cluster), spec }, { fieldManager, force: true });
  }

  /** Ends what is never begun. */
  async #fail(object: KubeObject, refusal: BkeError): Promise<void> {
    const { spec, status } = operationView(object);
    const error = toErrorReport(refusal);
    const now = this.#now();
    const cluster = { namespace: object.metadata.namespace ?? '', name: spec.target.name };
    const { action, target: words, phases } = createFrame(cluster);
    const result: Advance = {
      status: { phase: 'Failed', started: now.toISOString(), finished: now.toISOString(), error: stored(error) },
      events: [
        { type: 'operation.started', action, target: words, hosts: [], dryRun: false, phases },
        { type: 'operation.finished', outcome: 'failed', changed: false, hosts: [], error, next: [], durationMs: 0 },
      ],
    };
    await this.#write(object, status, { ...result, now });
  }

  async #write(
    object: KubeObject,
    before: BKEOperationStatus,
    { status, events, now }: Advance & { now: Date },
  ): Promise<void> {
    const after = { ...status, events: withEvents(before.events ?? [], events, now) };
    if (events.length === 0 && JSON.stringify(before.hosts) === JSON.stringify(status.hosts)) return;
    const written = { ...identityOf(object), status: after };
    await this.#client.apply(written, { fieldManager, force: true, subresource: 'status' }).catch((thrown: unknown) => {
      // Gone meanwhile: nobody is left to be told anything.
      if (kubeStatus(thrown)?.status !== 404) throw thrown;
    });
  }

  #items(kind: KindName): readonly KubeObject[] {
    return this.#views.get(kind)?.items() ?? [];
  }

  /** Which clusters an object may matter to. */
  #clustersOf(kind: KindName, object: KubeObject): string[] {
    const { name, labels = {} } = object.metadata;
    if (kind === 'operation') return present(textAt(object, 'spec', 'target', 'name'));
    if (kind === 'cluster' || kind === 'bkeCluster') return [name, ...present(labels[coreLabels.cluster])];
    if (kind === 'host') return [...new Set([...present(labels[hostLabels.cluster]), ...this.#consumer(object)])];
    if (kind === 'command') {
      const host = this.#views.get('host')?.get(name, object.metadata.namespace);
      return host === undefined ? [] : this.#clustersOf('host', host);
    }
    return present(labels[coreLabels.cluster]);
  }

  #consumer(host: KubeObject): string[] {
    const machine = textAt(host, 'spec', 'consumerRef', 'name');
    if (machine === undefined) return [];
    const found = this.#views.get('bkeMachine')?.get(machine, host.metadata.namespace);
    return present(found?.metadata.labels?.[coreLabels.cluster]);
  }
}

/** What a cancel has paused waited for something else. */
function toldChains(chains: readonly Chain[], { cluster }: World): readonly Chain[] {
  return isPaused(cluster) ? whilePaused(chains) : chains;
}

function present(text: string | undefined): string[] {
  return text === undefined ? [] : [text];
}

function hasExecutor(operation: KubeObject): boolean {
  return textAt(operation, 'spec', 'action') === 'create';
}

function noExecutor(operation: KubeObject): BkeError {
  const action = textAt(operation, 'spec', 'action') ?? '';
  return new BkeError('BKE_SETTING_UNSUPPORTED', `this bke has nothing that carries out the action ${action}`, {
    hint: 'A newer bke may have.',
  });
}

function conflictWith(active: KubeObject): BkeError {
  const running = active.metadata.name;
  const { spec } = operationView(active);
  return new BkeError('BKE_OPERATION_CONFLICT', `${running} (${spec.action}) of ${spec.target.name} is running`, {
    hint: `Watch it with 'bke operation attach ${running}', stop it with 'bke operation cancel ${running}'.`,
  });
}
