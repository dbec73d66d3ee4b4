// Makes machines of hosts: claims one for each BKEMachine, has it prepared and made a node, and gives it back clean.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { hostKey, type HostName, isPaused, keyText, nameOf, objectName, viewOf } from '../bkehost/host.ts';
import { bkeMachineKind, isControlPlane, isInitialized, keyIn, machineKind, ownerNameOf } from '../cluster-objects.ts';
import { no, unknown, verdictBefore, type Verdict, yes } from '../conditions.ts';
import type { Controller, ControllerContext, ReconcileResult, ReconcileScope } from '../controller.ts';
import type { Giving } from '../host-command/give.ts';
import { Retries } from '../host-command/retries.ts';
import type { Informers } from '../informers.ts';
import { isHeld } from '../paused.ts';
import { Around, consumerOf } from './around.ts';
import { chooseHost } from './choose.ts';
import { claimHost, releaseHost } from './claim.ts';
import { type Verdicts, verdictsOf } from './conditions.ts';
import { emptyInbox } from './inbox.ts';
import { cleanHost, isCleaned } from './leaving.ts';
import { type MachineView, machineViewOf, providerIDOf } from './machine.ts';
import { hostAnnotations } from './marks.ts';
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

/** A host that the machine has. */
interface Claimed {
  readonly host: KubeObject;
  readonly claimID: string;
  readonly providerID: string;
}

/** What a machine is made from. */
interface Frame {
  readonly view: MachineView;
  readonly machine: KubeObject;
  readonly cluster: KubeObject;
  readonly bkeCluster: KubeObject | undefined;
}

class MachineReconciler {
  readonly #client: MachineClient;
  readonly #context: ControllerContext;
  readonly #around: Around;
  readonly #retries = new Retries();

  constructor(client: MachineClient, context: ControllerContext, informers: Informers, enqueue: (key: string) => void) {
    this.#client = client;
    this.#context = context;
    this.#around = new Around(informers, { namespace: context.namespace, enqueue });
  }

  async reconcile(key: string, scope: ReconcileScope): Promise<ReconcileResult> {
    const name = nameOf(key);
    const object = await this.#client.get(keyIn(name.namespace, bkeMachineKind, name.name));
    if (object === undefined) return this.#afterGone(name);
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
    const claimed = await this.#claimed(frame);
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
      giving: this.#giving(host, scope),
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

  /** The host that the machine has; gets one where there is none yet. */
  async #claimed(frame: Frame): Promise<Claimed | Verdict> {
    const { view } = frame;
    const known = view.spec.providerID === undefined ? undefined : view.spec.hostRef?.name;
    for (const name of known === undefined ? this.#around.hostsOf(view) : [known]) {
      const host = await this.#client.get(hostKey({ namespace: view.namespace, name }));
      const found = host === undefined ? undefined : claimedOf(host, view);
      if (found !== undefined) return found;
    }
    if (known !== undefined)
      return no('HostLost', `the host ${known} is not there any more, or another machine has it`);
    return this.#claim(frame);
  }

