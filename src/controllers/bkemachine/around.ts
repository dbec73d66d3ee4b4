// What is around machines: their Machine and Cluster, hosts, commands and the site; watched, and looked up from what was seen.
import { hostKind, commandKind, type HostName, keyText, objectName } from '../bkehost/host.ts';
import { isClusterPaused } from '../bkehost/around.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { conditionOf } from '../../kube/conditions.ts';
import {
  bkeClusterKind,
  bkeMachineKind,
  clusterKind,
  clusterNameOf,
  isInitialized,
  machineKind,
  referredName,
} from '../cluster-objects.ts';
import type { Informers, ObjectView } from '../informers.ts';
import { OperationsView } from '../operations-view.ts';
import { SiteView } from '../site-view.ts';

export interface AroundOptions {
  readonly namespace: string | undefined;
  readonly enqueue: (key: string) => void;
}

export class Around {
  readonly site: SiteView;
  readonly #operations: OperationsView;
  readonly #machines: ObjectView;
  readonly #clusters: ObjectView;
  readonly #bkeClusters: ObjectView;
  readonly #hosts: ObjectView;
  readonly #enqueue: (key: string) => void;
  /** What was last seen of each cluster that matters to machines. */
  readonly #seen = new Map<string, string>();
  /** Host -> machine that has just claimed it, until the host itself says so. */
  readonly #fresh = new Map<string, string>();

  constructor(informers: Informers, { namespace, enqueue }: AroundOptions) {
    const scope = namespace === undefined ? {} : { namespace };
    this.#enqueue = enqueue;
    this.#machines = informers.watch({ ...bkeMachineKind, ...scope }, (object) => enqueue(keyText(objectName(object))));
    informers.watch({ ...machineKind, ...scope }, (object) => this.#machineChanged(object));
    this.#clusters = informers.watch({ ...clusterKind, ...scope }, (object, there) =>
      this.#clusterChanged(object, there ? signOf(object) : 'gone'),
    );
    this.#bkeClusters = informers.watch({ ...bkeClusterKind, ...scope }, (object, there) =>
      this.#clusterChanged(object, there ? String(object.metadata.generation) : 'gone'),
    );
    this.#hosts = informers.watch({ ...hostKind, ...scope }, (object, there) => this.#hostChanged(object, there));
    informers.watch({ ...commandKind, ...scope }, (object) => {
      const host = this.#hosts.get(object.metadata.name, object.metadata.namespace);
      if (host !== undefined) this.#tellConsumer(host);
    });
    this.#operations = new OperationsView(informers, { namespace });
    this.site = new SiteView(informers, () => this.#tellWaiting());
  }

  isPaused(object: KubeObject): boolean {
    const cluster = this.clusterOf(object);
    return cluster !== undefined && isClusterPaused(cluster);
  }

  /** By the label that Cluster API puts on everything of a cluster. */
  clusterOf(object: KubeObject): KubeObject | undefined {
    const name = clusterNameOf(object);
    return name === undefined ? undefined : this.#clusters.get(name, object.metadata.namespace);
  }

  bkeClusterOf(cluster: KubeObject): KubeObject | undefined {
    const name = referredName(cluster, bkeClusterKind, 'spec', 'infrastructureRef');
    return name === undefined ? undefined : this.#bkeClusters.get(name, cluster.metadata.namespace);
  }

  /** Name of the BKEOperation that runs for the cluster of an object. */
  operationOf(object: KubeObject): string | undefined {
    const name = clusterNameOf(object);
    const { namespace } = objectName(object);
    return name === undefined ? undefined : this.#operations.activeOf({ namespace, name });
  }

  hosts(): readonly KubeObject[] {
    return this.#hosts.items();
  }

  /** Names of hosts that say or will say that this machine has them. */
  hostsOf(machine: HostName): string[] {
    const own = keyText(machine);
    const said = this.#hosts.items().filter((host) => consumerOf(host) === own);
    const fresh = [...this.#fresh].filter(([, key]) => key === own).map(([host]) => host.slice(host.indexOf('/') + 1));
    return [...new Set([...said.map(({ metadata }) => metadata.name), ...fresh])];
  }

  /** Names of hosts that were claimed a moment ago. */
  taken(namespace: string): ReadonlySet<string> {
    const own = [...this.#fresh.keys()].filter((host) => host.startsWith(`${namespace}/`));
    return new Set(own.map((host) => host.slice(namespace.length + 1)));
  }

  take(host: HostName, machine: HostName): void {
    this.#fresh.set(keyText(host), keyText(machine));
  }

  giveBack(host: HostName): void {
    this.#fresh.delete(keyText(host));
  }

  #machineChanged(machine: KubeObject): void {
    const name = referredName(machine, bkeMachineKind, 'spec', 'infrastructureRef');
    const { namespace = 'default' } = machine.metadata;
    if (name !== undefined) this.#enqueue(keyText({ namespace, name }));
  }

  #clusterChanged(object: KubeObject, now: string): void {
    const { kind, metadata } = object;
    const key = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
    if (this.#seen.get(key) === now) return;
    this.#seen.set(key, now);
    const cluster = clusterNameOf(object) ?? metadata.name;
    for (const machine of this.#machines.items()) {
      const same = machine.metadata.namespace === metadata.namespace && clusterNameOf(machine) === cluster;
      if (same) this.#enqueue(keyText(objectName(machine)));
    }
  }

  #hostChanged(host: KubeObject, there: boolean): void {
    const key = keyText(objectName(host));
    if (!there || consumerOf(host) !== undefined) this.#fresh.delete(key);
    this.#tellConsumer(host);
    if (consumerOf(host) === undefined && conditionOf(host, 'Available')?.status === 'True') this.#tellWaiting();
  }

  #tellConsumer(host: KubeObject): void {
    const consumer = consumerOf(host);
    if (consumer !== undefined) this.#enqueue(consumer);
  }

  /** Those that no host has become a node for yet. */
  #tellWaiting(): void {
    for (const machine of this.#machines.items()) {
      if (fieldAt(machine, 'status', 'initialization', 'provisioned') !== true) {
        this.#enqueue(keyText(objectName(machine)));
      }
    }
  }
}

/** Key of the BKEMachine that has it. */
export function consumerOf(host: KubeObject): string | undefined {
  const name = textAt(host, 'spec', 'consumerRef', 'name');
  const namespace = textAt(host, 'spec', 'consumerRef', 'namespace');
  return name === undefined || namespace === undefined ? undefined : keyText({ namespace, name });
}

function signOf(cluster: KubeObject): string {
  const provisioned = isInitialized(cluster, 'infrastructureProvisioned');
  const initialized = isInitialized(cluster, 'controlPlaneInitialized');
  return [isClusterPaused(cluster), provisioned, initialized].join(' ');
}
