// Programs of this machine: no shell, a clean environment, ended with all their children, capped output.
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runChecked } from '../../../../src/host/run-checked.ts';
import { BkeError } from '../../../../src/lib/errors.ts';
import { openLocalHost } from '../../../../src/host/local/local-host.ts';
import { runProgram } from '../../../../src/host/local/run.ts';

async function isAlive(pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') X');
  return !/\) [ZX]/.test(stat);
}

test('arguments reach the program as they are', async () => {
  const odd = ['a b', '$HOME', '; rm', "'", '\n'];
  expect((await runProgram(['printf', '%s|', ...odd])).stdout).toBe(odd.map((word) => `${word}|`).join(''));
});

test('nothing of our environment is inherited', async () => {
  process.env['CANARY'] = 'CANARY-7391';
  const { stdout } = await runProgram(['env'], { env: { EXTRA: '1' } });
  delete process.env['CANARY'];
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0] ?? '');
  expect(new Set(names)).toEqual(new Set(['EXTRA', 'HOME', 'LC_ALL', 'PATH']));
});

test('exit codes and signals are results; a missing program is 127 as in a shell', async () => {
  expect(await runProgram(['sh', '-c', 'echo out; echo err >&2; exit 7'])).toEqual({
    exitCode: 7,
    stdout: 'out\n',
    stderr: 'err\n',
  });
  expect((await runProgram(['sh', '-c', 'kill -TERM $$'])).exitCode).toBe(143);
  expect((await runProgram(['bke-no-such-program'])).exitCode).toBe(127);
  expect((await runProgram(['/etc/passwd'])).exitCode).toBe(126);
});

test('input comes from text, bytes or a stream, and is empty without', async () => {
  expect((await runProgram(['cat'], { input: 'text' })).stdout).toBe('text');
  expect((await runProgram(['cat'], { input: Readable.from([Buffer.from('a'), Buffer.from('b')]) })).stdout).toBe('ab');
  expect((await runProgram(['cat'])).stdout).toBe('');
  expect((await runProgram(['true'], { input: 'x'.repeat(1 << 20) })).exitCode).toBe(0);
  const broken = new Readable({
    read() {
      this.destroy(new Error('the source broke'));
    },
  });
  await expect(runProgram(['cat'], { input: broken })).rejects.toThrow('the source broke');
});

test('of long output the end is kept', async () => {
  const { stdout, dropped } = await runProgram(['sh', '-c', 'yes x | head -c 3000000; echo end'], {
    maxOutputBytes: 10,
  });
  expect(dropped).toEqual({ stdout: 2_999_994, stderr: 0 });
  expect(stdout).toBe('x\nx\nx\nend\n');
});

test('at the deadline the program goes with all its children, and the error says what did not end', async () => {
  const running = runProgram(['sh', '-c', 'sleep 60 & echo $! >&2; wait'], { timeoutMs: 300 });
  const thrown: unknown = await running.catch((error: unknown) => error);
  expect(thrown).toMatchObject({
    code: 'BKE_TIMEOUT',
    message: 'sh did not end within 0.3 s',
    details: [expect.stringMatching(/^\d+$/)],
  });
  const pid = thrown instanceof BkeError ? (thrown.details[0] ?? '') : '';
  await sleep(50);
  expect(await isAlive(pid)).toBe(false);
});

test('a cancelled run ends at once', async () => {
  const controller = new AbortController();
  const running = runProgram(['sleep', '60'], { signal: controller.signal });
  setTimeout(() => controller.abort(), 50);
  await expect(running).rejects.toMatchObject({ code: 'BKE_CANCELLED' });
  await expect(runProgram(['true'], { signal: controller.signal })).rejects.toMatchObject({ code: 'BKE_CANCELLED' });
});

test('a child that lives on and keeps the output open does not hold the run up', async () => {
  const start = Date.now();
  const { stdout } = await runProgram(['sh', '-c', 'sleep 3 & echo done']);
  expect(stdout).toBe('done\n');
  expect(Date.now() - start).toBeLessThan(2500);
});

test('a program that must succeed fails with its last lines, never with its input', async () => {
  const host = await openLocalHost();
  const failing = runChecked(host, ['sh', '-c', 'cat >/dev/null; seq 20 >&2; exit 3'], { input: 'CANARY-7391' });
  const thrown: unknown = await failing.catch((error: unknown) => error);
  expect(thrown).toMatchObject({
    code: 'BKE_COMMAND_FAILED',
    message: expect.stringContaining('ended with exit code 3'),
  });
  expect(thrown).toMatchObject({ details: Array.from({ length: 10 }, (_, index) => String(index + 11)) });
  expect(JSON.stringify(thrown)).not.toContain('CANARY');
});
