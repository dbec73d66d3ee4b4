// Makes machines of hosts: claims one for each BKEMachine, has it prepared and made a node, and gives it back clean.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt } from '../../kube/fields.ts';
import { type HostName, nameOf, objectName, viewOf } from '../bkehost/host.ts';
import { bkeMachineKind, isInitialized, keyIn, machineKind, ownerNameOf } from '../cluster-objects.ts';
import { no, unknown, verdictBefore, type Verdict, yes } from '../conditions.ts';
import type { Controller, ControllerContext, ReconcileResult, ReconcileScope } from '../controller.ts';
import type { Giving } from '../host-command/give.ts';
import { Retries } from '../host-command/retries.ts';
import type { Informers } from '../informers.ts';
import { isHeld } from '../paused.ts';
import { Around } from './around.ts';
import { type Claimed, Claims, type Frame } from './claims.ts';
import { type Verdicts, verdictsOf } from './conditions.ts';
import { emptyInbox } from './inbox.ts';
import { cleanHost } from './leaving.ts';
import { type MachineView, machineViewOf } from './machine.ts';
import { applyOwnFields, type OwnFields, ownFieldsOf } from './own-fields.ts';
import { provision } from './provision.ts';
import { writeMachineStatus } from './status.ts';

export type MachineClient = Pick<KubeClient, 'get' | 'apply' | 'patch'>;

const concurrency = 16;
/** A condition of a host may come true without anybody telling. */
const pollMs = 30_000;

export function bkeMachineController(client: MachineClient, context: ControllerContext): Controller {
  let machines: MachineReconciler | undefined;
  return {
    name: 'bkemachine',
    concurrency,
    // Each time this process leads it begins anew: what it knew may be old.
    watch: (informers, enqueue) => {
      machines = new MachineReconciler(client, context, informers, enqueue);
    },
    reconcile: async (key, scope) => (await machines?.reconcile(key, scope)) ?? {},
  };
}

class MachineReconciler {
  readonly #client: MachineClient;
  readonly #context: ControllerContext;
  readonly #around: Around;
  readonly #claims: Claims;
  readonly #retries = new Retries();

  constructor(client: MachineClient, context: ControllerContext, informers: Informers, enqueue: (key: string) => void) {
    this.#client = client;
    this.#context = context;
    this.#around = new Around(informers, { namespace: context.namespace, enqueue });
    this.#claims = new Claims({ client, around: this.#around, events: context.events });
  }

