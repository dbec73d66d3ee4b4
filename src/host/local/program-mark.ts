// Marks the programs that run while this process holds the lock of its host, so that one that outlives the process is found.

export const markName = 'BKE_LOCK';

let current: string | undefined;

/** @param claim name of the lock's claim, never used twice. Returns what ends the marking. */
export function markPrograms(claim: string): () => void {
  current = claim;
  return () => {
    if (current === claim) current = undefined;
  };
}

/** For the environment of a program; its own children inherit it. */
export function programMark(): Readonly<Record<string, string>> {
  return current === undefined ? {} : { [markName]: current };
}
