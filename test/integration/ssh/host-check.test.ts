// `bke host check` as a user runs it, against real sshd: keys, logins, one machine behind two entries, and no secret in what is told or kept.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCli, type CliOptions } from '../../fakes/cli.ts';
import { TestAccount, TestSshd, makeKey } from './sshd.ts';

const password = 'CANARY-7391';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bke-host-check-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A cluster.yaml takes no loopback address. */
const address = Object.values(networkInterfaces())
  .flatMap((found) => found ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
if (address === undefined) throw new Error('this machine has no address but loopback: add one to any link');

function startSshd(...config: string[]): Promise<TestSshd> {
  return TestSshd.start({ config: [`ListenAddress ${address}`, ...config] });
}

interface FileHost {
  readonly name: string;
  readonly port: number;
  readonly ssh: string;
}

function clusterFile(hosts: readonly FileHost[], more = ''): string {
  const path = join(folder, 'cluster.yaml');
  const entries = hosts.map(({ name, port, ssh }, index) => {
    const role = index === 0 ? 'control-plane' : 'worker';
    // Behind one address with forwarded ports each node has an address of its own.
    return `    - {name: ${name}, address: ${address}, nodeIP: 10.77.0.${index + 1}, roles: [${role}], ssh: {port: ${port}, ${ssh}}}`;
  });
  const head =
    'apiVersion: bke.io/v1alpha1\nkind: Cluster\nmetadata: {name: prod}\nspec:\n  kubernetesVersion: v1.36.3\n';
  const network = '  network: {podCIDR: 172.28.0.0/16, serviceCIDR: 172.29.0.0/16}\n';
  writeFileSync(path, `${head}${network}${more}  hosts:\n${entries.join('\n')}\n`, { mode: 0o600 });
  return path;
}

async function check(path: string, words: readonly string[] = [], options: CliOptions = {}) {
  const operationsDirectory = join(folder, 'operations');
  const run = await runCli(['host', 'check', '-f', path, ...words], {
    env: { HOME: folder },
    operationsDirectory,
    ...options,
  });
  const journals = readdirSync(operationsDirectory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(operationsDirectory, name), 'utf8'));
  // Whatever else a test is about.
  expect(run.stdout + run.stderr + journals.join('')).not.toContain(password);
  return { ...run, journals };
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const found = server.address();
  if (found === null || typeof found === 'string') throw new Error('no port');
  return found.port;
}

const knownHosts = (): string => readFileSync(join(folder, '.ssh/known_hosts'), 'utf8');
const rootKey = (sshd: TestSshd): string => `privateKeyFile: ${join(sshd.directory, 'root')}`;

test('one machine behind two entries, by root with a key and through sudo with a password, one session at a time', async () => {
  await using sshd = await startSshd('MaxSessions 1');
  await using other = await startSshd();
  using account = new TestAccount({ password, sudo: 'ALL=(ALL) ALL' });
  const secret = join(folder, 'pw');
  writeFileSync(secret, `${password}\n`, { mode: 0o600 });
  const path = clusterFile(
    [
      { name: 'cp1', port: sshd.port, ssh: rootKey(sshd) },
      { name: 'w1', port: other.port, ssh: `user: ${account.name}, passwordFile: ${secret}` },
    ],
    '  settings: {ignoreChecks: [container-runtime, ports, networks, cgroup]}\n',
  );
  const { code, stdout, stderr } = await check(path, ['--accept-new-host-keys', '-o', 'json', '--ignore-check', 'cpu']);
  expect(code, stderr).toBe(4);
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({
    kind: 'List',
    cluster: 'prod',
    ignoredChecks: ['cpu', 'container-runtime', 'ports', 'networks', 'cgroup'],
    items: [
      { name: 'cp1', state: 'not ready', facts: { arch: expect.any(String) } },
      { name: 'w1', state: 'not ready' },
    ],
  });
  expect(result.findings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ check: 'same-machine', severity: 'error', hosts: ['cp1', 'w1'] }),
      expect.objectContaining({
        check: 'node-address',
        hosts: ['cp1'],
        message: '10.77.0.1 is no address of this host',
      }),
    ]),
  );
  expect(stderr).toContain('error: 2 hosts (cp1, w1): same-machine: cp1, w1 are one and the same machine\n');
  // Once more: nothing is new, and nothing is noted twice.
  const known = knownHosts();
  expect(known.trim().split('\n')).toHaveLength(2);
  expect(statSync(join(folder, '.ssh/known_hosts')).mode & 0o777).toBe(0o600);
  await check(path, ['--accept-new-host-keys']);
  expect(knownHosts()).toBe(known);
});

