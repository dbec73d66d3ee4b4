// The hosts that the management cluster knows, a row each: pure.
import { hostLabels } from '../../cluster/render/names.ts';
import { firstLine } from '../../controllers/bkeoperation/causes.ts';
import type { KubeObject } from '../../kube/client.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { fieldAt, listAt, textAt } from '../../kube/fields.ts';

export interface HostRow {
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  readonly roles: readonly string[];
  readonly cluster: string;
  /** The reason of its condition Available, e.g. Available, Claimed, LoginRefused. */
  readonly state: string;
  readonly agent: string;
  readonly seen: string;
  readonly system: string;
  readonly message: string;
}

export function hostRow(host: KubeObject): HostRow {
  const { name, namespace = '', labels = {} } = host.metadata;
  const text = (...path: readonly string[]): string => textAt(host, ...path) ?? '';
  return {
    name,
    namespace,
    address: text('spec', 'address'),
    roles: listAt(host, 'spec', 'roles').map(String),
    cluster: labels[hostLabels.cluster] ?? '',
    ...stateOf(host),
    agent: text('status', 'agent', 'version'),
    seen: text('status', 'agent', 'lastSeen'),
    system: systemOf(host),
  };
}

/** That a machine has it is no trouble, but a silent agent is. */
function stateOf(host: KubeObject): { state: string; message: string } {
  const [available, agent] = [conditionOf(host, 'Available'), conditionOf(host, 'AgentReady')];
  const told = available?.reason === 'Claimed' && agent?.status === 'False' ? agent : available;
  return { state: told?.reason ?? 'New', message: firstLine(told?.message ?? '') };
}

function systemOf(host: KubeObject): string {
  const os = fieldAt(host, 'status', 'facts', 'os');
  return textAt(os, 'name') ?? (typeof os === 'string' ? os : '');
}
