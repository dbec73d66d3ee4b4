// Runs all checks, on one host or on many, and tells all problems at once.
import { type CheckName, checkNames } from '../../lib/check-names.ts';
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import type { Check, CheckSubject, Finding, HostNeeds, NamedSubject } from './check.ts';
import { clockCheck, timeServiceCheck } from './clock-checks.ts';
import { hostnameCheck, machineIdCheck, sameMachineCheck } from './identity-checks.ts';
import { cpuCheck, kernelCheck, memoryCheck, swapCheck } from './kubernetes-checks.ts';
import { defaultRouteCheck, networksCheck, nodeAddressCheck, resolverCheck } from './network-checks.ts';
import { diskCheck, portsCheck, reachableCheck, runtimeCheck } from './room-checks.ts';
import { firewallCheck, selinuxCheck } from './security-checks.ts';
import { cgroupCheck, librariesCheck, platformCheck, rootCheck, systemdCheck, toolsCheck } from './system-checks.ts';

/** In the order in which they are told, which is that of src/lib/check-names.ts. */
export const checks: readonly Check[] = [
  rootCheck,
  platformCheck,
  librariesCheck,
  systemdCheck,
  hostnameCheck,
  machineIdCheck,
  sameMachineCheck,
  clockCheck,
  timeServiceCheck,
  kernelCheck,
  cgroupCheck,
  cpuCheck,
  memoryCheck,
  swapCheck,
  toolsCheck,
  portsCheck,
  diskCheck,
  reachableCheck,
  runtimeCheck,
  nodeAddressCheck,
  defaultRouteCheck,
  networksCheck,
  resolverCheck,
  selinuxCheck,
  firewallCheck,
];

export interface CheckedFinding extends Finding {
  readonly check: CheckName;
}

export interface HostCheckedFinding extends CheckedFinding {
  /** undefined: the machine that bke runs on. */
  readonly host: string | undefined;
}

/** Those that are asked of a host for what comes. */
export function checksFor(needs: HostNeeds, ignored: readonly string[] = []): Check[] {
  return checks.filter((check) => !ignored.includes(check.name) && isAsked(check, needs));
}

/** @throws BkeError BKE_USAGE where a name to ignore is no check: a misspelt one must not look obeyed. */
export function inspectHost(subject: CheckSubject, ignored: readonly string[] = []): CheckedFinding[] {
  refuseUnknown(ignored);
  return checksFor(subject.needs, ignored).flatMap((check) =>
    check.inspect(subject).map((finding) => ({ ...finding, check: check.name })),
  );
}

/** All checks on all hosts, and between them; told host by host in the order of the checks. @throws BkeError as inspectHost. */
export function inspectHosts(subjects: readonly NamedSubject[], ignored: readonly string[] = []): HostCheckedFinding[] {
  refuseUnknown(ignored);
  const wanted = checks.filter(({ name }) => !ignored.includes(name));
  return wanted.flatMap((check) => {
    const asked = subjects.filter(({ needs }) => isAsked(check, needs));
    const alone = asked.flatMap((subject) =>
      check.inspect(subject).map((finding) => ({ ...finding, host: subject.host })),
    );
    return [...alone, ...(check.compare?.(asked) ?? [])].map((finding) => ({ ...finding, check: check.name }));
  });
}

function isAsked(check: Check, needs: HostNeeds): boolean {
  return check.appliesTo?.(needs) ?? true;
}

function refuseUnknown(ignored: readonly string[]): void {
  const unknown = ignored.filter((name) => !checkNames.some((known) => known === name));
  if (unknown.length === 0) return;
  throw new BkeError('BKE_USAGE', `there is no check named ${unknown.join(', ')}`, {
    hint: `The checks are: ${checkNames.join(', ')}.`,
  });
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
