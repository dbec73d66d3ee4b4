// A host whose agent somebody took off it: it is not taken again before somebody asks for it, so that no reset is undone behind a person's back.
import { agentObjects } from '../../api/agent-config.ts';
import type { HostFacts } from '../../host/facts/schema.ts';
import type { KubeObject } from '../../kube/client.ts';
import { agentUnit } from '../../tasks/agent/paths.ts';
import { no, verdictBefore, type Verdict } from '../conditions.ts';
import type { Heartbeat } from './heartbeats.ts';
import { askedBy, type HostView } from './host.ts';
import type { HostMemory } from './memory.ts';

/** Reason of AgentReady. */
export const hostReset = 'HostReset';

const unitName = agentUnit.replace(/\.service$/, '');

/**
 * Whether the host, as it was found, is one that was reset: its agent was heard once and has no unit there any more. An agent that died, or a host
 * that starts anew, has its unit and is healed. Who asks for a free host gets it again, and so does a machine that waits for it to be cleaned: one
 * that has it and stays would take what is gone for done.
 */
export function isHeldAsReset(
  { object, spec }: HostView,
  facts: Pick<HostFacts, 'own'>,
  { heartbeat, memory }: { readonly heartbeat: Heartbeat; readonly memory: HostMemory },
): boolean {
  if (heartbeat.state !== 'lost' || facts.own.units.includes(unitName)) return false;
  const isWanted = spec.consumerRef === undefined ? isAskedAnew(object, memory) : spec.cleanUpPending === true;
  return !isWanted;
}

/** Since its agent is silent. A wish of before, that came while the agent was well, is none for a host that was reset since. */
export function isAskedAnew(object: KubeObject, { heardFor }: HostMemory): boolean {
  return heardFor !== undefined && heardFor.asked !== askedBy(object);
}

/** Keeps in mind who has asked so far. */
export function noteAsked(object: KubeObject, { state }: Heartbeat, memory: HostMemory): void {
  if (state === 'fresh' || memory.heardFor === undefined) memory.heardFor = { asked: askedBy(object) };
}

/** What AgentReady says of such a host; undefined: it is none. Of one that a process before this one saw, until it is looked at again. */
export function resetVerdict(view: HostView, memory: HostMemory, heartbeat: Heartbeat): Verdict | undefined {
  if (heartbeat.state !== 'lost' && heartbeat.state !== 'unproven') return undefined;
  const before = verdictBefore(view.object, 'AgentReady')?.reason === hostReset;
  return (memory.wasReset ?? before) ? no(hostReset, messageOf(view)) : undefined;
}

function messageOf({ namespace, name, spec: { consumerRef } }: HostView): string {
  const lease = agentObjects(name).account;
  const way =
    consumerRef === undefined
      ? `To take it again: 'bke cluster create -f FILE' once more, or 'kubectl -n ${namespace} delete lease ${lease}'. To give it up: 'kubectl -n ${namespace} delete bkehost ${name}'`
      : `${consumerRef.namespace}/${consumerRef.name} still has it: delete the Machine of that ('kubectl -n ${consumerRef.namespace} get machines -o wide'); then the host is taken again and free.`;
  return `its agent is not installed on it any more: bke reset --all was run there, or its system is a new one. It is not taken again by itself. ${way}`;
}
