// Durations as people write and read them: 90s, 5m, 1h30m.

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds, or undefined where the text is no duration. A bare number is none: its unit would be a guess. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (units[unit ?? ''] ?? Number.NaN);
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : undefined;
}

/** 0.4s, 12s, 3m04s, 1h02m, 2d03h. */
export function formatDuration(ms: number): string {
  if (ms < 9950) return `${(Math.max(0, ms) / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
  return `${Math.floor(minutes / 1440)}d${two(Math.floor((minutes % 1440) / 60))}h`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
