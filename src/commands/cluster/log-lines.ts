// What happened with a cluster, a line each in order of time: what its operations told, and the events of Kubernetes about its parts. Pure.
import type { World } from '../../controllers/bkeoperation/world.ts';
import type { KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { named, visible } from '../../lib/text.ts';
import { timeText } from '../../lib/time-text.ts';
import { wordsOf } from '../operation/journals.ts';
import { ringEvents } from '../operation/ring-events.ts';

export interface LogLine {
  /** Of the same thing told once more it is the same. */
  readonly id: string;
  /** RFC 3339 */
  readonly time: string;
  readonly text: string;
}

export function logLines(world: World, operations: readonly KubeObject[], events: readonly KubeObject[]): LogLine[] {
  const parts = partsOf(world);
  const ofKubernetes = events.filter((event) => parts.has(involved(event)));
  return [...operations.flatMap(operationLines), ...ofKubernetes.map(eventLine)].toSorted(
    (a, b) => Date.parse(a.time) - Date.parse(b.time),
  );
}

function operationLines(operation: KubeObject): LogLine[] {
  return ringEvents(operation).map((event) => {
    const host = 'host' in event && event.host !== undefined ? `${event.host} ` : '';
    const phase = 'phase' in event ? `${event.phase} ` : '';
    const step = 'step' in event ? `${event.step} ` : phase;
    return {
      id: `${event.operation} ${event.seq}`,
      time: event.time,
      text: visible(`${host}${step}${event.type}: ${wordsOf(event)}`, 2000),
    };
  });
}

/** An event that is repeated changes its count and its last time. */
function eventLine(event: KubeObject): LogLine {
  const time = textAt(event, 'lastTimestamp') ?? textAt(event, 'eventTime') ?? event.metadata.creationTimestamp ?? '';
  const [reason, message] = [textAt(event, 'reason') ?? '', textAt(event, 'message') ?? ''];
  const words = message.replaceAll(/\s+/g, ' ');
  return {
    id: `${event.metadata.uid ?? event.metadata.name} ${time}`,
    time,
    text: visible(`${involved(event)} ${named(reason, words)}`, 2000),
  };
}

function involved(event: KubeObject): string {
  return `${textAt(event, 'involvedObject', 'kind') ?? ''}/${textAt(event, 'involvedObject', 'name') ?? ''}`;
}

function partsOf({ cluster, bkeCluster, controlPlane, deployments, nodes }: World): Set<string> {
  const machines = nodes.flatMap(({ host, machine, bkeMachine }) => [host, machine, bkeMachine]);
  const all = [cluster, bkeCluster, controlPlane, ...deployments, ...machines];
  return new Set(all.flatMap((object) => (object === undefined ? [] : [`${object.kind}/${object.metadata.name}`])));
}

export function logText({ time, text }: LogLine): string {
  return `${timeText(time)} ${text}\n`;
}
