// Deleting trees with real mounts in them: data behind a mount survives, everything else goes, and what stays is named.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RemoveTreeResult } from '../../../src/host/host.ts';
import { inNamespace } from './namespace.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('skipped: mounts need root\n');

let top = '';

beforeEach(() => {
  top = mkdtempSync('/var/tmp/bke-remove-');
});

afterEach(() => {
  execFileSync('rm', ['-rf', '--one-file-system', top]);
});

interface Removed extends RemoveTreeResult {
  /** What the script printed after the removal. */
  readonly after: string;
}

/** `prepare` fills $T/kubelet and mounts things; the removal is of $T/kubelet; `after` looks. */
async function remove(
  prepare: string,
  options: { after?: string; view?: string; keep?: string } = {},
): Promise<Removed> {
  const { after = 'true', view = 'view', keep = '' } = options;
  const script = `
    mkdir -p "$T/kubelet/pods/u1" "$T/kubelet/pods/u2" "$T/keep"
    echo canary > "$T/keep/c"; echo x > "$T/kubelet/pods/u2/f"; ln -s "$T/keep" "$T/kubelet/pods/u2/link"
    ${prepare}
    "$NODE" "$REMOVE" "$T/kubelet" ${view} ${keep}
    echo; echo "--after--"; ${after}`;
  const { stdout, stderr, exitCode } = await inNamespace(script, { T: top });
  expect(stderr.replaceAll(/\(node:.*|\(Use .*/g, '').trim()).toBe('');
  expect(exitCode).toBe(0);
  const [json = '', rest = ''] = stdout.split('\n--after--\n');
  const result: RemoveTreeResult = JSON.parse(json);
  return { ...result, after: rest };
}

function canary(): string {
  return readFileSync(`${top}/keep/c`, 'utf8');
}

describe.skipIf(!isRoot).each(['view', 'in-place'])(
  'a tree with mounts in it, removed by the way of the %s',
  (view) => {
    test('without any mount everything goes, the targets of links do not', async () => {
      const { left } = await remove('', { view });
      expect(left).toEqual([]);
      expect(existsSync(`${top}/kubelet`)).toBe(false);
      expect(canary()).toBe('canary\n');
    });

    test.each([
      [
        'a bind mount of the same disk',
        'M="$T/kubelet/pods/u1/volumes/kubernetes.io~nfs/v1"; mkdir -p "$M"; mount --bind "$T/keep" "$M"',
      ],
      [
        'the same mounted twice on one place',
        'M="$T/kubelet/pods/u1/v"; mkdir -p "$M"; mount --bind "$T/keep" "$M"; mount --bind "$T/keep" "$M"',
      ],
      [
        'a path with a space, a tab, a newline and a backslash',
        String.raw`M="$T/kubelet/pods/u1/"$'a b\tc\nd\\134e'; mkdir -p "$M"; mount --bind "$T/keep" "$M"`,
      ],
      [
        'shared propagation',
        'mount --bind "$T/kubelet" "$T/kubelet"; umount "$T/kubelet"; mount --make-rshared /; M="$T/kubelet/pods/u1/s"; mkdir -p "$M"; mount --bind "$T/keep" "$M"',
      ],
      [
        'the mount of a CSI driver with a process in it',
        'M="$T/kubelet/plugins/kubernetes.io/csi/d/globalmount"; mkdir -p "$M"; mount --bind "$T/keep" "$M"; (cd "$M" && exec sleep 30 >/dev/null 2>&1) & sleep 0.2',
      ],
      [
        'a mount below a mount',
        'M="$T/kubelet/pods/u1/m"; mkdir -p "$M" "$T/keep/sub"; mount --bind "$T/keep" "$M"; mount -t tmpfs t "$M/sub"; echo t > "$M/sub/t"',
      ],
      ['a file that is a mount', 'M="$T/kubelet/pods/u1/hosts"; touch "$M"; mount --bind "$T/keep/c" "$M"'],
    ])('%s: what is behind it survives, the rest goes', async (_name, prepare) => {
      const { left, after } = await remove(prepare, {
        view,
        after: 'grep -c " $T/kubelet" /proc/self/mountinfo; cat "$T/keep/c"; kill $(jobs -p) 2>/dev/null || true',
      });
      expect(left.map(({ why }) => why)).toEqual(['something is mounted here']);
      expect(canary()).toBe('canary\n');
      expect(Number(after.split('\n')[0])).toBeGreaterThan(0);
      expect(existsSync(`${top}/kubelet/pods/u2`)).toBe(false);
    });

    test('tmpfs and overlay: their content is untouched', async () => {
      const { left, after } = await remove(
        `mkdir -p $T/kubelet/t $T/kubelet/o $T/low $T/up $T/work
       mount -t tmpfs t $T/kubelet/t; echo in-tmpfs > $T/kubelet/t/f
       echo low > $T/low/l; mount -t overlay o -o lowerdir=$T/low,upperdir=$T/up,workdir=$T/work $T/kubelet/o; echo up > $T/kubelet/o/u`,
        { view, after: 'cat $T/kubelet/t/f $T/kubelet/o/u $T/kubelet/o/l' },
      );
      expect(after).toBe('in-tmpfs\nup\nlow\n');
      expect(left.map(({ path }) => path).sort()).toEqual([`${top}/kubelet/o`, `${top}/kubelet/t`]);
      expect(existsSync(`${top}/kubelet/pods`)).toBe(false);
    });

    test('300 mounts: every one is named, all are still there', async () => {
      const { left, after } = await remove(
        'for i in $(seq 300); do mkdir -p $T/kubelet/pods/p$i/v; echo $i > $T/kubelet/pods/p$i/f; mount --bind $T/keep $T/kubelet/pods/p$i/v; done',
        { view, after: 'grep -c " $T/kubelet/pods/p" /proc/self/mountinfo; find $T/kubelet -name f -type f | wc -l' },
      );
      expect(left).toHaveLength(300);
      expect(after).toBe('300\n0\n');
      expect(canary()).toBe('canary\n');
    });

    test('a tree that is a mount point itself is left alone', async () => {
      const { left, removed } = await remove('mount --bind $T/keep $T/kubelet', { view });
      expect([removed, left]).toEqual([0, [{ path: `${top}/kubelet`, why: 'something is mounted here' }]]);
      expect(canary()).toBe('canary\n');
    });

    test('an immutable file is named, what lies beside it goes', async () => {
      const { left } = await remove(
        'echo i > $T/kubelet/pods/u1/i; chattr +i $T/kubelet/pods/u1/i; touch $T/kubelet/pods/u1/beside',
        {
          view,
          after: 'chattr -i $T/kubelet/pods/u1/i; ls $T/kubelet/pods/u1',
        },
      );
      expect(left).toEqual([
        { path: `${top}/kubelet/pods/u1/i`, why: 'not permitted, perhaps immutable (see lsattr)' },
      ]);
      expect(existsSync(`${top}/kubelet/pods/u2`)).toBe(false);
      expect(existsSync(`${top}/kubelet/pods/u1/beside`)).toBe(false);
    });

    test('what is to be kept stays, with odd names and all', async () => {
      const { left, after } = await remove(
        'mkdir -p $T/kubelet/pki; echo k > "$T/kubelet/pki/a b"; echo n > $T/kubelet/pki/new',
        {
          view,
          keep: 'pki "pki/a b"',
          after: 'find $T/kubelet | sort',
        },
      );
      expect(left).toEqual([]);
      expect(after.trim().split('\n')).toEqual([`${top}/kubelet`, `${top}/kubelet/pki`, `${top}/kubelet/pki/a b`]);
    });
  },
);

describe.skipIf(!isRoot)('without the right to mount', () => {
  test('the tree is removed in place, with the same care', async () => {
    const script = `
      mkdir -p "$T/kubelet/m" "$T/kubelet/d" "$T/keep"; echo canary > "$T/keep/c"; touch "$T/kubelet/d/f"
      mount --bind "$T/keep" "$T/kubelet/m"
      setpriv --bounding-set -sys_admin "$NODE" "$REMOVE" "$T/kubelet" view`;
    const { stdout } = await inNamespace(script, { T: top });
    const result: RemoveTreeResult = JSON.parse(stdout);
    expect(result.left).toEqual([{ path: `${top}/kubelet/m`, why: 'something is mounted here' }]);
    expect(canary()).toBe('canary\n');
    expect(existsSync(`${top}/kubelet/d`)).toBe(false);
  });
});
