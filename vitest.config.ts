import { defineConfig } from 'vitest/config';

// Three projects: unit (no root, no network), integration (real sshd, registry, API server), e2e (real hosts of the test bed).
// Tests see the files of an ordinary host whatever the user's umask; what must hold under any umask is tested under several.
process.umask(0o022);

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 15_000 } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