  async reconcile(key: string, scope: ReconcileScope): Promise<ReconcileResult> {
    const name = nameOf(key);
    const object = await this.#client.get(keyIn(name.namespace, bkeMachineKind, name.name));
    if (object === undefined) return (await this.#claims.afterGone(name)) ? {} : { requeueAfterMs: pollMs };
    // Before all else, deletion too: a move must not look like one.
    const { now } = this.#context;
    if (await isHeld(object, { client: this.#client, now, clusterPaused: this.#around.isPaused(object) })) return {};
    const view = machineViewOf(object);
    return view.deleting ? this.#leave(view, scope) : this.#keep(view, scope);
  }

  async #keep(view: MachineView, scope: ReconcileScope): Promise<ReconcileResult> {
    const frame = await this.#frame(view);
    if ('status' in frame) return this.#tell(view, verdictsOf({ HostClaimed: frame }));
    const { finalizer } = ownFieldsOf(view);
    // Before the claim: nobody else would give the host back.
    if (!finalizer) {
      const held = await applyOwnFields(this.#client, view.object, { ...ownFieldsOf(view), finalizer: true });
      return this.#withHost({ ...frame, view: machineViewOf(held) }, scope);
    }
    return this.#withHost(frame, scope);
  }

  /** What there must be before anything is done; or what is waited for. */
  async #frame(view: MachineView): Promise<Frame | Verdict> {
    const owner = ownerNameOf(view.object, machineKind);
    if (owner === undefined) return unknown('WaitingForMachine', 'no Machine owns it yet');
    const machine = await this.#client.get(keyIn(view.namespace, machineKind, owner));
    const cluster = this.#around.clusterOf(view.object) ?? (machine && this.#around.clusterOf(machine));
    if (machine === undefined || cluster === undefined) {
      return unknown('WaitingForMachine', `its Machine ${owner} or its Cluster is not there`);
    }
    if (machine.metadata.deletionTimestamp !== undefined)
      return no('Deleting', `its Machine ${owner} is being deleted`);
    if (!isInitialized(cluster, 'infrastructureProvisioned')) {
      return no('WaitingForCluster', `the infrastructure of the cluster ${cluster.metadata.name} is not there yet`);
    }
    return { view, machine, cluster, bkeCluster: this.#around.bkeClusterOf(cluster) };
  }

  async #withHost(frame: Frame, scope: ReconcileScope): Promise<ReconcileResult> {
    const claimed = await this.#claims.of(frame);
    if ('status' in claimed) {
      await this.#tell(frame.view, verdictsOf({ HostClaimed: claimed }));
      return { requeueAfterMs: pollMs };
    }
    const { host, claimID, providerID } = claimed;
    const own = ownFieldsOf(frame.view);
    const fields: OwnFields = { ...own, finalizer: true, host: { name: host.metadata.name, providerID } };
    const isNew = own.host?.providerID !== providerID;
    const object = isNew ? await applyOwnFields(this.#client, frame.view.object, fields) : frame.view.object;
    const view = machineViewOf(object);
    if (view.bootstrapped === claimID) return this.#settled(view, claimed);
    return this.#provision({ ...frame, view }, { claimed, fields, scope });
  }

  async #provision(
    { view, machine, cluster, bkeCluster }: Frame,
    {
      claimed,
      fields,
      scope,
    }: { readonly claimed: Claimed; readonly fields: OwnFields; readonly scope: ReconcileScope },
  ): Promise<ReconcileResult> {
    const { claimID, providerID } = claimed;
    const host = viewOf(claimed.host);
    const { parts, prepared, bootstrapped, waitMs } = await provision({
      client: this.#client,
      host,
      claimID,
      providerID,
      machine,
      cluster,
      bkeCluster,
      site: this.#around.site,
      giving: this.#giving(host, view, scope),
      prepared: fields.prepared,
    });
    const after = { ...fields, prepared, ...(bootstrapped ? { bootstrapped: claimID } : {}) };
    const changed = prepared !== fields.prepared || bootstrapped;
    const object = changed ? await applyOwnFields(this.#client, view.object, after) : view.object;
    if (bootstrapped) return this.#settled(machineViewOf(object), claimed);
    const told = verdictsOf({ HostClaimed: yes('HostClaimed', host.name), ...parts });
    await this.#tell(machineViewOf(object), told);
    return waitMs === undefined ? {} : { requeueAfterMs: waitMs + 20 };
  }

  /** The node is there: what was secret goes, and Cluster API is told. */
  async #settled(view: MachineView, { host }: Claimed): Promise<ReconcileResult> {
    const name = objectName(host);
    const isTold = fieldAt(view.object, 'status', 'initialization', 'provisioned') === true;
    if (!isTold) await emptyInbox(this.#client, name);
    const verdicts = verdictsOf({
      HostClaimed: yes('HostClaimed', name.name),
      Prepared: yes('Prepared', name.name),
      Bootstrapped: yes('Bootstrapped', name.name),
    });
    return this.#tell(view, verdicts, host);
  }

  async #leave(view: MachineView, scope: ReconcileScope): Promise<ReconcileResult> {
    const host = await this.#claims.hostOf(view);
    if (host === undefined) {
      await this.#letGo(view);
      return {};
    }
    const { now } = this.#context;
    const giving = this.#giving(objectName(host), view, scope);
    const { done, verdict, waitMs } = await cleanHost(host, { client: this.#client, giving, now, forced: view.forced });
    if (done) {
      await this.#record(host, verdict.reason, verdict.message);
      await this.#letGo(view);
      return {};
    }
    await this.#tell(view, deletingVerdicts(view.object, verdict));
    return { requeueAfterMs: waitMs ?? pollMs };
  }

  /** Applied without the finalizer that was applied before: it goes. */
  async #letGo(view: MachineView): Promise<void> {
    const own = ownFieldsOf(view);
    if (own.finalizer) await applyOwnFields(this.#client, view.object, { ...own, finalizer: false });
  }

  #giving(host: HostName, { object }: MachineView, { leaseGeneration }: ReconcileScope): Giving {
    const operation = this.#around.operationOf(object);
    return { client: this.#client, host, leaseGeneration, retries: this.#retries, operation };
  }

  /** @param host it has become a node */
  async #tell(view: MachineView, verdicts: Verdicts, host?: KubeObject): Promise<ReconcileResult> {
    const { events, now } = this.#context;
    await writeMachineStatus({ client: this.#client, events, now }, view.object, { verdicts, host });
    return {};
  }

  async #record(object: KubeObject, reason: string, message: string): Promise<void> {
    await this.#context.events.record({ object, type: 'Normal', reason, message });
  }
}

function deletingVerdicts(object: KubeObject, verdict: Verdict): Verdicts {
  const before = (type: string): Verdict => verdictBefore(object, type) ?? unknown('Deleting', '');
  return {
    HostClaimed: before('HostClaimed'),
    Prepared: before('Prepared'),
    Bootstrapped: before('Bootstrapped'),
    Ready: no(verdict.reason, verdict.message),
  };
}
