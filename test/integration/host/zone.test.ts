// Zones with real mounts in and on them: what was there before is known again, and nothing behind a mount is touched.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inNamespace } from './namespace.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('skipped: mounts need root\n');

let top = '';

beforeEach(() => {
  top = mkdtempSync('/var/tmp/bke-zone-');
});

afterEach(() => {
  execFileSync('rm', ['-rf', '--one-file-system', top]);
});

/** What undoing the zone $T/zone said, then the lines `look` prints. */
async function zone(before: string, meanwhile: string, look: string): Promise<string[]> {
  const script = `
    mkdir -p "$T/zone/there" "$T/keep"; echo canary > "$T/keep/c"; echo user > "$T/zone/there/f"
    ${before}
    "$NODE" "$ZONE" apply "$T/zone" "$T/state"
    ${meanwhile}
    "$NODE" "$ZONE" undo "$T/zone" "$T/state"
    cat "$T/keep/c"
    ${look}`;
  const cli = fileURLToPath(new URL('zone-cli.ts', import.meta.url));
  const { stdout, stderr, exitCode } = await inNamespace(script, { T: top, ZONE: cli });
  expect([stderr, exitCode]).toEqual(['', 0]);
  return stdout.trim().replaceAll(top, '$T').split('\n');
}

describe.skipIf(!isRoot)('a zone', () => {
  const fill = 'mkdir -p "$T/zone/new/deep" "$T/zone/there"; echo k > "$T/zone/new/deep/k"; echo k > "$T/zone/there/k"';

  test('with a mount of the user in it: the mount and what was there stay, all that came goes', async () => {
    const mount = 'mkdir "$T/zone/disk"; mount --bind "$T/keep" "$T/zone/disk"';
    expect(await zone(mount, fill, 'find "$T/zone" | sort')).toEqual([
      '["zone:$T/zone",{"result":"undone"}]',
      'canary',
      '$T/zone',
      '$T/zone/disk',
      '$T/zone/disk/c',
      '$T/zone/there',
      '$T/zone/there/f',
    ]);
  });

  test('with a mount that came meanwhile: it is named and stays, the rest goes', async () => {
    const mount = `${fill}; mkdir "$T/zone/new/disk"; mount --bind "$T/keep" "$T/zone/new/disk"`;
    expect(await zone('', mount, 'find "$T/zone" | sort')).toEqual([
      '["zone:$T/zone",{"result":"left","why":"$T/zone/new/disk: something is mounted here"}]',
      'canary',
      '$T/zone',
      '$T/zone/new',
      '$T/zone/new/disk',
      '$T/zone/new/disk/c',
      '$T/zone/there',
      '$T/zone/there/f',
    ]);
  });

  test('that is a disk of its own since before: what came goes from it', async () => {
    const disk = 'mount -t tmpfs disk "$T/zone"; mkdir "$T/zone/lost+found"';
    expect(await zone(disk, fill, 'find "$T/zone" | sort; umount "$T/zone"; cat "$T/zone/there/f"')).toEqual([
      '["zone:$T/zone",{"result":"undone"}]',
      'canary',
      '$T/zone',
      '$T/zone/lost+found',
      'user',
    ]);
  });

  test('over which something was mounted meanwhile: nothing is touched', async () => {
    const over = `${fill}; mount --bind "$T/keep" "$T/zone"`;
    expect(await zone('', over, 'cat "$T/zone/c"; umount "$T/zone"; cat "$T/zone/new/deep/k"')).toEqual([
      '["zone:$T/zone",{"result":"left","why":"$T/zone: something is mounted here"}]',
      'canary',
      'canary',
      'k',
    ]);
  });
});
