// A full disk is told by name, path and bytes, and nothing half written is left there.
import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { inNamespace } from './namespace.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('skipped: mounts need root\n');
const top = mkdtempSync('/var/tmp/bke-full-');

afterAll(() => {
  rmSync(top, { recursive: true });
});

describe.skipIf(!isRoot)('on a full disk', () => {
  test('writing fails with BKE_DISK_FULL, the old file stays and no draft lies beside it', async () => {
    const module = new URL('../../../src/host/local/local-files.ts', import.meta.url).href;
    const code = `
      const { LocalFiles } = await import('${module}');
      const files = new LocalFiles();
      const attributes = { mode: 0o644, uid: 0, gid: 0 };
      await files.write('${top}/f', 'old', attributes);
      const thrown = await files.write('${top}/f', Buffer.alloc(1 << 20), attributes).catch((error) => error);
      const names = await files.list('${top}');
      console.log(JSON.stringify([thrown.code, thrown.message, names, (await files.read('${top}/f')).toString()]));`;
    const script = `mount -t tmpfs -o size=64k full ${top}; "$NODE" --input-type=module -e "$CODE"`;
    const { stdout, stderr } = await inNamespace(script, { CODE: code });
    expect(JSON.parse(stdout === '' ? JSON.stringify(stderr) : stdout)).toEqual([
      'BKE_DISK_FULL',
      `the disk is full: writing ${top}/f needs 1048576 bytes (ENOSPC)`,
      ['f'],
      'old',
    ]);
  });

  test('appending is all or nothing: the next line is whole', async () => {
    const module = new URL('../../../src/host/local/local-files.ts', import.meta.url).href;
    const code = `
      const { LocalFiles } = await import('${module}');
      const files = new LocalFiles();
      await files.append('${top}/log', 'first\\n');
      const thrown = await files.append('${top}/log', 'x'.repeat(1 << 20)).catch((error) => error);
      await files.append('${top}/log', 'second\\n');
      console.log(JSON.stringify([thrown.code, (await files.read('${top}/log')).toString()]));`;
    const script = `mount -t tmpfs -o size=64k full ${top}; "$NODE" --input-type=module -e "$CODE"`;
    const { stdout, stderr } = await inNamespace(script, { CODE: code });
    expect(JSON.parse(stdout === '' ? JSON.stringify(stderr) : stdout)).toEqual(['BKE_DISK_FULL', 'first\nsecond\n']);
  });
});
