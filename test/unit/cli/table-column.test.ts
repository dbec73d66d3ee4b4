import { describe, expect, it } from 'vitest';
import { renderTable } from '../../../src/cli/output/table.ts';

describe('a column with words of its own', () => {
  it('writes a value for people, and a dash where there is none', () => {
    const columns = [{ title: 'data', field: 'bytes', text: (bytes: unknown) => `${String(bytes)} B` }];
    expect(renderTable([{ bytes: 5 }, {}], columns, { headers: true, wide: false })).toBe('DATA\n5 B\n-\n');
  });
});