test('hosts that cannot be looked at fail each with its own cause, and the others go on', async () => {
  await using sshd = await startSshd();
  using account = new TestAccount({ password: 'another', sudo: 'ALL=(ALL) ALL' });
  using noSudo = new TestAccount({ password });
  // The same address and port twice would be a mistake of the file.
  await using stranger = createServer((socket) => socket.resume().end('220 some other service\r\n'));
  await using second = await startSshd();
  await using third = await startSshd();
  const path = clusterFile([
    { name: 'cp1', port: sshd.port, ssh: rootKey(sshd) },
    { name: 'w1', port: await portOf(stranger), ssh: `password: ${password}` },
    { name: 'w2', port: second.port, ssh: `user: ${account.name}, password: ${password}` },
    { name: 'w3', port: third.port, ssh: `user: ${noSudo.name}, password: ${password}` },
  ]);
  const { code, stdout, stderr } = await check(path, ['--accept-new-host-keys', '-o', 'json']);
  expect(code, stderr).toBe(5);
  const rows: { name: string; state: string; error?: { code: string } }[] = JSON.parse(stdout).items;
  expect(rows.map(({ name, error }) => [name, error?.code])).toEqual([
    ['cp1', undefined],
    ['w1', 'BKE_SSH_PROTOCOL'],
    ['w2', 'BKE_SSH_AUTH'],
    ['w3', 'BKE_SUDO_DENIED'],
  ]);
  expect(rows[0]?.state).not.toBe('failed');
  expect(stderr).toMatch(/^error: w2: \[BKE_SSH_AUTH\] cannot log in to w2/m);
});

test('keys that are not known are refused, or shown together and asked for, and kept', async () => {
  await using sshd = await startSshd();
  const path = clusterFile([{ name: 'cp1', port: sshd.port, ssh: rootKey(sshd) }]);
  const refused = await check(path);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain('[BKE_HOST_KEY_UNKNOWN]');
  const no = await check(path, [], { tty: true, typed: 'n\n' });
  expect([no.code, no.stderr.includes(sshd.fingerprint())]).toEqual([5, true]);
  expect(no.stderr).toContain('Nothing is known about the key of 1 host:');
  const yes = await check(path, [], { tty: true, typed: 'y\n' });
  expect(yes.stderr).toContain(`The keys of 1 host are now in ${join(folder, '.ssh/known_hosts')}.`);
  expect(knownHosts()).toBe(`[${address}]:${sshd.port} ${sshd.publicKey()}\n`);
  const again = await check(path, [], { tty: true });
  expect(again.stderr).not.toContain('Nothing is known');
  expect(again.stderr).not.toContain('HOST_KEY');
});

test('a key that changed is refused with the line that knows another, whatever is accepted', async () => {
  await using sshd = await startSshd();
  makeKey(join(folder, 'old'), 'ed25519');
  const [type, key] = readFileSync(join(folder, 'old.pub'), 'utf8').split(' ');
  const path = clusterFile([{ name: 'cp1', port: sshd.port, ssh: rootKey(sshd) }]);
  mkdirSync(join(folder, '.ssh'), { mode: 0o700 });
  writeFileSync(join(folder, '.ssh/known_hosts'), `# mine\n[${address}]:${sshd.port} ${type} ${key}\n`, {
    mode: 0o600,
  });
  const { code, stderr } = await check(path, ['--accept-new-host-keys']);
  expect(code).toBe(5);
  expect(stderr).toContain('[BKE_HOST_KEY_CHANGED]');
  expect(stderr).toContain(`(${join(folder, '.ssh/known_hosts')}:2)`);
});

test('a file with a mistake is told before any host is asked', async () => {
  const path = clusterFile([{ name: 'cp1', port: 22, ssh: 'agent: true' }], '  settings: {ignoreChecks: [hostnam]}\n');
  const { code, stderr } = await runCli(['host', 'check', '-f', path], { env: { HOME: folder } });
  expect(code).toBe(3);
  expect(stderr).toMatch(
    /cluster\.yaml:7:\d+: spec\.settings\.ignoreChecks\[0\]: there is no check named hostnam: did you mean hostname\?/,
  );
});
