// The conditions of a BKEMachine, in the order in which they come true, and how an order's progress is told in one.
import { type Verdict, no, unknown, yes } from '../conditions.ts';
import type { Progress } from '../host-command/progress.ts';

export const conditionTypes = ['HostClaimed', 'Prepared', 'Bootstrapped', 'Ready'] as const;
export type ConditionType = (typeof conditionTypes)[number];

export type Verdicts = Readonly<Record<ConditionType, Verdict>>;

/** Without Ready, which follows. Those that are absent wait for the ones before. */
export type Parts = { readonly [Type in Exclude<ConditionType, 'Ready'>]?: Verdict };

const waits = (what: string): Verdict => unknown('Waiting', `it waits for ${what}`);

export function verdictsOf({ HostClaimed, Prepared, Bootstrapped }: Parts): Verdicts {
  const parts = {
    HostClaimed: HostClaimed ?? waits('its Machine'),
    Prepared: Prepared ?? waits('a host'),
    Bootstrapped: Bootstrapped ?? waits('the host to be prepared'),
  };
  const held = [parts.HostClaimed, parts.Prepared, parts.Bootstrapped].find(({ status }) => status !== 'True');
  // Cluster API knows true and false of Ready.
  return { ...parts, Ready: held === undefined ? yes('Ready') : no(held.reason, held.message) };
}

/** @param words reasons: while it goes on, when it failed, when it is done; all in CamelCase */
export function progressVerdict(
  progress: Progress,
  host: string,
  words: { readonly running: string; readonly failed: string; readonly done: string },
): Verdict {
  if (progress.state === 'done') return yes(words.done, host);
  if (progress.state === 'failed') return no(words.failed, failureText(host, progress));
  return no(words.running, `${host}: ${waitText(progress)}`);
}

function waitText(progress: Exclude<Progress, { state: 'done' | 'failed' }>): string {
  if (progress.state === 'absent') return 'not begun yet';
  if (progress.state === 'running') {
    return progress.message === '' ? progress.step : `${progress.step}: ${progress.message}`;
  }
  return `waits for its agent to end what it does (${progress.commandID || 'it has no inbox yet'})`;
}

const longest = 8000;

/** Host, step, code, what happened with its last lines, and what to do. */
function failureText(host: string, { step, error }: Extract<Progress, { state: 'failed' }>): string {
  const { code, message, hint } = error;
  const words = [`${host}, step ${step}: ${code}: ${message}`, ...(hint === undefined ? [] : [hint])];
  return words.join('\n').slice(0, longest);
}

/** Reasons of what went wrong, not of what is on its way. */
export const failureReasons: ReadonlySet<string> = new Set([
  'PrepareFailed',
  'BootstrapFailed',
  'CleanUpFailed',
  'ArtifactsMissing',
  'SiteUnknown',
  'FormatUnsupported',
  'SettingUnsupported',
  'HostLost',
]);
