// A BKEHost that is deleted: bke goes off its machine first, and only then the object goes.
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import type { EventRecorder } from '../event-recorder.ts';
import { dropFinalizer, identityOf } from '../object-status.ts';
import { fieldManager, isForbidden, removeAccess } from './access.ts';
import type { Connect } from './enrol.ts';
import { annotations, hostFinalizer, type HostView } from './host.ts';
import type { HostJobs, JobScope } from './jobs.ts';
import { leave } from './leave.ts';
import { inputsOf, loginOf, targetOf, withoutKeys } from './login.ts';
import { verdictOf } from './reasons.ts';
import { leaveWithSecret } from './secret.ts';

export interface Leaving {
  readonly key: string;
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'patch' | 'delete'>;
  readonly connect: Connect;
  readonly jobs: HostJobs;
  readonly events: EventRecorder;
  /** All hosts as they are when it is asked: one of them may log in with the same Secret. */
  readonly others: () => readonly KubeObject[];
  readonly signal: AbortSignal;
}

export type LeavingResult =
  | { readonly gone: true }
  | { readonly gone: false; readonly message: string; readonly waitMs?: number };

const leaveMs = 25 * 60_000;

/** Why it is still there, for people; or that it is gone. */
export async function leaving(view: HostView, given: Leaving): Promise<LeavingResult> {
  const { jobs, key, client } = given;
  // Never enrolled, or done.
  if (view.object.metadata.finalizers?.includes(hostFinalizer) !== true) {
    await leaveWithSecret(client, view.object, given.others());
    return { gone: true };
  }
  const { consumerRef } = view.spec;
  if (consumerRef !== undefined) {
    const { namespace, name } = consumerRef;
    return { gone: false, message: `the machine ${namespace}/${name} has it: delete that first` };
  }
  const forced = forcedWhy(view);
  if (forced !== undefined) {
    await letGo(view, given);
    await given.events.record({ object: view.object, type: 'Warning', reason: 'NotCleaned', message: forced });
    return { gone: true };
  }
  try {
    const waitMs = await wantLeave(view, given);
    return { gone: false, message: whyStill(view, jobs, key), ...(waitMs === undefined ? {} : { waitMs }) };
  } catch (thrown) {
    if (!isForbidden(thrown)) throw thrown;
    return { gone: false, message: `${thrown.code}: ${thrown.message}: ${wayOut(view)}` };
  }
}

/** undefined: it is to be cleaned. */
function forcedWhy({ object, spec }: HostView): string | undefined {
  if (object.metadata.annotations?.[annotations.forceDelete] === 'true') {
    return `let go without being cleaned, as ${annotations.forceDelete} says: whatever is on it stays there`;
  }
  // A reset of all would take them and the bootstrap cluster with it.
  return spec.services === true
    ? 'it carries the local services, which stay: only its account was taken away'
    : undefined;
}

async function wantLeave(view: HostView, given: Leaving): Promise<number | undefined> {
  const { key, client, connect, jobs, signal } = given;
  const login = loginOf(view);
  if (jobs.isRunning(key) || login === undefined) return undefined;
  const secret = await client.get(login.secret);
  const run = async (scope: JobScope): Promise<void> => {
    const { name } = view;
    const namespace = view.object.metadata.namespace ?? '';
    await leave({ namespace, name }, { target: targetOf(view, secret), connect }, scope);
    scope.signal.throwIfAborted();
    await letGo(view, given);
  };
  return jobs.want(key, { name: 'leave', inputs: inputsOf(view, secret), timeoutMs: leaveMs, signal, run });
}

function whyStill({ spec, name }: HostView, jobs: HostJobs, key: string): string {
  const { doing, failure } = jobs.of(key) ?? {};
  if (doing !== undefined) return doing;
  const way = wayOut({ name });
  if (failure !== undefined) {
    const { message } = verdictOf(failure.thrown);
    return message.includes(annotations.forceDelete) ? message : `${message}\nOr ${way}`;
  }
  if (spec.ssh?.secretRef === undefined) return `there is nothing to log in with: ${way}`;
  return withoutKeys(spec).length > 0 ? `its host key is not known: ${way}` : 'it waits to be cleaned';
}

function wayOut({ name }: Pick<HostView, 'name'>): string {
  return `run bke reset --all on ${name}, then annotate the BKEHost with ${annotations.forceDelete}=true`;
}

/** In this order: whoever begins anew in between needs the Secret as long as the host may not be clean. */
async function letGo({ object, ...host }: HostView, { client, others }: Leaving): Promise<void> {
  await removeAccess(client, host);
  // Applied without the finalizer that was applied before: it goes.
  const after = await client.apply(identityOf(object), { fieldManager, force: true });
  await dropFinalizer(client, after, { finalizer: hostFinalizer, fieldManager });
  await leaveWithSecret(client, object, others());
}
