// A BKEMachine as its controller reads it.
import { type BKEMachineSpec, bkeMachine } from '../../api/kinds/bke-machine.ts';
import type { KubeObject } from '../../kube/client.ts';
import { type HostName, objectName } from '../bkehost/host.ts';
import { machineAnnotations } from './marks.ts';

export interface MachineView extends HostName {
  readonly object: KubeObject;
  readonly spec: BKEMachineSpec;
  readonly deleting: boolean;
  /** Claim id of the host that has become a node; undefined: none has. */
  readonly bootstrapped: string | undefined;
  readonly forced: boolean;
}

/** The API server holds its objects to the same schema. */
export function machineViewOf(object: KubeObject): MachineView {
  const { annotations = {}, deletionTimestamp } = object.metadata;
  return {
    ...objectName(object),
    object,
    spec: bkeMachine.shape.spec.parse(object['spec'] ?? {}),
    deleting: deletionTimestamp !== undefined,
    bootstrapped: annotations[machineAnnotations.bootstrapped],
    forced: annotations[machineAnnotations.forceRelease] === 'true',
  };
}

export function providerIDOf({ namespace, name }: HostName, claimID: string): string {
  return `bke://${namespace}/${name}/${claimID}`;
}
