// Reports that come by the thousand, thinned out for who shows or keeps them.

/** Passes on the first report, then at most one every `intervalMs`; `last` tells which report must never be lost. */
export function throttled<Report>(
  intervalMs: number,
  pass: (report: Report) => void,
  last: (report: Report) => boolean,
): (report: Report) => void {
  let passed = Number.NEGATIVE_INFINITY;
  return (report) => {
    const now = performance.now();
    if (now - passed < intervalMs && !last(report)) return;
    passed = now;
    pass(report);
  };
}
