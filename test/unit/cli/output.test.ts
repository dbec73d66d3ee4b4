import { describe, expect, it } from 'vitest';
import { renderObject, renderTable } from '../../../src/cli/output/table.ts';
import type { Command } from '../../../src/commands/context.ts';
import { fakeCommands } from '../../fakes/commands.ts';
import { runCli } from '../../fakes/cli.ts';

const { commands } = fakeCommands();

async function verify(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(['bundle', 'verify', 'x', ...words], { commands });
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

describe('results', () => {
  it('are columns by default, aligned also for wide letters, without control characters', async () => {
    expect(await verify()).toBe('NAME   STATE\na      ok\n长名   bad\\x1b[31m\n');
    expect(await verify('--no-headers')).toBe('a      ok\n长名   bad\\x1b[31m\n');
    expect(await verify('-o', 'wide')).toBe('NAME   SIZE   STATE\na      12     ok\n长名   -      bad\\x1b[31m\n');
  });

  it('are one JSON or YAML value: {kind, items}', async () => {
    const items = [
      { name: 'a', state: 'ok', size: 12 },
      { name: '长名', state: 'bad\u001B[31m' },
    ];
    expect(JSON.parse(await verify('-o', 'json'))).toEqual({ kind: 'List', items });
    expect(await verify('-o', 'yaml')).toBe(
      'kind: List\nitems:\n  - name: a\n    state: ok\n    size: 12\n  - name: 长名\n    state: "bad\\e[31m"\n',
    );
  });

  it('are names only with -o name', async () => {
    expect(await verify('-o', 'name')).toBe('a\n长名\n');
  });

  it('say on standard error that a list is empty, and nothing with -q; JSON stays a list', async () => {
    const empty = await runCli(['bundle', 'verify', 'none'], { commands });
    expect(empty).toEqual({ code: 0, stdout: '', stderr: 'No bundles.\n' });
    expect((await runCli(['bundle', 'verify', 'none', '-q'], { commands })).stderr).toBe('');
    const json = await runCli(['bundle', 'verify', 'none', '-o', 'json'], { commands });
    expect(JSON.parse(json.stdout)).toEqual({ kind: 'List', items: [] });
  });

  it('may end with an exit code of their own', async () => {
    const command: Command = {
      path: ['check'],
      group: 'hosts',
      summary: 'Check',
      examples: [],
      output: ['table', 'json'],
      run: async () => ({ kind: 'object', value: { clean: false }, exitCode: 4 }),
    };
    expect(await runCli(['check'], { commands: [command] })).toEqual({ code: 4, stdout: 'clean: false\n', stderr: '' });
  });
});

describe('renderTable', () => {
  it('follows dotted fields and joins lists', () => {
    const text = renderTable(
      [{ status: { state: 'ok' }, ips: ['10.0.0.1', '10.0.0.2'] }],
      [
        { title: 'state', field: 'status.state' },
        { title: 'ips', field: 'ips' },
        { title: 'none', field: 'status.missing.deeper' },
      ],
      { headers: true, wide: false },
    );
    expect(text).toBe('STATE   IPS                 NONE\nok      10.0.0.1,10.0.0.2   -\n');
  });

  it('keeps a cell on one line', () => {
    const text = renderTable([{ a: 'x\ny\tz' }], [{ title: 'a', field: 'a' }], { headers: false, wide: false });
    expect(text).toBe('x y z\n');
  });
});

it('renderObject puts values under each other', () => {
  expect(renderObject({ name: 'a', dataSize: 12, missing: undefined })).toBe('name:      a\ndata size: 12\n');
});
