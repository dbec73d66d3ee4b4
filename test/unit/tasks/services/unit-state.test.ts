import { describe, expect, it } from 'vitest';
import { parseTimestamp } from '../../../../src/tasks/services/unit-state.ts';

describe("systemd's time stamps", () => {
  it('are read as UTC', () => {
    expect(parseTimestamp('Mon 2026-11-30 09:26:34 UTC')?.toISOString()).toBe('2026-11-30T09:26:34.000Z');
  });

  it.each(['', 'n/a', 'Mon 2026-11-30 09:26:34 CET'])('%s is none', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});
