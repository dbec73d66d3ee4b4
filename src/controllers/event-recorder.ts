// Events of Kubernetes about objects: what `kubectl describe` shows people.
import type { KubeClient, KubeObject } from '../kube/client.ts';
import { digestOf, hexOf } from '../lib/digest.ts';
import { timeText } from '../lib/time-text.ts';
import { errorFields, type Log } from '../lib/log.ts';

/** What happened to an object. */
export interface ObjectEvent {
  readonly object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase, for programs. */
  readonly reason: string;
  /** One sentence, for people. */
  readonly message: string;
}

export interface EventRecorder {
  /** Never throws: what is told is never more important than what is done. The same again within half an hour is not written again. */
  record(event: ObjectEvent): Promise<void>;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create'>;
  /** Of events about objects that are in none. */
  readonly namespace: string;
  /** Who tells it: the name of this process. */
  readonly instance: string;
  readonly now: () => Date;
  readonly log: Log;
}

const component = 'bke-controller';
/** Kubernetes forgets events after an hour. */
const repeatMs = 30 * 60_000;

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const written = new Map<string, number>();
  return {
    record: async (event) => {
      const now = options.now();
      const key = keyText(event);
      if (now.getTime() - (written.get(key) ?? 0) < repeatMs) return;
      for (const [other, time] of written) if (now.getTime() - time >= repeatMs) written.delete(other);
      written.set(key, now.getTime());
      try {
        await options.client.create(eventObject(event, `${key}.${now.getTime().toString(16)}`, options));
      } catch (thrown) {
        written.delete(key);
        options.log.warn({ reason: event.reason, ...errorFields(thrown) }, 'event not written');
      }
    },
  };
}

/** The same for the same event, short enough for the name of an object. */
function keyText({ object, reason, message }: ObjectEvent): string {
  const { namespace, name, uid } = object.metadata;
  return hexOf(digestOf(JSON.stringify([object.kind, namespace, name, uid, reason, message]))).slice(0, 16);
}

function eventObject(event: ObjectEvent, suffix: string, options: EventRecorderOptions): KubeObject {
  const { apiVersion, kind, metadata } = event.object;
  const { namespace, name, uid } = metadata;
  const time = timeText(options.now());
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${suffix}`, namespace: namespace ?? options.namespace },
    involvedObject: { apiVersion, kind, namespace, name, uid },
    type: event.type,
    reason: event.reason,
    message: event.message,
    source: { component },
    reportingComponent: component,
    reportingInstance: options.instance,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}
