// `bke init --bootstrap k3s` on a real host: its plan and its failure with a stand-in for K3s, and all of it where BKE_TEST_K3S names a real one.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  diffScans,
  type EgressSink,
  egressSink,
  initOptions,
  prepareHosts,
  type RunResult,
  type Scan,
  scanMachine,
  startHosts,
  stopHosts,
  type TestHost,
} from '../testbed/index.ts';
import { outcome } from './helpers/bke-host.ts';

const options = initOptions.full.replace('kubeadm', 'k3s');
const statusList = z.object({ items: z.array(z.object({ name: z.string(), state: z.string(), version: z.string() })) });
const finished = z.object({ type: z.literal('operation.finished'), outcome: z.string(), changed: z.boolean() });

interface K3sHost {
  readonly host: TestHost;
  bke(words: string): Promise<RunResult>;
}

async function k3sHost(name: string, k3s: { file: string; version: string }): Promise<K3sHost> {
  const hosts = await startHosts([name]);
  const [host] = hosts;
  if (host === undefined) throw new Error(`no host ${name}`);
  await prepareHosts(hosts, 'full', { k3s });
  return { host, bke: (words) => host.exec(`bke ${words}`, { timeout: 900 }) };
}

async function difference({ host }: K3sHost, before: Scan): Promise<string[]> {
  // Any question about the clock starts this service, and it ends by itself half a minute later.
  await host.exec('systemctl stop systemd-timedated');
  return diffScans(before, await scanMachine(host));
}

/** The version that a K3s tells of itself, asked where it can unpack nothing into this machine's own places. */
async function versionOf(file: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bke-k3s-'));
  try {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, K3S_DATA_DIR: folder };
    const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8', env });
    const version = /^k3s version (\S+)/m.exec(stdout)?.[1];
    if (version === undefined) throw new Error(`${file} --version does not tell a version of K3s: ${stdout}`);
    return version;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const given = process.env['BKE_TEST_K3S'];
const why =
  given === undefined
    ? 'BKE_TEST_K3S does not name a k3s binary'
    : existsSync(given)
      ? undefined
      : `there is no ${given}`;
if (why !== undefined) process.stderr.write(`k3s skipped: ${why}; K3s itself is not run\n`);

afterAll(() => stopHosts());

/** journald stands still for a second from when the unit is there: as on a busy host, it has not read what the program said before it died. */
const journalBehind =
  'until [ -e /etc/systemd/system/k3s.service ]; do sleep 0.01; done; pkill -STOP -x systemd-journal; sleep 1; pkill -CONT -x systemd-journal';

describe('bke init --bootstrap k3s with a stand-in for K3s', () => {
  let machine: K3sHost;
  let before: Scan;

  beforeAll(async () => {
    // A program of this platform that ends at once, with a word why: no K3s.
    machine = await k3sHost('k3splan', { file: '/bin/sleep', version: 'v1.36.3+k3s1' });
    before = await scanMachine(machine.host);
  });

  it('lists every file, zone and unit, and leaves no trace', async () => {
    const result = await machine.bke(`init ${options} --dry-run`);
    expect(result.exitCode, outcome(result)).toBe(0);
    const plan = result.stdout + result.stderr;
    for (const line of [
      'create file /usr/local/libexec/bke/k3s-v1.36.3+k3s1/k3s',
      'create link /usr/local/bin/kubectl -> /usr/local/libexec/bke/k3s-v1.36.3+k3s1/k3s',
      'create file /etc/rancher/k3s/config.yaml',
      'create file /etc/rancher/k3s/registries.yaml',
      'create file /etc/rancher/k3s/token',
      'create file /var/lib/rancher/k3s/server/manifests/bke-coredns.yaml',
      'create what is put into /var/lib/rancher/k3s/agent',
      'create unit k3s.service',
    ])
      expect(plan).toContain(line);
    expect(plan).not.toContain('containerd.service');
    expect(await difference(machine, before)).toEqual([]);
  });

  it("refuses a host on which somebody's K3s is, before it changes anything", async () => {
    await machine.host.output('mkdir -p /etc/rancher/k3s; echo "token: mine" > /etc/rancher/k3s/config.yaml');
    const result = await machine.bke(`init ${options} --yes`);
    expect([result.exitCode, result.stderr], outcome(result)).toEqual([4, expect.stringContaining('/etc/rancher')]);
    await machine.host.output('rm -r /etc/rancher');
    expect(await difference(machine, before)).toEqual([]);
  });

  it('tells what a K3s said that does not start, on a host whose journal is behind, and takes all of it back', async () => {
    await machine.host.output(`systemd-run --quiet --collect --unit=behind sh -c '${journalBehind}'`);
    const result = await machine.bke(`init ${options} --yes`);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain('invalid time interval');
    const reset = await machine.bke('reset --all --mount --yes');
    expect(reset.exitCode, outcome(reset)).toBe(0);
    expect(await difference(machine, before)).toEqual([]);
  });
});

describe.skipIf(why !== undefined)('bke init --bootstrap k3s', () => {
  let machine: K3sHost;
  let before: Scan;
  let sink: EgressSink;

  beforeAll(async () => {
    const file = given ?? '';
    machine = await k3sHost('k3s', { file, version: await versionOf(file) });
    sink = await egressSink();
    before = await scanMachine(machine.host);
  });

  it('makes a cluster whose every part is healthy', async () => {
    const result = await machine.bke(`init ${options} --yes`);
    expect(result.exitCode, outcome(result)).toBe(0);
    const status = await machine.bke('status -o json');
    const { items } = statusList.parse(JSON.parse(status.stdout));
    expect(items.filter(({ state }) => state !== 'healthy')).toEqual([]);
    expect(items.find(({ name }) => name === 'kubernetes')?.version).toContain('+k3s');
  });

  it('runs a pod of an image by its public name, with kubectl as it is found', async () => {
    await machine.host.output(`kubectl run probe --image=docker.io/library/bke-probe:v1 --restart=Never -- serve
      kubectl wait pod/probe --for=condition=Ready --timeout=120s; kubectl delete pod probe --now`);
  });

  it('has nothing to do when it is run again', async () => {
    const result = await machine.bke(`init ${options} --yes -o json`);
    expect(result.exitCode, outcome(result)).toBe(0);
    const last = finished.parse(JSON.parse(result.stdout.trim().split('\n').at(-1) ?? ''));
    expect(last).toMatchObject({ outcome: 'done', changed: false });
  });

  it('keeps the token to itself', async () => {
    const script = `t=$(cat /etc/rancher/k3s/token); cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -cF "$t"
      grep -rlF "$t" /var/lib/bke /etc/systemd /etc/rancher/k3s/config.yaml; stat -c %a /etc/rancher/k3s/token /etc/rancher/k3s/k3s.yaml; true`;
    expect(await machine.host.output(script)).toBe('0\n600\n600');
  });

  it('is taken away without a trace, and asked nobody outside meanwhile', async () => {
    const result = await machine.bke('reset --all --mount --yes');
    expect(result.exitCode, outcome(result)).toBe(0);
    expect(await difference(machine, before)).toEqual([]);
    expect(await sink.attempts()).toEqual([]);
  });
});
