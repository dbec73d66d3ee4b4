// The arm64 binary starts: under user-mode emulation, on the C and C++ libraries that Debian has for it.
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, it } from 'vitest';
import { ensurePackages } from '../../testbed/packages.ts';

const binary = join(import.meta.dirname, '../../../dist/bke-linux-arm64');

beforeAll(ensurePackages);

it('starts under emulation and says what it is', async () => {
  // Without this test's own NODE_ variables: the emulator cannot start a program anew by execve, as bke does to be rid of them.
  const env = { PATH: process.env['PATH'] ?? '' };
  const command = ['-L', '/usr/aarch64-linux-gnu', binary, 'version'];
  const { stdout } = await execa('qemu-aarch64-static', command, { env, extendEnv: false });
  expect(stdout).toMatch(/^bke \d+\.\d+\.\d+ \(linux\/arm64, node 24\.\d+\.\d+\)$/);
});
