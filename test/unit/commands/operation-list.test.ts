import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCli } from '../../fakes/cli.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bke-operations-'));
});
afterEach(async () => rm(directory, { recursive: true }));

async function journal(id: string, time: string): Promise<void> {
  const started = { seq: 1, time, operation: id, type: 'operation.started', action: 'init', target: 'this host' };
  await writeFile(join(directory, `${id}.jsonl`), `${JSON.stringify(started)}\n`);
}

const names = async (...words: string[]): Promise<{ ids: string[]; stderr: string }> => {
  const { stdout, stderr } = await runCli(['operation', 'list', '-o', 'name', ...words], {
    operationsDirectory: directory,
  });
  return { ids: stdout.split('\n').filter((line) => line !== ''), stderr };
};

it('lists operations of one second by when they really began', async () => {
  await journal('20261130-101500-init-aaaa', '2026-11-30T10:15:00.900Z');
  await journal('20261130-101500-init-ffff', '2026-11-30T10:15:00.100Z');
  await journal('20261130-101500-bundle-load-cccc', '2026-11-30T10:15:00.500Z');
  expect((await names()).ids.map((id) => id.slice(-4))).toEqual(['ffff', 'cccc', 'aaaa']);
});

it('lists the newest 20, says so, and all when asked', async () => {
  for (let i = 10; i < 35; i += 1) {
    // The ids of one second would sort the other way round.
    const suffix = (0xffff - i).toString(16);
    await journal(`20261130-101500-init-${suffix}`, `2026-11-30T10:15:00.${i}0Z`);
  }
  const { ids, stderr } = await names();
  expect(ids).toHaveLength(20);
  expect(ids.at(-1)).toBe(`20261130-101500-init-${(0xffff - 34).toString(16)}`);
  expect(stderr).toBe('The newest 20 of 25; --all shows all.\n');
  expect(await names('--all')).toMatchObject({ ids: { length: 25 }, stderr: '' });
});
