// The difference of two scans in words.
import type { Scan } from './scan.ts';

/** One line per item that is new (`+`), gone (`-`) or other than before (`~`); empty when the scans are equal. */
export function diffScans(before: Scan, after: Scan): string[] {
  const categories = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return categories.flatMap((category) =>
    diffItems(before[category] ?? {}, after[category] ?? {}).map((line) => `${category}: ${line}`),
  );
}

function diffItems(before: Record<string, string>, after: Record<string, string>): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [old, now] = [before[name], after[name]];
    if (old === now) return [];
    if (old === undefined) return [`+ ${name} (${now})`];
    if (now === undefined) return [`- ${name} (${old})`];
    return [`~ ${name}: ${old} => ${now}`];
  });
}
