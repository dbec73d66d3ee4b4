import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Three projects: unit (no root, no network), integration (real sshd, registry, API server), e2e (real hosts of the test bed).
// Most of their time is waiting, so that more files run at once than there are cores; hosts need more of the machine and run in pairs.
// Tests see the files of an ordinary host whatever the user's umask; what must hold under any umask is tested under several.
process.umask(0o022);

/** What comes soon comes later on a machine with much to do. */
const patient = { poll: { timeout: 10_000 } };

const longest = /\/main-job\.test\.ts$/;

/** The longest file first: begun last it would run alone at the end. Vitest goes by the size of files it has not seen. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(longest.test(b.moduleId)) - Number(longest.test(a.moduleId)));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 15_000,
          // Files share their worker's modules: loading them anew for each was a third of the time. No module of bke has state that a test could leave behind.
          isolate: false,
          maxWorkers: Math.max(4, availableParallelism()),
          sequence: { groupOrder: 0 },
          expect: patient,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          expect: patient,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          setupFiles: ['test/e2e/helpers/own-bed.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          expect: patient,
        },
      },
    ],
  },
});
