// The fields of a BKEMachine that are bke's: applied together, because what one apply leaves out goes.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { dropFinalizer, identityOf } from '../object-status.ts';
import { fieldManager } from './claim.ts';
import type { MachineView } from './machine.ts';
import { machineAnnotations, machineFinalizer } from './marks.ts';

export interface OwnFields {
  readonly finalizer: boolean;
  readonly host?: { readonly name: string; readonly providerID: string } | undefined;
  /** Content of the order that its host was prepared by. */
  readonly prepared?: string | undefined;
  /** Claim id. */
  readonly bootstrapped?: string | undefined;
}

/** As the object has them. */
export function ownFieldsOf({ object, spec }: MachineView): OwnFields {
  const { annotations = {}, finalizers = [] } = object.metadata;
  const { providerID, hostRef } = spec;
  return {
    finalizer: finalizers.includes(machineFinalizer),
    host: providerID === undefined || hostRef === undefined ? undefined : { name: hostRef.name, providerID },
    prepared: annotations[machineAnnotations.prepared],
    bootstrapped: annotations[machineAnnotations.bootstrapped],
  };
}

/** @returns the object as it is then */
export async function applyOwnFields(
  client: Pick<KubeClient, 'apply' | 'patch'>,
  object: KubeObject,
  { finalizer, host, prepared, bootstrapped }: OwnFields,
): Promise<KubeObject> {
  const frame = identityOf(object);
  const annotations = {
    ...(prepared === undefined ? {} : { [machineAnnotations.prepared]: prepared }),
    ...(bootstrapped === undefined ? {} : { [machineAnnotations.bootstrapped]: bootstrapped }),
  };
  const wanted = {
    ...frame,
    metadata: { ...frame.metadata, annotations, ...(finalizer ? { finalizers: [machineFinalizer] } : {}) },
    ...(host === undefined ? {} : { spec: { providerID: host.providerID, hostRef: { name: host.name } } }),
  };
  const after = await client.apply(wanted, { fieldManager, force: true });
  if (!finalizer) await dropFinalizer(client, after, { finalizer: machineFinalizer, fieldManager });
  return after;
}
