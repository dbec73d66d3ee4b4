// Runs all checks on one host and tells all problems at once.
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import type { Check, CheckSubject, Finding } from './check.ts';
import { cpuCheck, defaultRouteCheck, memoryCheck, networksCheck, swapCheck } from './kubernetes-checks.ts';
import { diskCheck, firewallCheck, portsCheck, reachableCheck, runtimeCheck } from './room-checks.ts';
import {
  cgroupCheck,
  clockCheck,
  hostnameCheck,
  librariesCheck,
  platformCheck,
  rootCheck,
  systemdCheck,
  toolsCheck,
} from './system-checks.ts';

/** In the order in which they are told. */
export const checks: readonly Check[] = [
  rootCheck,
  platformCheck,
  librariesCheck,
  systemdCheck,
  hostnameCheck,
  clockCheck,
  cgroupCheck,
  cpuCheck,
  memoryCheck,
  swapCheck,
  toolsCheck,
  portsCheck,
  diskCheck,
  reachableCheck,
  runtimeCheck,
  defaultRouteCheck,
  networksCheck,
  firewallCheck,
];

export interface CheckedFinding extends Finding {
  readonly check: string;
}

/** @throws BkeError BKE_USAGE where a name to ignore is no check: a misspelt one must not look obeyed. */
export function inspectHost(subject: CheckSubject, ignored: readonly string[] = []): CheckedFinding[] {
  const unknown = ignored.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    throw new BkeError('BKE_USAGE', `there is no check named ${unknown.join(', ')}`, {
      hint: `The checks are: ${checks.map((check) => check.name).join(', ')}.`,
    });
  }
  const wanted = checks.filter((check) => !ignored.includes(check.name));
  return wanted.flatMap((check) => check.inspect(subject).map((finding) => ({ ...finding, check: check.name })));
}

/** @throws BkeError BKE_PREFLIGHT_FAILED with every error; the mend stands once under each group that shares it. */
export function refuseFindings(findings: readonly CheckedFinding[], host: string): void {
  const errors = findings.filter((finding) => finding.severity === 'error');
  if (errors.length === 0) return;
  throw new BkeError('BKE_PREFLIGHT_FAILED', `${plural(errors.length, 'problem')} found before anything was changed`, {
    host,
    details: grouped(errors),
    hint: 'Mend them and run the same command again. --ignore-check NAME leaves one out.',
  });
}

function grouped(errors: readonly CheckedFinding[]): string[] {
  const groups = Map.groupBy(errors, ({ check, hint }) => `${check}\0${hint ?? ''}`);
  return [...groups.values()].flatMap((group) => {
    const lines = group.map(({ check, message }) => `${check}: ${message}`);
    const hint = group[0]?.hint;
    return hint === undefined ? lines : [...lines, `  -> ${hint}`];
  });
}
