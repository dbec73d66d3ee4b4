// Which host a machine has: claimed where it has none yet, found again, and given back when the machine is gone.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { hostKey, type HostName, isPaused, keyText, objectName } from '../bkehost/host.ts';
import { isControlPlane, keyIn, machineKind } from '../cluster-objects.ts';
import { no, type Verdict } from '../conditions.ts';
import type { EventRecorder } from '../event-recorder.ts';
import { type Around, consumerOf } from './around.ts';
import { chooseHost } from './choose.ts';
import { claimHost, releaseHost } from './claim.ts';
import { isCleaned } from './leaving.ts';
import { type MachineView, providerIDOf } from './machine.ts';
import { hostAnnotations } from './marks.ts';

/** A host that the machine has. */
export interface Claimed {
  readonly host: KubeObject;
  readonly claimID: string;
  readonly providerID: string;
}

/** What a machine is made from. */
export interface Frame {
  readonly view: MachineView;
  readonly machine: KubeObject;
  readonly cluster: KubeObject;
  readonly bkeCluster: KubeObject | undefined;
}

export interface ClaimParts {
  readonly client: ClaimClient;
  readonly around: Around;
  readonly events: EventRecorder;
}

type ClaimClient = Pick<KubeClient, 'get' | 'patch'>;

export class Claims {
  readonly #client: ClaimClient;
  readonly #around: Around;
  readonly #events: EventRecorder;

  constructor({ client, around, events }: ClaimParts) {
    this.#client = client;
    this.#around = around;
    this.#events = events;
  }

  /** The host that the machine has; gets one where there is none yet. */
  async of(frame: Frame): Promise<Claimed | Verdict> {
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

  /** Of all it may have had, the one that says so. */
  async hostOf(view: MachineView): Promise<KubeObject | undefined> {
    const named = view.spec.hostRef?.name;
    const names = new Set([...(named === undefined ? [] : [named]), ...this.#around.hostsOf(view)]);
    for (const name of names) {
      const host = await this.#client.get(hostKey({ namespace: view.namespace, name }));
      if (host !== undefined && claimedOf(host, view) !== undefined) return host;
    }
    return undefined;
  }

  /** Its host is free once the Machine is gone too. What nobody has confirmed to be clean is not touched. @returns whether that is all */
  async afterGone(name: HostName): Promise<boolean> {
    let waits = false;
    for (const hostName of this.#around.hostsOf(name)) {
      const host = await this.#client.get(hostKey({ namespace: name.namespace, name: hostName }));
      if (host === undefined || consumerOf(host) !== keyText(name)) continue;
      if (isPaused(host) || this.#around.isPaused(host)) continue;
      waits = !(await this.#release(host)) || waits;
    }
    return !waits;
  }

  async #release(host: KubeObject): Promise<boolean> {
    const machine = host.metadata.annotations?.[hostAnnotations.machine];
    if (!isCleaned(host)) {
      const why = 'the machine that has it is gone, and nobody has confirmed that it is clean: it stays as it is';
      await this.#events.record({ object: host, type: 'Warning', reason: 'ClaimOrphaned', message: why });
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

  async #record(object: KubeObject, reason: string, message: string): Promise<void> {
    await this.#events.record({ object, type: 'Normal', reason, message });
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
