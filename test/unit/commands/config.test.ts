import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli } from '../../fakes/cli.ts';
import { clusterText, hostLines } from '../config/cluster/cluster-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-config-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const run = async (...words: string[]) =>
  runCli(['config', ...words], { cwd: folder, env: { HOME: join(folder, 'home') } });
async function write(name: string, text: string, mode = 0o600): Promise<void> {
  await writeFile(join(folder, name), text);
  await chmod(join(folder, name), mode);
}

describe('bke config init', () => {
  it.each(['cluster', 'bootstrap'])('writes a %s file that is valid, for its owner alone', async (kind) => {
    const made = await run('init', '--kind', kind, '-o', 'new.yaml');
    expect([made.code, made.stdout]).toEqual([0, '']);
    expect(((await stat(join(folder, 'new.yaml'))).mode & 0o777).toString(8)).toBe('600');
    const checked = await run('validate', '-f', 'new.yaml');
    expect([checked.code, checked.stderr]).toEqual([0, '']);
    expect((await run('init', '--kind', kind)).stdout).toBe(await readFile(join(folder, 'new.yaml'), 'utf8'));
  });

  it.each(['cluster', 'bootstrap'])(
    'writes a %s file that is valid with every comment taken for a field',
    async (kind) => {
      const { stdout } = await run('init', '--kind', kind);
      const fields = stdout.replaceAll(/^( *)#- ?/gm, '$1');
      // Of fields that exclude each other, or that need a file, one each stays.
      const excluded =
        /^ *(?:privateKeyFile|passphraseFile|caFile|username|passwordFile|sudo|controlPlaneEndpoint|- ssh): .*\n|^ *ssh: \{hostKeys.*\n/gm;
      await write('all.yaml', fields.replaceAll(excluded, '').replace(/^ *loadBalancer.*\n/m, ''));
      const { code, stderr } = await run('validate', '-f', 'all.yaml');
      expect([code, stderr]).toEqual([0, '']);
    },
  );

  it('makes no folder', async () => {
    const { code, stderr } = await run('init', '-o', 'nodir/c.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain(
      `error[BKE_USAGE]: cannot write nodir/c.yaml: there is no folder ${join(folder, 'nodir')}\nhint: `,
    );
  });

  it('overwrites nothing', async () => {
    await write('mine.yaml', 'mine');
    const { code, stderr } = await run('init', '-o', 'mine.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain('mine.yaml is there already');
    expect(await readFile(join(folder, 'mine.yaml'), 'utf8')).toBe('mine');
  });
});

describe('bke config validate', () => {
  it('says what a valid file is about', async () => {
    await write('c.yaml', clusterText(''));
    const { code, stdout, stderr } = await run('validate', '-f', 'c.yaml');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^c\.yaml is valid\.\n {2}cluster {8}c1 in namespace bke\n {2}Kubernetes {5}v1\.36\.3\n/);
    const json: unknown = JSON.parse((await run('validate', '-f', 'c.yaml', '-o', 'json')).stdout);
    expect(json).toEqual({
      valid: true,
      file: 'c.yaml',
      kind: 'Cluster',
      name: 'c1',
      namespace: 'bke',
      kubernetesVersion: 'v1.36.3',
      hosts: 2,
      warnings: [],
    });
  });

  it('says all that is wrong and ends with 3', async () => {
    const hosts = Array.from(
      { length: 30 },
      (_, i) => `{name: M${i + 2}, address: 192.0.2.${i + 1}, roles: [worker], ssh: {password: x}}`,
    );
    await write('c.yaml', clusterText('', [hostLines.m1.replace('.11', '.111'), ...hosts]));
    const { code, stdout, stderr } = await run('validate', '-f', 'c.yaml');
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('30 problems with c.yaml');
    expect(stderr).toContain('spec.hosts[30].name');
  });

  it('tells of passwords that others may read, and never shows one', async () => {
    await write('c.yaml', clusterText('').replaceAll('"x"', '"CANARY"'), 0o644);
    const { code, stdout, stderr } = await run('validate', '-f', 'c.yaml');
    expect([code, stderr]).toEqual([0, 'warning: c.yaml: has passwords, and others may reach it: chmod 600 c.yaml\n']);
    expect(stdout).not.toContain('CANARY');
  });

  it.each([
    ['nothing.yaml', 'there is no such file'],
    ['.', 'it is a directory'],
  ])('says why it cannot read %s', async (name, reason) => {
    const { code, stderr } = await run('validate', '-f', name);
    expect(code).toBe(3);
    expect(stderr).toContain(reason);
  });

  it('checks a bootstrap.yaml as init does', async () => {
    await write(
      'b.yaml',
      'apiVersion: bke.io/v1alpha1\nkind: Bootstrap\nspec: {domain: x, prts: {}, hostIP: 10.0.0.1, settings: {ignoreChecks: [hostnam], kubelet: {a: 1.30}}, dataDir: /etc/x}\n',
    );
    const { code, stderr } = await run('validate', '-f', 'b.yaml');
    expect(code).toBe(3);
    expect(stderr).toContain('b.yaml:3:16: spec.domain: ');
    expect(stderr).toContain('spec.prts: there is no such field; did you mean ports?');
    expect(stderr).toContain('there is no check named hostnam');
    expect(stderr).toContain('spec.settings.kubelet.a: 1.30 would be handed on as 1.3');
    expect(stderr).toContain('spec.dataDir: /etc/x belongs to the system');
    expect(stderr).not.toContain('hostIP');
  });

  it.each(['Bootstrp', 'bootstrap'])('takes a file of kind %s for what is meant', async (kind) => {
    await write('b.yaml', `apiVersion: bke.io/v1alpha1\nkind: ${kind}\nspec: {}\n`);
    const { code, stderr } = await run('validate', '-f', 'b.yaml');
    expect(code).toBe(3);
    expect(stderr.split('\n').slice(0, 2)).toEqual([
      'error[BKE_CONFIG_INVALID]: 1 problem with b.yaml',
      `  b.yaml:2:7: kind: must be Bootstrap, but is the text "${kind}"; did you mean Bootstrap?`,
    ]);
  });
});

describe('files that a cluster.yaml names', () => {
  const withSsh = (fields: string): string =>
    clusterText(`  defaults: {ssh: {${fields}}}\n`, [
      '{name: m1, address: 192.0.2.11, roles: [control-plane, worker]}',
    ]);
  it.each([
    [
      'passwordFile: open.pw',
      'open.pw holds a secret, but has the mode 0644: others may reach it; Make it yours alone: chmod 600 ',
    ],
    ['passwordFile: empty.pw', 'empty.pw is empty'],
    ['passwordFile: two.pw', 'two.pw has more than one line'],
    ['privateKeyFile: key.pub', 'key.pub is no private key'],
    ['privateKeyFile: ~/.ssh/id', 'home/.ssh/id: there is no such file'],
  ])('are refused: %s', async (fields, message) => {
    await Promise.all([
      write('open.pw', 'x', 0o644),
      write('empty.pw', '\n'),
      write('two.pw', 'a\nb\n'),
      write('key.pub', 'ssh-ed25519 AAAA', 0o644),
    ]);
    await write('c.yaml', withSsh(fields));
    const { code, stderr } = await run('validate', '-f', 'c.yaml');
    expect(code).toBe(3);
    expect(stderr).toContain('1 problem with c.yaml');
    expect(stderr).toContain(`spec.defaults.ssh.${fields.split(':')[0]}: `);
    expect(stderr).toContain(message);
    expect((await run('validate', '-f', 'c.yaml', '--no-files')).code).toBe(0);
  });

  it('are found beside it', async () => {
    await write('good.pw', 'x\n');
    await write('c.yaml', withSsh('passwordFile: ./good.pw'));
    expect(await runCli(['config', 'validate', '-f', join(folder, 'c.yaml')], { cwd: '/' })).toMatchObject({
      code: 0,
      stderr: '',
    });
  });
});

describe('bke config print', () => {
  const secrets = clusterText(
    '  defaults: {ssh: {user: ops, password: CANARY1}, labels: {site: on}}\n  addons: [{name: a, values: {admin: {password: CANARY2, tag: "no"}}}]\n',
    [
      '{name: m1, address: 192.0.2.11, roles: [control-plane], labels: {n: 0123}}',
      '{name: w1, address: 192.0.2.12, roles: [worker], ssh: {password: CANARY3, sudo: {password: CANARY4}, bastion: {address: b, password: CANARY5}}}',
    ],
  );

  it('shows every value and where it comes from', async () => {
    await write('c.yaml', secrets);
    const { code, stdout } = await run('print', '-f', 'c.yaml');
    expect(code).toBe(0);
    for (const line of [
      'namespace: bke # default',
      'kubernetesVersion: v1.36.3 # line 5',
      'host: 192.0.2.11 # the only control plane',
      'nodeIP: 192.0.2.12 # the address',
      'roles: [worker] # line 10',
      'site: "on" # line 6, spec.defaults',
      '"n": "0123" # line 9',
      'user: ops # line 6, spec.defaults',
      'taints: [] # default',
      'containerd: {} # default',
      'tag: "no" # line 7',
      "# not set: registry: the site's own is used",
    ])
      expect(stdout.split('\n').map((text) => text.trim())).toContain(line);
  });

  it.each(['table', 'yaml', 'json'])('shows no secret as %s', async (format) => {
    await write('c.yaml', secrets);
    const { stdout, stderr } = await run('print', '-f', 'c.yaml', '-o', format);
    expect(stdout.length).toBeGreaterThan(500);
    expect(stdout + stderr).not.toContain('CANARY');
  });

  it('means the same when it is read again', async () => {
    await write('c.yaml', secrets);
    const first = await run('print', '-f', 'c.yaml', '-o', 'yaml');
    await write('again.yaml', first.stdout);
    expect((await run('print', '-f', 'again.yaml', '-o', 'yaml')).stdout).toBe(first.stdout);
  });

  it('shows the settings of init', async () => {
    await write('b.yaml', 'apiVersion: bke.io/v1alpha1\nkind: Bootstrap\nspec: {ports: {files: 8080}}\n');
    const { code, stdout } = await run('print', '-f', 'b.yaml');
    expect(code).toBe(0);
    expect(stdout).toContain('files: 8080 # b.yaml\n');
    expect(stdout).toContain('domain: deploy.bke.internal # default\n');
  });

  it('names the push port only where it is open to other machines, as a file with it opens it', async () => {
    await write('b.yaml', 'apiVersion: bke.io/v1alpha1\nkind: Bootstrap\nspec: {}\n');
    const closed = await run('print', '-f', 'b.yaml');
    expect(closed.stdout).toContain(
      '\n# not set: ports.registryPush: pushes are taken from this machine only, on 40444\n',
    );
    expect(closed.stdout).not.toContain(' registryPush: ');
    await write('b.yaml', 'apiVersion: bke.io/v1alpha1\nkind: Bootstrap\nspec: {ports: {registryPush: 40445}}\n');
    expect((await run('print', '-f', 'b.yaml')).stdout).toContain('registryPush: 40445 # b.yaml\n');
  });
});

describe('one file taken for the other', () => {
  it.each([
    ['init --config x.yaml', 'cluster', 'a cluster.yaml (kind: Cluster), and a bootstrap.yaml', 'bke init -f x.yaml'],
    [
      'init -f x.yaml',
      'bootstrap',
      'a bootstrap.yaml (kind: Bootstrap), and a cluster.yaml',
      'bke init --config x.yaml',
    ],
    [
      'host check -f x.yaml',
      'bootstrap',
      'a bootstrap.yaml (kind: Bootstrap), and a cluster.yaml',
      'bke init --config x.yaml',
    ],
  ])('bke %s', async (line, kind, what, belongs) => {
    const root = vi.spyOn(process, 'getuid').mockReturnValue(0);
    await write('x.yaml', (await run('init', '--kind', kind)).stdout);
    const { code, stderr } = await runCli(line.split(' '), { cwd: folder, env: { HOME: folder } });
    root.mockRestore();
    expect(code).toBe(3);
    expect(stderr).toContain(
      `error[BKE_CONFIG_INVALID]: x.yaml is ${what} is asked for\nhint: Nothing was done. It belongs to: ${belongs}\n`,
    );
  });
});
