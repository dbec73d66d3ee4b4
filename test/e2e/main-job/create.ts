// `bke cluster create` while its agents, its controller and whole hosts are killed; and every secret looked for afterwards.
import { expect, it } from 'vitest';
import { outcome } from '../helpers/bke-host.ts';
import type { TestHost } from '../../testbed/index.ts';
import { canary, clusterName, kubectl, type MainJob } from './job.ts';

/** What is killed, and how long after create began, in milliseconds. */
export interface Kill {
  readonly what: 'agent' | 'controller' | 'host';
  readonly host: 'boot' | 'cp1' | 'w1' | 'w2';
  readonly afterMs: number;
}

const createSpanMs = 60_000;
const golden = 0.618_034;

/** One of each kind at moments that follow from the seed. Power goes at cp1 or w1: what a user planted by hand on w2 would not outlive it. */
export function killsOf(seed: number): Kill[] {
  const part = (index: number): number => (seed * golden + index / 3) % 1;
  const hosts = ['w2', 'cp1', 'w1'] as const;
  return [
    { what: 'agent', host: hosts[seed % 3] ?? 'w2', afterMs: Math.round(createSpanMs * part(0)) },
    { what: 'controller', host: 'boot', afterMs: Math.round(createSpanMs * part(1)) },
    { what: 'host', host: seed % 2 === 0 ? 'w1' : 'cp1', afterMs: Math.round(createSpanMs * part(2)) },
  ];
}

/** Registers the tests. */
export function createTests(job: () => MainJob, kills: readonly Kill[]): void {
  it('finds nothing wrong with the hosts', async () => {
    const { stdout } = await job().done('host check -f /root/cluster.yaml -o json');
    expect(stdout).toContain('"cp1"');
  });

  it(`makes a cluster, whatever dies meanwhile (${kills.map(told).join(', ')})`, async () => {
    await watchProcesses(job().all);
    await createDespite(job(), kills);
  });

  it('has nothing to do when it is run again', async () => {
    const { stdout, stderr } = await job().done('cluster create -f /root/cluster.yaml');
    expect(stdout + stderr).toMatch(/Nothing to do: cluster prod is as the file says|nothing had to be changed/);
  });

  it('lists and describes what it made', async () => {
    expect((await job().done('cluster list')).stdout).toMatch(/^prod +Healthy +1\/1 +2\/2 +v1\.36\.3/m);
    const { stdout } = await job().done(`cluster describe ${clusterName}`);
    for (const name of ['BKEHost/cp1', 'BKEHost/w1', 'BKEHost/w2']) expect(stdout).toContain(name);
    expect((await job().done('operation list')).stdout).toMatch(/cluster\.create +cluster prod +done/);
  });

  it('told nobody the password of a host', async () => {
    await stopWatching(job().all);
    const file = '/tmp/canary';
    await Promise.all(job().all.map((host) => host.output(`install -m 0600 /dev/stdin ${file}`, { input: canary })));
    const found = await Promise.all(job().all.map((host) => host.output(lookFor(file))));
    expect(found.join('')).toBe('');
    const kinds = `$(${kubectl} --kubeconfig /etc/kubernetes/admin.conf api-resources --verbs=list -o name | grep -v '^secrets$' | paste -sd,)`;
    const base64 = Buffer.from(canary).toString('base64');
    await job().boot.output(
      `${kubectl} --kubeconfig /etc/kubernetes/admin.conf get ${kinds} -A -o yaml --ignore-not-found >/tmp/resources`,
    );
    // That all were read: the hosts are among them.
    expect(await job().boot.output(`grep -c '^  kind: BKEHost$' /tmp/resources`)).toBe('3');
    expect(await job().boot.output(`grep -c -F -e Canary-7391 -e ${base64} /tmp/resources; rm /tmp/resources`)).toBe(
      '0',
    );
    // That it would be found: its Secret holds it.
    expect(await job().management(`-n bke get secrets -o yaml | grep -c -F ${base64}`)).toBe('1');
    await Promise.all(job().all.map((host) => host.output(`rm ${file} /tmp/seen`)));
  });
}

/** Runs create, kills meanwhile, and runs it again where it gave up, until it is done. */
export async function createDespite(job: MainJob, kills: readonly Kill[]): Promise<void> {
  const began = Date.now();
  const killing = Promise.all(kills.map((kill) => carryOut(job, kill)));
  for (let time = 1; ; time += 1) {
    const result = await job.bke('cluster create -f /root/cluster.yaml');
    process.stderr.write(`create, time ${time}: exit code ${result.exitCode} after ${Date.now() - began} ms\n`);
    if (result.exitCode === 0) break;
    expect(time, outcome(result)).toBeLessThan(3);
    await killing;
  }
  process.stderr.write(`${(await killing).join('\n')}\n`);
}

/** For people. */
export function told({ what, host, afterMs }: Kill): string {
  return `${what} on ${host} after ${Math.round(afterMs / 1000)} s`;
}

/** Says what it met. */
async function carryOut(job: MainJob, kill: Kill): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, kill.afterMs));
  const host = job[kill.host];
  if (kill.what === 'host') {
    await host.kill();
    await host.start();
    return `killed: ${told(kill)}`;
  }
  const words = kill.what === 'agent' ? 'bke agent run' : 'bke controller run';
  const killed = await host.output(`pkill -9 -f '^\\S*${words}' && echo killed || echo not there yet`);
  return `${killed.trim()}: ${told(kill)}`;
}

/** Writes every command line and environment there is into /tmp/seen, once a second. */
async function watchProcesses(hosts: readonly TestHost[]): Promise<void> {
  await Promise.all(
    hosts.map((host) =>
      host.output(
        `systemd-run --quiet --unit=watch sh -c 'while sleep 1; do cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" >>/tmp/seen; done'`,
      ),
    ),
  );
}

async function stopWatching(hosts: readonly TestHost[]): Promise<void> {
  // A host that lost its power has nothing of what was seen before.
  await Promise.all(hosts.map((host) => host.output('systemctl stop watch; touch /tmp/seen')));
}

/** Prints the files and lines that hold what a file holds; and the parts of it that a shell would leave. */
function lookFor(file: string): string {
  return `grep -rlF -f ${file} /tmp/seen /var/lib/bke /var/log /etc/bke /run/bke 2>/dev/null; journalctl --no-pager | grep -F -f ${file} | head -3
    grep -rlF 'Canary-7391' /tmp/seen /var/lib/bke /var/log /etc/bke 2>/dev/null; journalctl --no-pager | grep -F 'Canary-7391' | head -3; true`;
}
