// Findings of many hosts as people read them: what is equal is told once, with the hosts it is true of.
import { listedShort, plural } from '../../lib/text.ts';
import type { HostCheckedFinding } from './run.ts';

export interface FindingGroup extends Omit<HostCheckedFinding, 'host'> {
  /** In the order of the file; empty: the machine that bke runs on. */
  readonly hosts: readonly string[];
}

/** Hosts that a line names before it counts the rest. */
export const mostNamed = 8;

/** Errors first. */
export function groupFindings(findings: readonly HostCheckedFinding[]): FindingGroup[] {
  const groups = Map.groupBy(findings, ({ host, severity, check, message, hint }) =>
    JSON.stringify([severity, check, message, hint, host === undefined]),
  );
  const all = [...groups.values()].flatMap(([first, ...rest]) => {
    if (first === undefined) return [];
    const { host: _, ...finding } = first;
    return [{ ...finding, hosts: [first, ...rest].flatMap(({ host }) => host ?? []) }];
  });
  return [...all.filter(({ severity }) => severity === 'error'), ...all.filter(({ severity }) => severity !== 'error')];
}

/** `12 hosts (w1, w2, …): swap: swap is on` */
export function groupText({ hosts, check, message }: FindingGroup): string {
  return `${hostsText(hosts)}: ${check}: ${message}`;
}

function hostsText(hosts: readonly string[]): string {
  if (hosts.length === 0) return 'this machine';
  return hosts.length === 1 ? hosts.join('') : `${plural(hosts.length, 'host')} (${listedShort(hosts, mostNamed)})`;
}

/** A line for each, and its mend under it; where the next has the same mend, once under both. */
export function groupLines(groups: readonly FindingGroup[]): string[] {
  return groups.flatMap((group, index) => {
    const next = groups[index + 1];
    const told = group.hint === undefined || (next?.hint === group.hint && next.check === group.check);
    return told ? [groupText(group)] : [groupText(group), `  -> ${group.hint}`];
  });
}
