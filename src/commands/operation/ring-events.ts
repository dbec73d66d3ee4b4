// Events of an operation in the cluster, as those of local operations are: out of the ring in its status.
import type { EventBody, OperationEvent } from '../../api/events.ts';
import type { KubeObject } from '../../kube/client.ts';
import { fieldAt, listAt, numberAt, textAt } from '../../kube/fields.ts';

/** Those after `seq`. Where the ring has lost the beginning, a beginning is made up from what is known. */
export function ringEvents(object: KubeObject, seq = 0): OperationEvent[] {
  const events = listAt(object, 'status', 'events').flatMap((entry) => eventOf(object.metadata.name, entry) ?? []);
  const first = events[0];
  const lost = seq === 0 && first !== undefined && first.type !== 'operation.started';
  const news = events.filter((event) => event.seq > seq);
  return lost ? [beginning(object, first), ...news] : news;
}

/** Made by bke's own controller, so its shape is trusted where the header is there. */
function eventOf(operation: string, entry: unknown): OperationEvent | undefined {
  const [seq, time, type] = [numberAt(entry, 'seq'), textAt(entry, 'at'), textAt(entry, 'type')];
  const data = fieldAt(entry, 'data');
  if (seq === undefined || time === undefined || type === undefined) return undefined;
  // oxlint-disable-next-line no-unsafe-type-assertion -- see above; one of a newer release is left out by isKnown
  const event = { seq, time, operation, type, ...(typeof data === 'object' ? data : {}) } as unknown as OperationEvent;
  return isKnown(event.type) ? event : undefined;
}

const known: { readonly [Type in EventBody['type']]: true } = {
  'operation.started': true,
  'phase.started': true,
  'phase.finished': true,
  'step.started': true,
  'step.progress': true,
  'step.waiting': true,
  'step.planned': true,
  'step.finished': true,
  'step.failed': true,
  note: true,
  'operation.finished': true,
};

function isKnown(type: string): boolean {
  return Object.hasOwn(known, type);
}

function beginning(object: KubeObject, { seq, operation }: OperationEvent): OperationEvent {
  const hosts = listAt(object, 'status', 'hosts').flatMap((entry) => {
    const name = textAt(entry, 'name') ?? '';
    return name === '' || name.includes('/') ? [] : [name];
  });
  return {
    seq: seq - 1,
    time: textAt(object, 'status', 'started') ?? '',
    operation,
    type: 'operation.started',
    action: 'cluster.create',
    target: `cluster ${textAt(object, 'spec', 'target', 'name') ?? ''}`,
    hosts,
    dryRun: false,
    phases: [],
  };
}
