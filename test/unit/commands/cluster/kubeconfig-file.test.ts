// A cluster's kubeconfig in a file of its own, or taken up in the one kubectl reads: others' entries, the links and the owner stay.
import {
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  mergeIntoKubeconfig,
  refuseOfKubernetes,
  refuseNowhere,
  refuseThere,
  writeKubeconfig,
} from '../../../../src/commands/cluster/kubeconfig-file.ts';

let folder: string;
let notes: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-kubeconfig-'));
  notes = [];
});
afterEach(() => rm(folder, { recursive: true }));

const around = (env: Record<string, string> = { HOME: folder }) => ({
  cwd: folder,
  env,
  now: () => new Date('2026-11-30T10:00:00Z'),
  note: (line: string) => void notes.push(line),
});
const at = (name: string): string => join(folder, name);

function kubeconfig(name: string, ca: string, more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: `https://${name}:6443`, 'certificate-authority-data': ca } }],
    users: [{ name: `${name}-admin`, user: { 'client-key-data': ca } }],
    contexts: [{ name: `${name}-admin@${name}`, context: { cluster: name, user: `${name}-admin` } }],
    'current-context': `${name}-admin@${name}`,
    ...more,
  });
}
const added = kubeconfig('prod', 'NEW');
const backup = '.2026-11-30T10-00-00-000Z.bak';

async function merged(name: string, to?: string, env?: Record<string, string>): Promise<Record<string, unknown>> {
  await mergeIntoKubeconfig(around(env), to, added);
  expect((await stat(at(name))).mode & 0o777).toBe(0o600);
  return parse(await readFile(at(name), 'utf8'));
}
const names = (list: unknown): unknown[] =>
  Array.isArray(list) ? list.map((entry) => Reflect.get(Object(entry), 'name')) : [];

