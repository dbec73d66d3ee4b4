// What `bke host check` found: the findings for people, a row for each host, and the exit code.
import type { ClusterConfig, HostConfig } from '../../config/cluster/config.ts';
import type { HostFacts } from '../../host/facts/schema.ts';
import { formatBytes } from '../../lib/bytes.ts';
import type { Column, CommandResult } from '../../lib/command.ts';
import { errorTable, ExitCode } from '../../lib/error-table.ts';
import type { ErrorReport } from '../../lib/errors.ts';
import { listedShort, plural } from '../../lib/text.ts';
import type { OperationResult } from '../../operations/operation.ts';
import { groupFindings, groupLines, mostNamed } from '../../tasks/preflight/groups.ts';
import type { HostsFound } from '../../tasks/preflight/many-hosts.ts';
import type { CheckedFinding } from '../../tasks/preflight/run.ts';
import type { CommandContext } from '../context.ts';

export interface Checked {
  readonly config: ClusterConfig;
  readonly ignored: readonly string[];
  readonly found: HostsFound;
  readonly result: OperationResult;
}

/** ready: nothing in the way, warnings aside; failed: it could not be looked at. */
type State = 'ready' | 'not ready' | 'failed';

interface Row {
  readonly name: string;
  readonly address: string;
  readonly roles: readonly string[];
  readonly state: State;
  /** Names of checks, and of the error where it could not be looked at. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly findings: readonly CheckedFinding[];
  readonly error?: ErrorReport;
  readonly facts?: object;
}

const columns: readonly Column[] = [
  { title: 'name', field: 'name' },
  { title: 'address', field: 'address' },
  { title: 'roles', field: 'roles' },
  { title: 'state', field: 'state' },
  { title: 'errors', field: 'errors' },
  { title: 'warnings', field: 'warnings' },
  { title: 'system', field: 'facts.os', wide: true },
  { title: 'kernel', field: 'facts.kernel', wide: true },
  { title: 'arch', field: 'facts.arch', wide: true },
  { title: 'cpus', field: 'facts.cpus', wide: true },
  { title: 'memory', field: 'facts.memoryBytes', wide: true, text: (bytes) => formatBytes(Number(bytes)) },
  { title: 'cgroup', field: 'facts.cgroup', wide: true },
  { title: 'clock', field: 'facts.clock.offsetMs', wide: true, text: (ms) => `${(Number(ms) / 1000).toFixed(1)}s` },
  { title: 'guards', field: 'facts.guards', wide: true },
];

export function checkResult(checked: Checked): CommandResult {
  const items = rowsOf(checked);
  const groups = groupFindings(checked.found.findings);
  return {
    kind: 'list',
    items,
    about: { cluster: checked.config.name, ignoredChecks: checked.ignored, findings: groups },
    columns,
    empty: 'The file has no hosts.',
    exitCode: exitCodeOf(checked),
  };
}

/** Errors with their mends, then the hosts that could not be looked at. Warnings were notes of the operation. */
export function tellFindings(context: Pick<CommandContext, 'note'>, checked: Checked): void {
  const groups = groupFindings(checked.found.findings);
  for (const line of groupLines(groups.filter(({ severity }) => severity === 'error')))
    context.note(line.startsWith(' ') ? line : `error: ${line}`);
  const sites = new Map(checked.config.hosts.map((host) => [host.name, host]));
  const failures = Map.groupBy(failuresOf(checked), ([name, { code, hint }]) =>
    JSON.stringify([code, hintOfAny(hint, sites.get(name))]),
  );
  for (const same of failures.values()) {
    for (const [host, { code, message, details = [] }] of same) {
      context.note(`error: ${host}: [${code}] ${message}`);
      for (const line of details) context.note(`  ${line}`);
    }
    const hint = same[0]?.[1].hint;
    const others = same.flatMap(([host, error]) => (error.hint === hint ? [] : [host]));
    const likewise = others.length === 0 ? '' : ` (in the same way: ${listedShort(others, mostNamed)})`;
    if (hint !== undefined) context.note(`  -> ${hint}${likewise}`);
  }
  context.note(summaryLine(checked));
}

/** Without what it has of the one host: hints that differ in no more are told once. */
function hintOfAny(hint: string | undefined, host: HostConfig | undefined): string | undefined {
  if (hint === undefined || host === undefined) return hint;
  return hint.replaceAll(host.address, '<address>').replaceAll(host.name, '<name>');
}

function summaryLine(checked: Checked): string {
  const rows = rowsOf(checked);
  const count = (state: State): number => rows.filter((row) => row.state === state).length;
  const parts = [
    [count('ready'), 'ready'],
    [count('not ready'), 'not ready'],
    [count('failed'), 'could not be looked at'],
  ] as const;
  const here = checked.found.findings.some(({ host, severity }) => host === undefined && severity === 'error');
  const there = parts.filter(([number]) => number > 0);
  const [only] = there;
  const told =
    there.length === 1 && only !== undefined ? [only[1]] : there.map(([number, word]) => `${number} ${word}`);
  const { ignored } = checked;
  const left = ignored.length === 0 ? '' : `; left out: ${ignored.join(', ')}`;
  return `${plural(rows.length, 'host')}: ${told.join(', ')}${here ? '; look at this machine too' : ''}${left}.`;
}

function failuresOf({ result }: Checked): Map<string, ErrorReport> {
  return new Map(
    result.hosts.flatMap(({ host, error }) => (host === undefined || error === undefined ? [] : [[host, error]])),
  );
}

function rowsOf(checked: Checked): Row[] {
  const failures = failuresOf(checked);
  const findings = Map.groupBy(checked.found.findings, ({ host }) => host);
  return checked.config.hosts.map((host) =>
    rowOf(host, {
      error: failures.get(host.name),
      findings: findings.get(host.name) ?? [],
      facts: checked.found.facts.get(host.name),
    }),
  );
}

interface FoundOfHost {
  readonly error: ErrorReport | undefined;
  readonly findings: HostsFound['findings'];
  readonly facts: HostFacts | undefined;
}

function rowOf({ name, address, roles }: HostConfig, { error, findings, facts }: FoundOfHost): Row {
  const namesOf = (wanted: CheckedFinding['severity']): string[] => [
    ...new Set(findings.flatMap(({ severity, check }) => (severity === wanted ? [check] : []))),
  ];
  const errors = namesOf('error');
  const state: State = error !== undefined ? 'failed' : errors.length > 0 ? 'not ready' : 'ready';
  return {
    name,
    address,
    roles,
    state,
    errors: error === undefined ? errors : [error.code],
    warnings: namesOf('warning'),
    findings: findings.map(withoutHost),
    ...(error === undefined ? {} : { error }),
    ...(facts === undefined ? {} : { facts: toldFacts(facts) }),
  };
}

function withoutHost({ check, severity, message, hint }: CheckedFinding): CheckedFinding {
  return { check, severity, message, ...(hint === undefined ? {} : { hint }) };
}

/** What a person may want to see of a healthy host as well. */
function toldFacts(facts: HostFacts): object {
  const { os, kernel, arch, cpus, memoryBytes, cgroup, clock, hostname, machineId, selinux, apparmor, services } =
    facts;
  const firewalls = services.flatMap(({ name, active }) =>
    ['firewalld', 'ufw', 'nftables', 'iptables'].includes(name) && active === 'active' ? [name] : [],
  );
  const guards = [
    ...(selinux.mode === 'disabled' ? [] : [`selinux ${selinux.mode}`]),
    ...(apparmor ? ['apparmor'] : []),
    ...firewalls,
  ];
  return { hostname, machineId, os: os.name, kernel, arch, cpus, memoryBytes, cgroup: cgroup.version, clock, guards };
}

/** A host that could not be looked at may hide anything: it decides. */
function exitCodeOf(checked: Checked): number {
  const codes = new Set([...failuresOf(checked).values()].map(({ code }) => errorTable[code].exit));
  const [only] = codes;
  if (only !== undefined) return codes.size === 1 ? only : ExitCode.remoteHost;
  return checked.found.findings.some(({ severity }) => severity === 'error') ? ExitCode.preflight : 0;
}
