// What of a cluster somebody has paused, who, and how that is lifted: neither Cluster API nor bke does anything about it before.
import type { KubeObject } from '../../kube/client.ts';
import { listed } from '../../lib/text.ts';
import { annotations, isMoving } from '../bkehost/host.ts';
import { isPaused, pausedBy, pauseManager } from './operations.ts';
import { BkeError } from '../../lib/errors.ts';

export interface Pause {
  /** 'Cluster prod: spec.paused is true, set by kubectl-patch' */
  readonly why: string;
  /** The command that lifts it; undefined: nobody should. */
  readonly lift: string | undefined;
}

/** That of a cancelled operation is none: the next one takes it back. */
export function pausesOf(object: KubeObject): Pause[] {
  const { kind, metadata } = object;
  const { namespace = '', name } = metadata;
  const what = `${kind} ${name}`;
  const [resource, kubectl] = [kind.toLowerCase(), `kubectl -n ${namespace}`];
  if (isMoving(object)) return [{ why: `${what}: it is being moved to another management cluster`, lift: undefined }];
  const pauses: Pause[] = [];
  const managers = [...new Set(pausedBy(object))].filter((manager) => manager !== pauseManager);
  if (isPaused(object) && (managers.length > 0 || pausedBy(object).length === 0)) {
    const whose = managers.length === 0 ? '' : `, set by ${listed(managers)}`;
    const lift = `${kubectl} patch ${resource} ${name} --type=merge -p '{"spec":{"paused":null}}'`;
    pauses.push({ why: `${what}: spec.paused is true${whose}`, lift });
  }
  if (metadata.annotations?.[annotations.paused] !== undefined) {
    const lift = `${kubectl} annotate ${resource} ${name} ${annotations.paused}-`;
    pauses.push({ why: `${what} has the annotation ${annotations.paused}`, lift });
  }
  return pauses;
}

export function pausedError(cluster: string, pauses: readonly Pause[]): BkeError {
  const lifts = pauses.flatMap(({ lift }) => lift ?? []);
  return new BkeError('BKE_CLUSTER_PAUSED', `cluster ${cluster} is paused: nothing goes on before that is lifted`, {
    details: [...pauses.map(({ why }) => why), ...lifts.map((lift) => `lift it: ${lift}`)],
    hint:
      lifts.length < pauses.length
        ? 'Wait until it has been moved, and go on in the management cluster that has it then.'
        : 'Ask whoever has paused it, lift it, then run the same command again.',
  });
}
