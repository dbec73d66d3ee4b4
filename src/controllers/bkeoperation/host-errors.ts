// What is wrong with a host or an add-on, and for how long that is borne before its step has failed: not at all where nothing but a person changes it.
import type { KubeObject } from '../../kube/client.ts';
import { conditionOf, conditionSince, conditionWords } from '../../kube/conditions.ts';
import { textAt } from '../../kube/fields.ts';
import type { ErrorCode } from '../../lib/error-table.ts';
import type { ErrorReport } from '../../lib/errors.ts';
import { named, plural } from '../../lib/text.ts';
import type { OpenAddon } from '../addons/plan.ts';
import { askedBy } from '../bkehost/host.ts';
import { isLastingCode } from '../bkehost/reasons.ts';
import { hostReset } from '../bkehost/was-reset.ts';
import { errorInMessage, errorOf, inLines } from './causes.ts';
import type { Trouble } from './chain.ts';

/** What operation asks, and since when. What was so before may be mended by now: whoever is at work on it looks again first. */
export interface Asking {
  readonly name: string;
  /** RFC 3339 */
  readonly since: string;
}

/**
 * With what it takes to find out (a login 20 s, a heartbeat 40 s, a look at the world 5 s) all of it is told within a minute, and what heals by
 * itself was tried again a few times.
 */
const graceMs = { heals: 30_000, silent: 10_000, looksAgain: 30_000, site: 15_000, cluster: 120_000 } as const;

/** Reasons that no error stands behind. */
const lastingReasons: ReadonlySet<string> = new Set([
  'HostKeyUnknown',
  'Quarantined',
  'Maintenance',
  'CarriesServices',
]);

/** Of what hosts are made nodes with: the same again comes to the same. */
const lastingSteps: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BKE_PREFLIGHT_FAILED',
  'BKE_DISK_FULL',
  'BKE_DIGEST_MISMATCH',
  'BKE_ARTIFACT_MISSING',
  'BKE_STEP_UNKNOWN',
  'BKE_STEP_INVALID',
  'BKE_BOOTSTRAP_DATA_INVALID',
  'BKE_TIME_SERVICE_MISSING',
  'BKE_NODE_EXISTS',
]);

/** Of a host that no machine has yet. */
export function hostTrouble(host: KubeObject, asking: Asking): Trouble | undefined {
  const available = conditionOf(host, 'Available');
  if (available?.status !== 'False') return undefined;
  const lasts = isSince(host, 'Available', asking) ? 0 : graceMs.looksAgain;
  const found = errorInMessage(available.message);
  if (found !== undefined) return { error: found, graceMs: isLastingCode(found.code) ? lasts : graceMs.heals };
  if (available.reason === 'HeartbeatLost' || available.reason === hostReset) return silence(host, asking);
  const error = unavailable(host);
  return error === undefined ? undefined : { error, graceMs: lasts };
}

function unavailable(host: KubeObject): ErrorReport | undefined {
  const available = conditionOf(host, 'Available');
  if (available === undefined) return undefined;
  const { reason, message } = available;
  const hint = `Mend it and run the same command again; 'kubectl -n ${host.metadata.namespace ?? ''} describe bkehost ${host.metadata.name}' tells all of the host.`;
  const checks = ['Preflight', 'Clean'].map((type) => conditionOf(host, type));
  const failed = checks.filter((condition) => condition?.status === 'False' && checkReasons.has(condition.reason));
  if (failed.length > 0) return preflightError(failed.map((condition) => condition?.message ?? '').join('\n'), hint);
  if (!lastingReasons.has(reason)) return undefined;
  return { code: 'BKE_HOST_NOT_AVAILABLE', message: message === '' ? reason : message, hint };
}

const checkReasons: ReadonlySet<string> = new Set(['ChecksFailed', 'Leftovers']);

function preflightError(message: string, hint: string): ErrorReport {
  const details = message.split('\n').filter((line) => line !== '');
  return {
    code: 'BKE_PREFLIGHT_FAILED',
    message: `${plural(details.length, 'problem')} found before anything was changed`,
    hint,
    details,
  };
}

/** Of a host that something is done on, or was: nobody does it while its agent is silent or gone. */
export function silence(host: KubeObject, asking: Asking): Trouble | undefined {
  const ready = conditionOf(host, 'AgentReady');
  if (ready?.status !== 'False') return undefined;
  const found = errorInMessage(ready.message);
  if (found !== undefined) return { error: found, graceMs: graceMs.heals };
  const since = sinceWords(host, 'AgentReady');
  if (ready.reason === hostReset) {
    return { error: resetError(host, since), graceMs: silentGrace(host, asking, 0) };
  }
  if (ready.reason !== 'HeartbeatLost') return undefined;
  const reachable = conditionOf(host, 'Reachable');
  const login = reachable?.status === 'False' ? [`Reachable: ${conditionWords(reachable)}`] : [];
  const error: ErrorReport = {
    code: 'BKE_AGENT_SILENT',
    message: `the agent of ${host.metadata.name} is silent${since}: ${ready.message}`,
    hint: 'Switch the host on or mend its network: its agent goes on by itself from where it was. Then run the same command again.',
    ...(login.length === 0 ? {} : { details: login.flatMap((words) => words.split('\n')) }),
  };
  return { error, graceMs: silentGrace(host, asking, graceMs.silent) };
}

