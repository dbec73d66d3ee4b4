// Which operation of a cluster runs: for what is given to its hosts meanwhile, and for a move, which has to wait.
import type { KubeObject } from '../kube/client.ts';
import { textAt } from '../kube/fields.ts';
import type { HostName } from './bkehost/host.ts';
import { isOver, operationsOf } from './bkeoperation/operations.ts';
import { operationKind } from './cluster-objects.ts';
import type { Informers, ObjectView } from './informers.ts';

export interface OperationsOptions {
  readonly namespace: string | undefined;
  /** Told of the cluster that a change is about. */
  readonly onChange?: (cluster: { readonly namespace: string | undefined; readonly name: string }) => void;
}

export class OperationsView {
  readonly #operations: ObjectView;

  constructor(informers: Informers, { namespace, onChange }: OperationsOptions) {
    const scope = namespace === undefined ? {} : { namespace };
    this.#operations = informers.watch({ ...operationKind, ...scope }, (operation) => {
      const name = clusterOf(operation);
      if (name !== undefined) onChange?.({ namespace: operation.metadata.namespace, name });
    });
  }

  /** Name of the one that is carried out now; undefined: there is none. */
  activeOf(cluster: HostName): string | undefined {
    return operationsOf(cluster, this.#operations.items()).find((operation) => !isOver(operation))?.metadata.name;
  }
}

function clusterOf(operation: KubeObject): string | undefined {
  return textAt(operation, 'spec', 'target', 'kind') === 'Cluster'
    ? textAt(operation, 'spec', 'target', 'name')
    : undefined;
}
