// Every option that names a file to read, given something else: one plain sentence with the file's name, and nothing of a program's insides.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { commands } from '../../../src/cli/table.ts';
import { runCli } from '../../fakes/cli.ts';
import { clusterText } from '../config/cluster/cluster-file.ts';

const wrong: Readonly<Record<string, string | Buffer>> = {
  'empty.x': '',
  'comments.x': '# nothing\n# at all\n',
  'null.x': 'null\n',
  'text.x': 'name:n1\n',
  'list.x': '- a\n- b\n',
  'binary.x': Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256)),
};
const names = [...Object.keys(wrong), 'folder.x', 'missing.x'];

const release = `apiVersion: bke.io/v1alpha1
kind: Release
metadata: {name: a, version: 0.1.0}
spec:
  platforms: [linux/amd64]
  kubernetesVersions: [v1.36.3]
  artifacts: [{kind: chart, name: a, version: 1.0.0, source: {file: a.tgz}}]
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-wrong-'));
  vi.spyOn(process, 'getuid').mockReturnValue(0);
  await mkdir(join(folder, 'folder.x'));
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'release.yaml'), release);
  await writeFile(join(folder, 'c.yaml'), clusterText(''), { mode: 0o600 });
  for (const [name, content] of Object.entries(wrong)) await writeFile(join(folder, name), content, { mode: 0o600 });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

/** A command line for each option that names a file; FILE is what is wrong. */
const lines: Readonly<Record<string, string>> = {
  'init --config': 'init --yes --config FILE',
  'init --file': 'init --yes -f FILE',
  'config validate --file': 'config validate -f FILE',
  'config print --file': 'config print -f FILE',
  'host check --file': 'host check -f FILE',
  'host exec --file': 'host exec -f FILE -- true',
  'host list --kubeconfig': 'host list --kubeconfig FILE',
  'cluster create --file': 'cluster create --yes -f FILE',
  'cluster create --kubeconfig': 'cluster create --yes -f c.yaml --kubeconfig FILE',
  'cluster list --kubeconfig': 'cluster list --kubeconfig FILE',
  'cluster describe --kubeconfig': 'cluster describe a --kubeconfig FILE',
  'cluster kubeconfig --kubeconfig': 'cluster kubeconfig a --kubeconfig FILE',
  'cluster logs --kubeconfig': 'cluster logs a --kubeconfig FILE',
  'operation list --kubeconfig': 'operation list --kubeconfig FILE',
  'operation show --kubeconfig': 'operation show 20260101-000000-cluster-create-0001 --kubeconfig FILE',
  'operation attach --kubeconfig': 'operation attach 20260101-000000-cluster-create-0001 --kubeconfig FILE',
  'operation cancel --kubeconfig': 'operation cancel 20260101-000000-cluster-create-0001 --kubeconfig FILE',
  'bundle build --file': 'bundle build -f FILE -o out.tar',
  'bundle build --ca': 'bundle build -f release.yaml -o out.tar --ca FILE',
  'bundle build --sign-key': 'bundle build -f release.yaml -o out.tar --sign-key FILE',
  'bundle verify': 'bundle verify FILE',
  'bundle verify --trust-key': 'bundle verify b.tar --trust-key FILE',
  'bundle inspect': 'bundle inspect FILE',
  'bundle inspect --trust-key': 'bundle inspect b.tar --trust-key FILE',
  'bundle load': 'bundle load FILE --registry r.example.com --files out',
  'bundle load --trust-key': 'bundle load b.tar --registry r.example.com --trust-key FILE',
  'bundle load --registry-ca': 'bundle load b.tar --registry r.example.com --registry-ca FILE',
  'bundle load --password-file': 'bundle load b.tar --registry r.example.com --username a --password-file FILE',
  'serve --tls-cert': 'serve --data-dir data --tls-cert FILE --tls-key FILE',
  'controller run --kubeconfig': 'controller run --kubeconfig FILE',
};

describe.each(Object.entries(lines))('%s', (option, line) => {
  // One line of anything may be a password.
  const isWrong = (name: string): boolean => !option.endsWith('password-file') || !/^(null|text)/.test(name);
  it.each(names.filter(isWrong))('is told what %s is not', async (name) => {
    const before = await readdir(folder);
    const words = line.split(' ').map((word) => (word === 'FILE' ? name : word));
    const { code, stdout, stderr } = await runCli(words, { cwd: folder, env: { HOME: folder } });
    // 2 where it is an option that is wrong, 3 where it is the file of the command.
    expect([[2, 3].includes(code), stdout]).toEqual([true, '']);
    const [first = ''] = stderr.split('\n');
    expect(first).toMatch(/^error\[BKE_[A-Z_]+\]: /);
    expect(stderr).toContain(name);
    expect(stderr, option).not.toMatch(
      /TypeError|undefined|\[object|routines::|EISDIR|ENOENT|\n {4}at |BKE_BUG|BKE_SYSTEM/,
    );
    expect(await readdir(folder)).toEqual(before);
  });
});

it('is asked of every such option there is', () => {
  const written = new Set(['to', 'output', 'data-dir', 'cache-dir', 'files']);
  // Read as the same options of other commands are, but behind a look at this machine; the key with the certificate.
  const asOthers = new Set(['init --bundle', 'init --trust-key', 'serve --tls-key']);
  const all = commands.flatMap(({ path, options = [] }) =>
    options
      .filter(({ type, name }) => type === 'path' && !written.has(name))
      .map(({ name }) => `${path.join(' ')} --${name}`),
  );
  const known = new Set(Object.keys(lines));
  expect(all.filter((option) => !known.has(option) && !asOthers.has(option))).toEqual([]);
});