/** One that was silent before somebody asked is logged in to first. */
function silentGrace(host: KubeObject, asking: Asking, otherwise: number): number {
  return isSince(host, 'AgentReady', asking) ? otherwise : graceMs.looksAgain;
}

/** Nobody takes it again before somebody asks, and one that a machine has not even then. */
function resetError(host: KubeObject, since: string): ErrorReport {
  const { name, namespace = '' } = host.metadata;
  const consumer = textAt(host, 'spec', 'consumerRef', 'name');
  const kubectl = `kubectl -n ${namespace}`;
  return {
    code: 'BKE_HOST_RESET',
    message: `the host was reset: its agent is silent${since} and not installed there any more (bke reset --all was run, or the system is a new one)`,
    hint:
      consumer === undefined
        ? 'Run the same command again: it takes the host anew.'
        : `The node that it was does not come back. Delete its Machine ('${kubectl} get machines -o wide' shows which has node or host ${name}, '${kubectl} delete machine NAME' deletes it): another one is made. Then run the same command again.`,
  };
}

/** ` since 2026-11-30T10:00:00Z`, or nothing. */
export function sinceWords(object: KubeObject | undefined, type: string): string {
  const since = conditionSince(object, type);
  return since === undefined ? '' : ` since ${since}`;
}

/** What the agent ended a command with. Of one that was given before somebody asked, another attempt comes first. */
export function commandTrouble(
  { host, command }: { readonly host: KubeObject; readonly command: KubeObject | undefined },
  failed: ErrorReport,
  asking: Asking,
): Trouble {
  const isOurs = (command !== undefined && askedBy(command) === asking.name) || isYounger(host, asking);
  if (!lastingSteps.has(failed.code)) return { error: failed, graceMs: graceMs.heals };
  return { error: failed, graceMs: isOurs ? 0 : graceMs.looksAgain };
}

/** What no agent can do anything about: the site lacks something, or the machine asks for what bke does not do. */
const siteReasons: ReadonlySet<string> = new Set(['ArtifactsMissing', 'SiteUnknown', 'FormatUnsupported']);

export function siteTrouble(object: KubeObject | undefined, type: string): Trouble | undefined {
  const found = conditionOf(object, type);
  if (found === undefined || !siteReasons.has(found.reason)) return undefined;
  const code = found.reason === 'ArtifactsMissing' ? 'BKE_ARTIFACT_MISSING' : 'BKE_SITE_UNKNOWN';
  return { error: errorInMessage(found.message) ?? { code, message: found.message }, graceMs: graceMs.site };
}

/** Of what an add-on failed with: the same again comes to the same. */
const lastingAddons: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BKE_ARTIFACT_MISSING',
  'BKE_ARTIFACT_UNUSABLE',
  'BKE_DIGEST_MISMATCH',
  'BKE_KUBE_MANIFEST_INVALID',
  'BKE_KUBE_REFUSED',
  'BKE_KUBE_FORBIDDEN',
]);

/** What the kubelet calls an image that it does not get (pkg/kubelet/images/types.go). It tries again, and the same comes of it. */
const noImage = /\b(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)\b/;

function pullError(words: string): ErrorReport[] {
  if (!noImage.test(words)) return [];
  const hint =
    'Push the image into the local registry (docs/guide/local-services.md), or load a bundle that has it, or correct its name. Then run the same command again.';
  return [{ code: 'BKE_PULL_FAILED', ...inLines(words), hint }];
}

/** Of the first that failed. Whoever applies it looks every ten seconds; what heals may take as long as an API server that starts anew. */
export function addonTrouble(
  bkeCluster: KubeObject | undefined,
  open: readonly OpenAddon[],
  asking: Asking,
): Trouble | undefined {
  const [first] = open.flatMap(({ name, words, error }) => {
    const found = errorOf(error);
    return found === undefined ? pullError(words) : [{ ...found, message: named(`add-on ${name}`, found.message) }];
  });
  // Its API server is waited for as such.
  if (bkeCluster === undefined || first === undefined || first.code === 'BKE_KUBE_UNREACHABLE') return undefined;
  if (!lastingAddons.has(first.code)) return { error: first, graceMs: graceMs.cluster };
  return { error: first, graceMs: isSince(bkeCluster, 'AddonsReady', asking) ? graceMs.site : graceMs.looksAgain };
}

/** Made after somebody asked: all that is said of it is about this attempt. */
export function isYounger({ metadata }: KubeObject, { since }: Asking): boolean {
  return Date.parse(metadata.creationTimestamp ?? '') >= Date.parse(since);
}

function isSince(object: KubeObject, type: string, { since }: Asking): boolean {
  return Date.parse(conditionSince(object, type) ?? '') >= Date.parse(since);
}
