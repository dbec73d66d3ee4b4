// `npm test`: all checks and tests in stages, a table of their times against the budget, and a last line `N passed, N failed`.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

interface Stage {
  readonly name: string;
  readonly budget: 'build' | 'tests';
  readonly command: readonly string[];
  /** true: vitest, whose tests are counted one by one; else the stage counts as one test. */
  readonly vitest?: boolean;
  /** A stage without which the later ones can't run. */
  readonly required?: boolean;
}

/** Minutes the stages may take on 2 cores: a cold build of everything, and the tests that exist so far. */
const budgetMinutes = { build: 25, tests: 14 };

const soak = process.argv.includes('--soak');
const stages: readonly Stage[] = [
  { name: 'check', budget: 'tests', command: ['bash', 'scripts/check.sh'] },
  { name: 'unit', budget: 'tests', command: ['vitest', 'run', '--project', 'unit'], vitest: true },
  { name: 'build the binary', budget: 'build', command: ['node', 'scripts/build-binary.ts'], required: true },
  { name: 'build the test bed', budget: 'build', command: ['node', 'test/testbed/cli.ts', 'build'], required: true },
  { name: 'integration', budget: 'tests', command: ['vitest', 'run', '--project', 'integration'], vitest: true },
  { name: 'end to end', budget: 'tests', command: ['vitest', 'run', '--project', 'e2e'], vitest: true },
];

const work = await mkdtemp(join(tmpdir(), 'bke-test-'));
const total: Count = { passed: 0, failed: 0, skipped: 0 };
const rows: { stage: Stage; seconds: number; count: Count }[] = [];
try {
  for (const stage of stages) {
    console.log(`\n=== ${stage.name}: ${stage.command.join(' ')}`);
    const started = performance.now();
    const count = await run(stage);
    rows.push({ stage, seconds: (performance.now() - started) / 1000, count });
    for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += count[key];
    if (stage.required === true && count.failed > 0) break;
  }
} finally {
  await rm(work, { recursive: true });
}
printTable();
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`);
process.exitCode = total.failed > 0 ? 1 : 0;

async function run(stage: Stage): Promise<Count> {
  const report = join(work, `${stage.name.replaceAll(' ', '-')}.json`);
  const extra = stage.vitest === true ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : [];
  const [program = '', ...args] = stage.command;
  const result = await execa(program, [...args, ...extra], {
    preferLocal: true,
    stdio: 'inherit',
    reject: false,
    env: soak ? { BKE_SOAK: '1' } : {},
  });
  const ok = result.exitCode === 0;
  if (stage.vitest !== true) return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
  return counted(report, ok);
}

/** A run that failed outside its tests (a file that doesn't load, a crash) still counts as a failure. */
async function counted(report: string, ok: boolean): Promise<Count> {
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const json: { numPassedTests: number; numFailedTests: number; numPendingTests: number } = JSON.parse(text);
  return {
    passed: json.numPassedTests,
    failed: ok ? json.numFailedTests : Math.max(json.numFailedTests, 1),
    skipped: json.numPendingTests,
  };
}

function printTable(): void {
  console.log(`\n${'stage'.padEnd(22)}${'time'.padStart(9)}${'passed'.padStart(9)}${'failed'.padStart(9)}`);
  for (const { stage, seconds, count } of rows) {
    console.log(
      `${stage.name.padEnd(22)}${clock(seconds).padStart(9)}${String(count.passed).padStart(9)}${String(count.failed).padStart(9)}`,
    );
  }
  for (const budget of ['build', 'tests'] as const) {
    const used = rows.filter((row) => row.stage.budget === budget).reduce((sum, row) => sum + row.seconds, 0);
    const verdict = used <= budgetMinutes[budget] * 60 ? 'within' : 'OVER';
    console.log(`${`budget: ${budget}`.padEnd(22)}${clock(used).padStart(9)}  ${verdict} ${budgetMinutes[budget]} min`);
  }
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}m ${String(Math.round(seconds % 60)).padStart(2, '0')}s`;
}
