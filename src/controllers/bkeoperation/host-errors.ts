// What of a host only a person can change: told as the error of its step, once whoever is at work has had time to try again.
import type { KubeObject } from '../../kube/client.ts';
import { conditionOf } from '../../kube/conditions.ts';
import { fieldAt, listAt, textAt } from '../../kube/fields.ts';
import type { ErrorReport } from '../../lib/errors.ts';
import { isLastingCode } from '../bkehost/reasons.ts';
import { errorInMessage } from './causes.ts';

const graceMs = 60_000;

/** Reasons that no error stands behind. */
const lastingReasons: ReadonlySet<string> = new Set([
  'HostKeyUnknown',
  'Quarantined',
  'Maintenance',
  'CarriesServices',
]);

export function hostError(host: KubeObject, now: Date): ErrorReport | undefined {
  const available = conditionOf(host, 'Available');
  if (available?.status !== 'False' || !isOld(sinceOf(host, 'Available'), now)) return undefined;
  const found = errorInMessage(available.message);
  if (found !== undefined) return isLastingCode(found.code) ? found : undefined;
  const { reason, message } = available;
  const { name } = host.metadata;
  const hint = `Mend it and run the same command again; 'kubectl describe bkehost ${name}' tells all of the host.`;
  const words = message === '' ? reason : message;
  if (conditionOf(host, 'Preflight')?.status === 'False') return { code: 'BKE_PREFLIGHT_FAILED', message: words, hint };
  return lastingReasons.has(reason) ? { code: 'BKE_HOST_NOT_AVAILABLE', message: words, hint } : undefined;
}

/** What the agent ended a command with. A controller that tries again has written a new one by then. */
export function commandError(
  command: KubeObject | undefined,
  failed: ErrorReport | undefined,
  now: Date,
): { error?: ErrorReport } {
  const ends = listAt(command, 'status', 'steps').map((step) => textAt(step, 'finished') ?? '');
  return failed !== undefined && isOld(ends.toSorted().at(-1), now) ? { error: failed } : {};
}

/** What no agent can do anything about: the site lacks something, or the machine asks for what bke does not do. */
const siteReasons: ReadonlySet<string> = new Set(['ArtifactsMissing', 'SiteUnknown', 'FormatUnsupported']);

export function siteError(object: KubeObject | undefined, type: string, now: Date): { error?: ErrorReport } {
  const found = conditionOf(object, type);
  if (object === undefined || found === undefined || !siteReasons.has(found.reason)) return {};
  if (!isOld(sinceOf(object, type), now)) return {};
  const code = found.reason === 'ArtifactsMissing' ? 'BKE_ARTIFACT_MISSING' : 'BKE_SITE_UNKNOWN';
  return { error: errorInMessage(found.message) ?? { code, message: found.message } };
}

function sinceOf(object: KubeObject, type: string): string | undefined {
  const found = listAt(object, 'status', 'conditions').find((condition) => fieldAt(condition, 'type') === type);
  return textAt(found, 'lastTransitionTime');
}

function isOld(since: string | undefined, now: Date): boolean {
  return since !== undefined && now.getTime() - Date.parse(since) >= graceMs;
}
