// Did you mean: the candidates nearest to what was typed.

/** Damerau-Levenshtein distance (optimal string alignment): inserted, dropped, replaced and swapped letters cost 1. */
export function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(last, j) + 1,
          at(row, j - 1) + 1,
          at(last, j - 1) + (same ? 0 : 1),
          swapped ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/** The nearest candidate, or undefined where none is near enough to be meant. Also meant: the start of a longer word. */
export function nearest(typed: string, candidates: readonly string[]): string | undefined {
  const word = typed.toLowerCase();
  let best: string | undefined;
  let bestScore = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const other = candidate.toLowerCase();
    const started = word.length >= 2 && other.startsWith(word);
    const score = started ? 0.5 : distance(word, other);
    if (score < bestScore && (started || score <= allowed(word, other))) {
      best = candidate;
      bestScore = score;
    }
  }
  return best;
}

function allowed(a: string, b: string): number {
  const length = Math.max(a.length, b.length);
  if (length <= 4) return 1;
  return length <= 7 ? 2 : 3;
}
