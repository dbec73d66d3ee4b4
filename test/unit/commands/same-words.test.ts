// A cluster.yaml that is refused is refused word for word by every command that takes it, and accepted by all or none.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { commands } from '../../../src/cli/table.ts';
import { runCli } from '../../fakes/cli.ts';
import { clusterText, hostLines } from '../config/cluster/cluster-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-words-'));
  vi.spyOn(process, 'getuid').mockReturnValue(0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

/** Every command with `-f cluster.yaml`, and what else it needs. */
const takers = {
  'config validate': ['config', 'validate', '-f', 'c.yaml'],
  'config print': ['config', 'print', '-f', 'c.yaml'],
  'host check': ['host', 'check', '-f', 'c.yaml'],
  'host exec': ['host', 'exec', '-f', 'c.yaml', '--', 'true'],
  'cluster create': ['cluster', 'create', '-f', 'c.yaml', '--yes'],
  init: ['init', '--yes', '-f', 'c.yaml'],
};

async function words(text: string | Buffer): Promise<Map<string, string>> {
  await writeFile(join(folder, 'c.yaml'), text, { mode: 0o600 });
  const told = new Map<string, string>();
  for (const [name, argv] of Object.entries(takers)) {
    const { code, stdout, stderr } = await runCli(argv, { cwd: folder, env: { HOME: folder } });
    expect([name, stdout]).toEqual([name, '']);
    told.set(name, `${code} ${stderr}`);
  }
  return told;
}

const second = (line: string): string => clusterText('', [hostLines.m1, line]);

describe('one cluster.yaml', () => {
  it('is taken by every command that has an option for it', () => {
    const withFile = commands.filter(
      ({ options = [], path }) =>
        path[0] !== 'bundle' && options.some(({ name, type }) => name === 'file' && type === 'path'),
    );
    expect(withFile.map(({ path }) => path.join(' ')).toSorted()).toEqual(Object.keys(takers).toSorted());
  });

  it.each<[string, string | Buffer, string]>([
    ['a shorthand for names', second(hostLines.w1.replace('w1', '"w[1:3]"')), 'write w-1-3'],
    ['a role that is not known', second(hostLines.w1.replace('worker', 'etcd')), 'but is the text "etcd"'],
    [
      'a bastion by a name that is none',
      second(hostLines.w1.replace('user: root', 'bastion: gate')),
      'must be a mapping, but is the text "gate"',
    ],
    [
      'a file that is not there',
      second('{name: w1, address: 192.0.2.12, roles: [worker], ssh: {privateKeyFile: no}}'),
      'there is no such file',
    ],
    ['nothing', '', 'the file is empty'],
    ['comments', '# nothing\n', 'the file is empty'],
    ['no YAML', 'a: [', 'this is no valid YAML'],
    ['two clusters', `${clusterText('')}---\n${clusterText('')}`, 'a second document begins here'],
    ['bytes', Buffer.from([0, 1, 2, 255]), 'is no YAML file (binary, 4 B)'],
  ])('with %s is refused in the same words by all', async (_what, text, part) => {
    const told = await words(text);
    const [first = ''] = told.values();
    expect(first).toMatch(/^3 error\[BKE_CONFIG_INVALID\]: /);
    expect(first).toContain(part);
    expect(first).not.toMatch(/TypeError|undefined|\n {4}at /);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(Object.keys(takers).map((name) => [name, first])));
  });
});
