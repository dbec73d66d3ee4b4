// What is around a cluster: its control plane, deployments, machines, hosts and their commands; watched, and looked up from what was seen.
import type { KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { commandKind, hostKind, type HostName, keyText, objectName } from '../bkehost/host.ts';
import { hostAnnotations } from '../bkemachine/marks.ts';
import {
  bkeClusterKind,
  bkeMachineKind,
  bkeMachineTemplateKind,
  clusterKind,
  clusterNameOf,
  controlPlaneKind,
  deploymentKind,
  machineKind,
  ownerNameOf,
  referredName,
} from '../cluster-objects.ts';
import type { Informers, ObjectView } from '../informers.ts';
import { isOver } from '../host-command/progress.ts';
import { OperationsView } from '../operations-view.ts';
import { SiteView } from '../site-view.ts';

export class Around {
  readonly site: SiteView;
  readonly #operations: OperationsView;
  readonly #bkeClusters: ObjectView;
  readonly #clusters: ObjectView;
  readonly #controlPlanes: ObjectView;
  readonly #deployments: ObjectView;
  readonly #machines: ObjectView;
  readonly #bkeMachines: ObjectView;
  readonly #templates: ObjectView;
  readonly #hosts: ObjectView;
  readonly #commands: ObjectView;
  readonly #enqueue: (key: string) => void;

  constructor(informers: Informers, namespace: string | undefined, enqueue: (key: string) => void) {
    const scope = namespace === undefined ? {} : { namespace };
    this.#enqueue = enqueue;
    const ofCluster = (object: KubeObject): void => this.#tellCluster(object.metadata.namespace, clusterNameOf(object));
    this.#bkeClusters = informers.watch({ ...bkeClusterKind, ...scope }, (object) =>
      enqueue(keyText(objectName(object))),
    );
    this.#clusters = informers.watch({ ...clusterKind, ...scope }, (object) =>
      this.#tellCluster(object.metadata.namespace, object.metadata.name),
    );
    this.#controlPlanes = informers.watch({ ...controlPlaneKind, ...scope }, ofCluster);
    this.#deployments = informers.watch({ ...deploymentKind, ...scope }, ofCluster);
    this.#machines = informers.watch({ ...machineKind, ...scope }, ofCluster);
    this.#bkeMachines = informers.watch({ ...bkeMachineKind, ...scope }, ofCluster);
    this.#templates = informers.watch({ ...bkeMachineTemplateKind, ...scope }, () => this.#tellAll());
    this.#hosts = informers.watch({ ...hostKind, ...scope }, (host) => this.#hostChanged(host));
    this.#commands = informers.watch({ ...commandKind, ...scope }, (command) => {
      const host = this.#hosts.get(command.metadata.name, command.metadata.namespace);
      if (host !== undefined) this.#hostChanged(host);
    });
    this.#operations = new OperationsView(informers, {
      namespace,
      onChange: (cluster) => this.#tellCluster(cluster.namespace, cluster.name),
    });
    this.site = new SiteView(informers, () => this.#tellAll());
  }

  /** By its owner, or by what the Cluster refers to. */
  clusterOf(bkeCluster: KubeObject): KubeObject | undefined {
    const { namespace, name } = objectName(bkeCluster);
    const owner = ownerNameOf(bkeCluster, clusterKind);
    if (owner !== undefined) return this.#clusters.get(owner, namespace);
    return this.#clusters
      .items()
      .find((cluster) => cluster.metadata.namespace === namespace && infrastructureOf(cluster) === name);
  }

  controlPlaneOf(cluster: KubeObject): KubeObject | undefined {
    const name = referredName(cluster, controlPlaneKind, 'spec', 'controlPlaneRef');
    return name === undefined ? undefined : this.#controlPlanes.get(name, cluster.metadata.namespace);
  }

  deploymentsOf(cluster: HostName): KubeObject[] {
    return ofName(this.#deployments, cluster);
  }

  machinesOf(cluster: HostName): KubeObject[] {
    return ofName(this.#machines, cluster);
  }

  bkeMachinesOf(cluster: HostName): KubeObject[] {
    return ofName(this.#bkeMachines, cluster);
  }

  bkeMachineOf(machine: KubeObject): KubeObject | undefined {
    const name = referredName(machine, bkeMachineKind, 'spec', 'infrastructureRef');
    return name === undefined ? undefined : this.#bkeMachines.get(name, machine.metadata.namespace);
  }

  templateOf(namespace: string | undefined, name: string | undefined): KubeObject | undefined {
    return name === undefined ? undefined : this.#templates.get(name, namespace);
  }

  commandOf({ namespace, name }: HostName): KubeObject | undefined {
    return this.#commands.get(name, namespace);
  }

  /** Name of the BKEOperation that runs for it. */
  operationOf(cluster: HostName): string | undefined {
    return this.#operations.activeOf(cluster);
  }

  /** A host that it has or that was prepared for it does something now. */
  isAtWork({ namespace, name }: HostName): boolean {
    return this.hosts().some(({ metadata }) => {
      if (metadata.namespace !== namespace) return false;
      const { preparedFor, machine, lastCluster } = hostAnnotations;
      const { annotations = {} } = metadata;
      const has = annotations[machine] !== undefined && annotations[lastCluster] === name;
      if (!has && annotations[preparedFor] !== name) return false;
      return !isOver(this.commandOf({ namespace, name: metadata.name }));
    });
  }

  hosts(): readonly KubeObject[] {
    return this.#hosts.items();
  }

  #tellCluster(namespace: string | undefined, cluster: string | undefined): void {
    if (cluster === undefined) return;
    const found = this.#clusters.get(cluster, namespace);
    const name = (found && infrastructureOf(found)) ?? cluster;
    this.#enqueue(keyText({ namespace: namespace ?? 'default', name }));
  }

  #hostChanged({ metadata }: KubeObject): void {
    const { preparedFor, lastCluster } = hostAnnotations;
    const named = [
      clusterNameOf({ apiVersion: '', kind: '', metadata }),
      textAt(metadata.annotations, preparedFor),
      textAt(metadata.annotations, lastCluster),
    ];
    for (const name of new Set(named)) this.#tellCluster(metadata.namespace, name);
  }

  #tellAll(): void {
    for (const object of this.#bkeClusters.items()) this.#enqueue(keyText(objectName(object)));
  }
}

function infrastructureOf(cluster: KubeObject): string | undefined {
  return referredName(cluster, bkeClusterKind, 'spec', 'infrastructureRef');
}

function ofName(view: ObjectView, { namespace, name }: HostName): KubeObject[] {
  return view.items().filter((object) => object.metadata.namespace === namespace && clusterNameOf(object) === name);
}
