import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { temporaryFolder } from '../../fakes/release.ts';

it('memory stays flat while a blob of 600 MB is built into a bundle, verified and loaded', async () => {
  const dir = await temporaryFolder();
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'memory-cli.ts'), dir]);
    const result = z.object({ grownMiB: z.number(), faults: z.number(), bytes: z.number() }).parse(JSON.parse(stdout));
    expect(result).toMatchObject({ faults: 0 });
    expect(result.bytes).toBeGreaterThan(2 * 600 * 1024 * 1024);
    expect(result.grownMiB).toBeLessThan(150);
  } finally {
    await rm(dir, { recursive: true });
  }
});
