import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSecretFile } from '../../../src/lib/read-secret-file.ts';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-secret-'));
  file = join(folder, 'password');
  await writeFile(file, 'secret\n');
});
afterAll(() => rm(folder, { recursive: true }));

describe('a secret file', () => {
  it.each([0o600, 0o400, 0o700])('of mode %o is read', async (mode) => {
    await chmod(file, mode);
    expect(await readSecretFile(file)).toBe('secret\n');
  });

  it.each([0o644, 0o640, 0o604, 0o620, 0o602])(
    'of mode %o is refused, and the error tells the mend but no content',
    async (mode) => {
      await chmod(file, mode);
      const error: unknown = await readSecretFile(file).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: 'BKE_SECRET_EXPOSED',
        message: `${file} holds a secret, but has the mode 0${mode.toString(8)}: others may reach it`,
        hint: `Make it yours alone: chmod 600 ${file}`,
      });
    },
  );

  it('may come through a pipe', async () => {
    const module = join(import.meta.dirname, '../../../src/lib/read-secret-file.ts');
    const script = `console.log(await (await import(${JSON.stringify(module)})).readSecretFile(process.argv[1]))`;
    const command = `'${process.execPath}' --input-type=module -e '${script}' <(printf piped)`;
    expect((await promisify(execFile)('bash', ['-c', command])).stdout).toBe('piped\n');
  });

  it('is never as large as this one', async () => {
    await writeFile(file, 'x'.repeat(65 * 1024));
    await chmod(file, 0o600);
    await expect(readSecretFile(file)).rejects.toThrow('it is far too large to hold a secret');
  });
});
