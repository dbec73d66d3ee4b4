// Moments as people and Kubernetes write them: RFC 3339 to the second.

/** 2026-11-30T10:15:00Z. @param time text that is none comes back as it is */
export function timeText(time: Date | string): string {
  const text = typeof time === 'string' ? time : time.toISOString();
  return text.replace(/\.\d+Z$/, 'Z');
}
