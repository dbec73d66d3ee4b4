// What `npm run demo -- reset` says of hosts that are other than before, and where there is nothing to give back.

/** A host with the lines of its scan: `files: + /root/notes (…)`. */
export interface Differing {
  readonly host: string;
  readonly changes: readonly string[];
}

/** Lines of a host that are told again; all of them stand above, with its scan. */
const mostAgain = 20;

/** @param failed whether a reset did not come to its end: then nothing can be said of whose a difference is. */
export function differenceLines(differing: readonly Differing[], { failed }: { readonly failed: boolean }): string[] {
  const lines = differing.flatMap(({ host, changes }) => [
    `  ${host}`,
    ...changes.slice(0, mostAgain).map((change) => `    ${change}`),
    ...(changes.length > mostAgain ? [`    … and ${changes.length - mostAgain} more, above`] : []),
  ]);
  const key = '+ was not there before the demo, - is gone since, ~ is other than before';
  if (failed) return [`What differs from before the demo (${key}):`, ...lines];
  return [
    'Each bke reset ended well: it looked again and found nothing of bke left. The hosts are still other than before the demo',
    `(${key}):`,
    ...lines,
    'Files that you made yourself are expected here: bke leaves what is not its own, and another reset leaves them too.',
    'What is not yours should not be here: then bke left or took something that it should not have.',
  ];
}

/** Hosts of the demo, as far as they are here. */
interface Here {
  readonly hosts: readonly string[];
  /** Whether each of them was looked at before bke came to it. */
  readonly scanned: boolean;
}

/** undefined where there is a host that bke came to. */
export function whyNothingToGiveBack({ hosts, scanned }: Here): string | undefined {
  if (hosts.length === 0) return 'There is no demo: none of its hosts is here. npm run demo makes one.';
  if (scanned) return undefined;
  return 'The demo has not come as far as bke: there is nothing to give back. npm run demo makes a new one; npm run demo -- down removes the hosts.';
}
