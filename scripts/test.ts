// `npm test`: all checks and tests in stages, a table of their times against the budget, and a last line `N passed, N failed`.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { execa } from 'execa';

interface Count {
  passed: number;
  failed: number;
  skipped: number;
  /** Names of what failed. */
  failures: readonly string[];
  /** Lines in which tests said why they are skipped. */
  reasons: readonly string[];
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
const total = { passed: 0, failed: 0, skipped: 0 };
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
printFailures();
printTable();
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`);
process.exitCode = total.failed > 0 ? 1 : 0;

async function run(stage: Stage): Promise<Count> {
  const report = join(work, `${stage.name.replaceAll(' ', '-')}.json`);
  // A soak takes hours: each verdict is printed as it comes, so that a run that is cut short has shown something.
  const reporters = [`--reporter=${soak ? 'verbose' : 'default'}`, '--reporter=json', `--outputFile.json=${report}`];
  const extra = stage.vitest === true ? reporters : [];
  const [program = '', ...args] = stage.command;
  const result = await execa(program, [...args, ...extra], {
    preferLocal: true,
    stdin: 'inherit',
    stdout: 'inherit',
    // Read as well as shown: tests that are skipped say why there.
    stderr: ['inherit', 'pipe'],
    reject: false,
    env: soak ? { BKE_SOAK: '1' } : {},
  });
  const ok = result.exitCode === 0;
  const reasons = [...new Set(result.stderr.split('\n').filter((line) => /\bskipped: /.test(line)))];
  if (stage.vitest !== true)
    return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, failures: ok ? [] : [stage.name], reasons };
  return { ...(await counted(report, ok)), reasons };
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** A run that failed outside its tests (a file that doesn't load, a crash) still counts as a failure. */
async function counted(report: string, ok: boolean): Promise<Omit<Count, 'reasons'>> {
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return { passed: 0, failed: 1, skipped: 0, failures: ['the run itself'] };
  const json: Report = JSON.parse(text);
  const named = failedTests(json);
  const failures = ok || named.length > 0 ? named : ['something outside the tests'];
  return { passed: json.numPassedTests, failed: failures.length, skipped: json.numPendingTests, failures };
}

/** Names of failed tests with their files; a file that failed as a whole stands for itself. */
function failedTests({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length > 0) return failed.map((test) => `${file}: ${test.fullName}`);
    return status === 'failed' ? [`${file}: the file itself`] : [];
  });
}

function printFailures(): void {
  for (const { stage, count } of rows) for (const name of count.failures) console.log(`FAILED ${stage.name}: ${name}`);
}

function printTable(): void {
  const columns = total.skipped > 0 ? (['passed', 'failed', 'skipped'] as const) : (['passed', 'failed'] as const);
  console.log(`\n${'stage'.padEnd(22)}${'time'.padStart(9)}${columns.map((column) => column.padStart(9)).join('')}`);
  for (const { stage, seconds, count } of rows) {
    const counts = columns.map((column) => String(count[column]).padStart(9)).join('');
    console.log(`${stage.name.padEnd(22)}${clock(seconds).padStart(9)}${counts}`);
    for (const reason of count.skipped > 0 ? count.reasons : []) console.log(`  ${reason}`);
  }
  for (const budget of ['build', 'tests'] as const) {
    const used = rows.filter((row) => row.stage.budget === budget).reduce((sum, row) => sum + row.seconds, 0);
    const verdict = used <= budgetMinutes[budget] * 60 ? 'within' : 'OVER';
    console.log(`${`budget: ${budget}`.padEnd(22)}${clock(used).padStart(9)}  ${verdict} ${budgetMinutes[budget]} min`);
  }
}

function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}m ${String(whole % 60).padStart(2, '0')}s`;
}
