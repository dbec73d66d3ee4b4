import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { cliPage, errorsPage } from '../../../scripts/docs.ts';

describe('generated documentation', () => {
  it.each([
    ['errors.md', errorsPage],
    ['reference/cli.md', cliPage],
  ])('docs/%s is what `npm run docs` makes', async (name, make) => {
    const written = await readFile(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
    expect(written === make(), 'run `npm run docs` and commit what it writes').toBe(true);
  });
});
