// The three commands that need nothing, in every odd place; and what the built files ask of a system at least.
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const dist = join(import.meta.dirname, '../../../dist');
const binary = join(dist, 'bke-linux-amd64');
let folder: string;
let file: string;

const cluster = `apiVersion: bke.io/v1alpha1
kind: Cluster
metadata: {name: c1}
spec:
  kubernetesVersion: v1.36.3
  hosts:
    - {name: m1, address: 192.0.2.11, roles: [control-plane], ssh: {user: root, password: "x"}}
    - {name: w1, address: 192.0.2.12, roles: [worker], ssh: {user: root, password: "x"}}
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-commands-'));
  file = join(folder, 'ok.yaml');
  await writeFile(file, cluster, { mode: 0o600 });
});
afterAll(async () => rm(folder, { recursive: true }));

/** In a mount namespace of its own, by a shell: `$0` is bke, `$1` a folder that may be mounted over. */
const places: Readonly<Record<string, { readonly script?: string; readonly env?: Record<string, string> }>> = {
  'without any variable': { script: 'exec /usr/bin/env -i "$0" "$@"' },
  'with stdin, closed': { script: 'exec "$0" "$@" <&-' },
  'with TMPDIR on a file system that forbids programs': {
    script: 'mount -t tmpfs -o noexec tmpfs "$SPOT" && TMPDIR="$SPOT" exec "$0" "$@"',
  },
  'with a HOME that is read-only': {
    script: 'mount -t tmpfs -o ro tmpfs "$SPOT" && HOME="$SPOT" exec "$0" "$@"',
  },
  'with an empty PATH': { env: { PATH: '' } },
  'under another name': { script: 'cp "$0" "$SPOT/other$$" && exec "$SPOT/other$$" "$@"' },
  'through a link': { script: 'ln -sf "$0" "$SPOT/link" && exec "$SPOT/link" "$@"' },
  'with variables of Node': { env: { NODE_OPTIONS: '--inspect=0', NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
};

describe.each(Object.entries(places))('%s', (_, { script = 'exec "$0" "$@"', env = {} }) => {
  it('says its version and its help, and judges a file', async () => {
    const spot = join(folder, 'spot');
    await mkdir(spot, { recursive: true });
    const run = async (...words: readonly string[]): Promise<string> => {
      // The shell needs a PATH of its own; what bke gets is set last.
      const named = Object.entries(env).map(([name, value]) => `export ${name}='${value}'; `);
      const inner = `SPOT='${spot}'; ${named.join('')}${script}`;
      const plain = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
      const command = ['--mount', '/bin/sh', '-c', inner, binary, ...words];
      const { stdout, stderr } = await execa('unshare', command, { env: plain, extendEnv: false, stdin: 'ignore' });
      expect(stderr).toBe('');
      return stdout;
    };
    const [version, help, judged] = await Promise.all([
      run('--version'),
      run('--help'),
      run('config', 'validate', '-f', file),
    ]);
    expect(version).toMatch(/\d+\.\d+\.\d+/);
    expect(help).toContain('bke');
    expect(judged).toMatch(/ok\.yaml/);
  });
});

it.each(['amd64', 'arm64'])('asks no more of a system than EL8 has: %s', async (arch) => {
  const { stdout } = await execa('readelf', ['-V', join(dist, `bke-linux-${arch}`)]);
  const newest = (prefix: string): number[] => {
    const found = [...stdout.matchAll(new RegExp(`\\b${prefix}_([0-9.]+)`, 'g'))].map(([, version = '']) =>
      version.split('.').map(Number),
    );
    expect(found.length).toBeGreaterThan(0);
    return found.toSorted(compare).at(-1) ?? [];
  };
  expect(compare(newest('GLIBC'), [2, 28])).toBeLessThanOrEqual(0);
  // Of GCC 8.
  expect(compare(newest('GLIBCXX'), [3, 4, 25])).toBeLessThanOrEqual(0);
  expect(compare(newest('CXXABI'), [1, 3, 11])).toBeLessThanOrEqual(0);
});

it('deletes nothing in another place where it may not in its own', async () => {
  const own = join(folder, 'bke');
  await copyFile(binary, own);
  const words = ['--reuid=65534', '--regid=65534', '--clear-groups', own, 'reset', '--all', '--yes'];
  await execa('chmod', ['0755', folder, own]);
  const { exitCode, stderr } = await execa('setpriv', words, {
    env: { PATH: '/usr/sbin:/usr/bin', HOME: folder },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  expect(exitCode).not.toBe(0);
  expect(stderr).toMatch(/error\[BKE_[A-Z_]+\].*root/);
});

function compare(a: readonly number[], b: readonly number[]): number {
  const index = [0, 1, 2].find((at) => (a[at] ?? 0) !== (b[at] ?? 0));
  return index === undefined ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