  async #claim({ view, machine, cluster, bkeCluster }: Frame): Promise<Claimed | Verdict> {
    const loadBalancer = textAt(bkeCluster, 'spec', 'loadBalancer');
    const wanted = {
      namespace: view.namespace,
      cluster: cluster.metadata.name,
      controlPlane: isControlPlane(machine),
      matchLabels: view.spec.hostSelector?.matchLabels ?? {},
      hostRef: view.spec.hostRef?.name,
      endpoint: loadBalancer === undefined ? textAt(cluster, 'spec', 'controlPlaneEndpoint', 'host') : undefined,
    };
    const choice = chooseHost(this.#around.hosts(), wanted, this.#around.taken(view.namespace));
    if (choice.host === undefined) return noHost(choice.why);
    const chosen = objectName(choice.host);
    this.#around.take(chosen, view);
    try {
      const { metadata } = machine;
      const claimant = { ...view, cluster: cluster.metadata.name, machine: metadata.name };
      const host = await claimHost(this.#client, choice.host, claimant);
      const claimed = host === undefined ? undefined : claimedOf(host, view);
      if (claimed === undefined) this.#around.giveBack(chosen);
      else await this.#record(claimed.host, 'Claimed', `${view.name} of the cluster ${wanted.cluster} has it`);
      return claimed ?? no('HostContended', `${chosen.name} was changed by somebody else; the next one is tried`);
    } catch (thrown) {
      this.#around.giveBack(chosen);
      throw thrown;
    }
  }

  async #leave(view: MachineView, scope: ReconcileScope): Promise<ReconcileResult> {
    const host = await this.#hostOf(view);
    if (host === undefined) {
      await this.#letGo(view);
      return {};
    }
    const { now } = this.#context;
    const giving = this.#giving(objectName(host), scope);
    const { done, verdict, waitMs } = await cleanHost(host, { client: this.#client, giving, now, forced: view.forced });
    if (done) {
      await this.#record(host, verdict.reason, verdict.message);
      await this.#letGo(view);
      return {};
    }
    await this.#tell(view, deletingVerdicts(view.object, verdict));
    return { requeueAfterMs: waitMs ?? pollMs };
  }

  /** Of all it may have had, the one that says so. */
  async #hostOf(view: MachineView): Promise<KubeObject | undefined> {
    const named = view.spec.hostRef?.name;
    const names = new Set([...(named === undefined ? [] : [named]), ...this.#around.hostsOf(view)]);
    for (const name of names) {
      const host = await this.#client.get(hostKey({ namespace: view.namespace, name }));
      if (host !== undefined && claimedOf(host, view) !== undefined) return host;
    }
    return undefined;
  }

  /** Applied without the finalizer that was applied before: it goes. */
  async #letGo(view: MachineView): Promise<void> {
    const own = ownFieldsOf(view);
    if (own.finalizer) await applyOwnFields(this.#client, view.object, { ...own, finalizer: false });
  }

  /** Its host is free once the Machine is gone too. What nobody has confirmed to be clean is not touched. */
  async #afterGone(name: HostName): Promise<ReconcileResult> {
    let waits = false;
    for (const hostName of this.#around.hostsOf(name)) {
      const host = await this.#client.get(hostKey({ namespace: name.namespace, name: hostName }));
      if (host === undefined || consumerOf(host) !== keyText(name)) continue;
      if (isPaused(host) || this.#around.isPaused(host)) continue;
      waits = !(await this.#release(host)) || waits;
    }
    return waits ? { requeueAfterMs: pollMs } : {};
  }

  async #release(host: KubeObject): Promise<boolean> {
    const machine = host.metadata.annotations?.[hostAnnotations.machine];
    if (!isCleaned(host)) {
      const why = 'the machine that has it is gone, and nobody has confirmed that it is clean: it stays as it is';
      await this.#context.events.record({ object: host, type: 'Warning', reason: 'ClaimOrphaned', message: why });
      return true;
    }
    const { namespace = 'default' } = host.metadata;
    if (machine !== undefined && (await this.#client.get(keyIn(namespace, machineKind, machine))) !== undefined)
      return false;
    const released = await releaseHost(this.#client, host);
    if (released) {
      this.#around.giveBack(objectName(host));
      await this.#record(host, 'Released', 'it is clean and free again');
    }
    return released;
  }

  #giving(host: HostName, { leaseGeneration }: ReconcileScope): Giving {
    return { client: this.#client, host, leaseGeneration, retries: this.#retries };
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

function claimedOf(host: KubeObject, machine: MachineView): Claimed | undefined {
  const claimID = textAt(host, 'spec', 'claimID');
  if (claimID === undefined || consumerOf(host) !== keyText(machine)) return undefined;
  const providerID = providerIDOf(objectName(host), claimID);
  // Another claim of the same host is another node.
  if (machine.spec.providerID !== undefined && machine.spec.providerID !== providerID) return undefined;
  return { host, claimID, providerID };
}

const mostTold = 20;

function noHost(why: readonly string[]): Verdict {
  if (why.length === 0) return no('NoHost', 'no BKEHost has the labels and the role that are wanted');
  const more = why.length > mostTold ? [`… and ${why.length - mostTold} more`] : [];
  return no('NoHostAvailable', ['no host is free:', ...why.slice(0, mostTold), ...more].join('\n'));
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
