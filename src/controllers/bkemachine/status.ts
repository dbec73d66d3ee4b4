// Writes what a BKEMachine's controller says about it, where it is something new, and tells people of turns.
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt } from '../../kube/fields.ts';
import { type HostView, viewOf } from '../bkehost/host.ts';
import { storedConditions, turned } from '../conditions.ts';
import { putStatus, type StatusWriter } from '../object-status.ts';
import { fieldManager } from './claim.ts';
import { conditionTypes, failureReasons, type Verdicts } from './conditions.ts';

export interface MachineStatus {
  readonly verdicts: Verdicts;
  /** It has become a node: Cluster API may go on. */
  readonly host?: KubeObject | undefined;
}

export async function writeMachineStatus(
  { client, events, now }: StatusWriter,
  object: KubeObject,
  { verdicts, host }: MachineStatus,
): Promise<void> {
  const conditions = storedConditions(object, conditionTypes, { said: verdicts, now: now() });
  const status = { conditions, ...readiness(object, host) };
  const after = await putStatus(client, object, { status, fieldManager });
  // Gone meanwhile, or nothing new: nobody is to be told anything.
  if (after === undefined || after === object) return;
  for (const { verdict } of turned(object, ['HostClaimed', 'Prepared', 'Bootstrapped'], verdicts)) {
    const { status: state, reason, message } = verdict;
    const failed = failureReasons.has(reason) || reason === 'NoHost';
    if (state !== 'True' && !failed) continue;
    await events.record({
      object,
      type: failed ? 'Warning' : 'Normal',
      reason,
      message: message.slice(0, longestEvent),
    });
  }
}

const longestEvent = 1000;

/** Once provisioned it stays so: Cluster API never takes it back. */
function readiness(object: KubeObject, host: KubeObject | undefined): object {
  if (host !== undefined) return { initialization: { provisioned: true }, addresses: addressesOf(viewOf(host)) };
  const addresses = listAt(object, 'status', 'addresses');
  if (fieldAt(object, 'status', 'initialization', 'provisioned') !== true) return {};
  return { initialization: { provisioned: true }, ...(addresses.length === 0 ? {} : { addresses }) };
}

function addressesOf({ name, spec: { address, nodeIP } }: HostView): readonly object[] {
  const node = { type: 'InternalIP', address: nodeIP ?? address };
  const other = nodeIP === undefined || nodeIP === address ? [] : [{ type: 'ExternalIP', address }];
  return [{ type: 'Hostname', address: name }, node, ...other];
}