describe('a kubeconfig that is taken up in another', () => {
  it.each([
    ['is missing, with its folder', undefined],
    ['is empty', ''],
  ])('is all there is where the file %s', async (_when, text) => {
    if (text !== undefined) {
      await mkdir(at('.kube'));
      await writeFile(at('.kube/config'), text);
    }
    expect(await merged('.kube/config')).toEqual(parse(added));
    if (text === undefined) expect((await stat(at('.kube'))).mode & 0o777).toBe(0o700);
    expect(notes).toEqual([`Taken up in ${at('.kube/config')}: kubectl config get-contexts`]);
  });

  it('leaves other clusters, comments, fields of others and the current context as they are', async () => {
    const mine = `# mine\n${['apiVersion: v1', 'kind: Config', 'preferences: {colors: true}', 'current-context: home'].join('\n')}
clusters:
- name: home # at home
  cluster: {server: "https://home:6443"}
users: []
contexts:
- {name: home, context: {cluster: home, user: ""}}
`;
    await writeFile(at('mine'), mine, { mode: 0o644 });
    const found = await merged('mine', 'mine');
    expect(found).toMatchObject({ 'current-context': 'home', preferences: { colors: true } });
    expect([names(found['clusters']), names(found['users']), names(found['contexts'])]).toEqual([
      ['home', 'prod'],
      ['prod-admin'],
      ['home', 'prod-admin@prod'],
    ]);
    expect(await readFile(at('mine'), 'utf8')).toMatch(/^# mine\n[^]*- name: home # at home\n/);
    expect(await readFile(at(`mine${backup}`), 'utf8')).toBe(mine);
    expect((await stat(at(`mine${backup}`))).mode & 0o777).toBe(0o600);
    expect(notes).toEqual([`Taken up in mine (as it was: ${at(`mine${backup}`)}): kubectl config get-contexts`]);
  });

  it('takes the place of the cluster of the same name, whose certificate is an old one', async () => {
    await writeFile(at('mine'), kubeconfig('prod', 'OLD', { 'current-context': '' }));
    const found = await merged('mine', 'mine');
    expect(found).toEqual(parse(added));
    expect(await readFile(at('mine'), 'utf8')).not.toContain('OLD');
  });

  it('changes nothing, and keeps no copy, where it is there already', async () => {
    await merged('mine', 'mine');
    const before = await stat(at('mine'));
    await mergeIntoKubeconfig(around(), 'mine', added);
    expect((await stat(at('mine'))).mtimeMs).toBe(before.mtimeMs);
    expect(await readdir(folder)).toEqual(['mine']);
    expect(notes.at(-1)).toBe('Nothing to do: mine has it already.');
  });

  it('is written where a link leads, and the link stays', async () => {
    await mkdir(at('real'));
    await writeFile(at('real/config'), kubeconfig('home', 'X'));
    await symlink('real/config', at('mine'));
    const found = await merged('mine', 'mine');
    expect(names(found['clusters'])).toEqual(['home', 'prod']);
    expect([await readlink(at('mine')), (await lstat(at('real/config'))).isFile()]).toEqual(['real/config', true]);
    expect(await readdir(at('real'))).toEqual(['config', `config${backup}`]);
  });

  it.each([
    ['the one that has the cluster', ['home', 'prod'], 'b'],
    ['the first that is there', ['home', 'other'], 'a'],
    ['the last, where none is', [undefined, undefined], 'b'],
    ['the one that is there', [undefined, 'other'], 'b'],
  ])('goes into %s of those in KUBECONFIG', async (_which, [a, b], chosen) => {
    if (a !== undefined) await writeFile(at('a'), kubeconfig(a, 'OLD'));
    if (b !== undefined) await writeFile(at('b'), kubeconfig(b, 'OLD'));
    const found = await merged(chosen, undefined, { KUBECONFIG: `${at('a')}::${at('b')}`, HOME: '/nonexistent' });
    expect(names(found['clusters'])).toContain('prod');
    const other = await readFile(at(chosen === 'a' ? 'b' : 'a'), 'utf8').catch(() => '');
    expect(other).not.toContain('NEW');
  });

  it.each([
    ['a list', '- a\n'],
    ['a text', 'prod'],
    ['broken', 'clusters: ['],
    ['clusters that are none', 'clusters: 5\n'],
    ['a key', '-----BEGIN PRIVATE KEY-----\n'],
    ['binary', Buffer.from([0, 1, 2])],
  ])('is refused where the file is %s, which stays', async (_what, text) => {
    await writeFile(at('mine'), text);
    await expect(mergeIntoKubeconfig(around(), 'mine', added)).rejects.toMatchObject({
      code: 'BKE_KUBECONFIG_INVALID',
      exitCode: 3,
      message: expect.stringMatching(/^mine(:| is no )/),
    });
    expect(await readdir(folder)).toEqual(['mine']);
    expect(await readFile(at('mine'))).toEqual(Buffer.from(text));
  });

  it('asks for a file where nothing names one', async () => {
    await expect(mergeIntoKubeconfig(around({}), undefined, added)).rejects.toMatchObject({
      code: 'BKE_USAGE',
      hint: 'Name the file with --to FILE.',
    });
  });
});

describe.runIf(process.getuid?.() === 0)("a file of a user's that root writes", () => {
  const owner = async (name: string) => {
    const { uid, gid } = await stat(at(name));
    return [uid, gid];
  };

  it("stays the user's, with what is kept of it", async () => {
    await writeFile(at('mine'), kubeconfig('home', 'X'));
    await chown(at('mine'), 1234, 1235);
    await merged('mine', 'mine');
    expect([await owner('mine'), await owner(`mine${backup}`)]).toEqual([
      [1234, 1235],
      [1234, 1235],
    ]);
    await writeKubeconfig(around(), 'mine', added);
    expect(await owner('mine')).toEqual([1234, 1235]);
  });

  it('is new, and belongs to whom the folder does', async () => {
    await chown(folder, 1234, 1235);
    await merged('.kube/config');
    await writeKubeconfig(around(), 'own', added);
    expect([await owner('.kube'), await owner('.kube/config'), await owner('own')]).toEqual(
      Array.from({ length: 3 }, () => [1234, 1235]),
    );
  });
});

describe('a file of its own', () => {
  it('is not written over what is there, be it a link that leads nowhere', async () => {
    await writeFile(at('mine'), 'x');
    await symlink('nowhere', at('link'));
    for (const name of ['mine', 'link'])
      await expect(refuseThere(folder, name)).rejects.toMatchObject({
        code: 'BKE_USAGE',
        message: `${name} is there already`,
      });
    await refuseThere(folder, 'new');
  });

  it('is refused in a folder that is not there, but for that of kubectl', async () => {
    await writeFile(at('file'), '');
    for (const name of ['nodir/x', 'file/x'])
      await expect(refuseNowhere(around(), name)).rejects.toMatchObject({
        code: 'BKE_USAGE',
        message: `cannot write ${name}: there is no folder ${dirname(at(name))}`,
      });
    for (const name of ['x', '.kube/config']) await refuseNowhere(around(), name);
  });

  it('replaces what a link leads to where that is asked for', async () => {
    await writeFile(at('real'), 'x', { mode: 0o644 });
    await symlink('real', at('link'));
    await writeKubeconfig(around(), 'link', added);
    expect([await readlink(at('link')), await readFile(at('real'), 'utf8')]).toEqual(['real', added]);
    expect((await stat(at('real'))).mode & 0o777).toBe(0o600);
    expect(notes).toEqual(['Written to link: kubectl --kubeconfig link get nodes']);
  });
});

describe('a file of the Kubernetes of this host, which goes with it', () => {
  const refusal = (name: string) =>
    expect.objectContaining({
      code: 'BKE_USAGE',
      message: expect.stringMatching(new RegExp(`^${name} (is|leads to) .*'bke reset' takes it away`)),
      hint: expect.stringContaining('--merge --to ~/.kube/config'),
    });

  it.each(['/etc/kubernetes/admin.conf', '/etc/rancher/k3s/k3s.yaml'])('is known: %s', async (file) => {
    await expect(refuseOfKubernetes(folder, file)).rejects.toEqual(refusal(file));
  });

  // With two folders missing, so that nothing could be written either.
  it.each(['/etc/kubernetes/x/y/z', '/etc/rancher/x/y/z'])('is left alone: %s', async (file) => {
    const root = around({ KUBECONFIG: file });
    await expect(mergeIntoKubeconfig(root, undefined, added)).rejects.toEqual(refusal(file));
    await expect(mergeIntoKubeconfig(root, file, added)).rejects.toEqual(refusal(file));
    await expect(writeKubeconfig(root, file, added)).rejects.toEqual(refusal(file));
  });

  it('is found behind links to it and to its folder, also of one that is not there yet', async () => {
    await mkdir(at('kubernetes'));
    await writeFile(at('kubernetes/admin.conf'), '');
    await mkdir(at('kubernetes-mine'));
    await symlink('kubernetes/admin.conf', at('mine'));
    await symlink('kubernetes', at('folder'));
    const folders = [at('kubernetes'), '/nonexistent'];
    for (const name of ['mine', 'folder/admin.conf', 'kubernetes/new.conf', 'folder/new/config'])
      await expect(refuseOfKubernetes(folder, name, folders)).rejects.toEqual(refusal(name));
    for (const name of ['kubernetes-mine/config', 'missing/config', 'prod.kubeconfig'])
      await expect(refuseOfKubernetes(folder, name, folders)).resolves.toBe(at(name));
  });
});
