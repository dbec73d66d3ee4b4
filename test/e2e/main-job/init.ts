// `bke init --bootstrap kubeadm` on a real host without a way out: killed, run again to its end, and looked at as a user would.
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { TestHost } from '../../testbed/index.ts';
import { clusterOptions, outcome } from '../helpers/bke-host.ts';
import type { MainJob } from './job.ts';

const init = `init ${clusterOptions}`;
const finished = z.object({ type: z.literal('operation.finished'), outcome: z.string(), changed: z.boolean() });
const statusList = z.object({ items: z.array(z.object({ name: z.string(), state: z.string(), version: z.string() })) });
const podList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), namespace: z.string() }),
      status: z.object({
        phase: z.string(),
        containerStatuses: z.array(z.object({ ready: z.boolean(), restartCount: z.number() })),
      }),
    }),
  ),
});
const providerList = z.object({
  items: z.array(z.object({ metadata: z.object({ name: z.string(), namespace: z.string() }), version: z.string() })),
});

/** Moments to kill init at, as parts of its steps; two of them else: in kubeadm's own work, and while Cluster API is brought in. */
const seeds = process.env['BKE_SOAK'] === '1' ? Array.from({ length: 20 }, (_, index) => index + 1) : [25, 6];
const moments = seeds.map((seed) => ({ part: (seed * 0.618_034) % 1, afterMs: (seed * 377) % 1500 }));

/** What `bke status` tells of. */
const parts = [
  'registry',
  'registry-push',
  'files',
  'charts',
  'containerd',
  'kubernetes',
  'node/boot',
  'cluster-api',
  'bootstrap-kubeadm',
  'control-plane-kubeadm',
  'infrastructure-bke',
];

const stepStarted = '"type":"step.started"';

/** Runs init until the step at this moment has begun, ends it with SIGKILL a while later. Gives 'killed', or how it ended before. */
async function killInit(host: TestHost, step: number, afterMs: number): Promise<string> {
  const script = `bke ${init} --yes -o json >/tmp/events 2>/tmp/errors & pid=$!
    while [ $(grep -c '${stepStarted}' /tmp/events) -lt ${step} ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done
    sleep ${afterMs / 1000}; kill -9 $pid 2>/dev/null; wait $pid; code=$?
    [ $code = 137 ] && echo killed || { echo $code; tail -n 20 /tmp/errors /tmp/events; }`;
  return (await host.output(script, { timeout: 600 })).trim();
}

/** Registers the tests. */
export function initTests(job: () => MainJob): void {
  let steps: number;

  it('says at once that the bundle has no K3s, and both ways out', async () => {
    const result = await job().bke(`${init.replace('kubeadm', 'k3s')} --yes`);
    expect([result.exitCode, result.stderr]).toEqual([
      3,
      expect.stringMatching(/BKE_K3S_MISSING[^]*run the same command with --bootstrap kubeadm/),
    ]);
    expect(result.stderr).toContain('--bootstrap kubeadm');
  });

  it('tells everything that is in the way, before it changes anything', async () => {
    await job().boot.output(
      `ip link add site0 type bridge; ip addr add 100.73.9.1/24 dev site0; ip link set site0 up
       systemd-run --unit=busy socat TCP-LISTEN:10250,fork /dev/null; sleep 1`,
    );
    const result = await job().bke(`${init} --yes`);
    expect([result.exitCode, result.stderr]).toEqual([
      4,
      expect.stringContaining(
        'networks: 100.73.0.0/16 for services (default: network.serviceCIDR) overlaps with 100.73.9.1/24',
      ),
    ]);
    expect(result.stderr).toMatch(/ports: port 10250 \(kubelet\) is in use by socat/);
    await job().boot.output('systemctl stop busy; systemctl reset-failed; ip link del site0');
  });

  it('plans all of it without a trace', async () => {
    const result = await job().bke(`${init} --dry-run -o json`);
    expect(result.exitCode, outcome(result)).toBe(0);
    steps = result.stdout.split('\n').filter((line) => line.includes(stepStarted)).length;
    expect(result.stdout).toContain('run kubeadm init');
    expect(await job().boot.output('ls -d /var/lib/bke /etc/bke /etc/kubernetes 2>/dev/null || echo nothing')).toBe(
      'nothing',
    );
  });

  it.each(moments)(
    'is killed (%o) and leaves nothing that a next run could not go on from',
    async ({ part, afterMs }) => {
      const step = Math.max(1, Math.ceil(steps * part));
      expect(await killInit(job().boot, step, afterMs)).toBe('killed');
      process.stderr.write(`init killed ${afterMs} ms into step ${step} of ${steps}\n`);
      if (seeds.length > 2) {
        const again = await job().bke(`${init} --yes`);
        expect(again.exitCode, outcome(again)).toBe(0);
        const reset = await job().bke('reset --all --mount --yes');
        expect(reset.exitCode, outcome(reset)).toBe(0);
      }
    },
  );

  it('comes to its end when it is run again', async () => {
    await job().boot.output(
      `nohup sh -c 'while sleep 1; do cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"; done >/tmp/seen' >/dev/null 2>&1 & echo $! >/tmp/watcher`,
    );
    const began = Date.now();
    const result = await job().bke(`${init} --yes`);
    expect(result.exitCode, outcome(result)).toBe(0);
    process.stderr.write(`init, after it was killed: ${Date.now() - began} ms\n`);
    expect(result.stderr).toContain(`https://${job().boot.address}:36443, Kubernetes v1.`);
  });

  it('leaves a cluster whose every part is healthy', async () => {
    const result = await job().bke('status -o json');
    const { items } = statusList.parse(JSON.parse(result.stdout));
    expect(items.map(({ name, state }) => `${name} ${state}`)).toEqual(parts.map((name) => `${name} healthy`));
    expect(items.every(({ version }) => /^v?\d+\.\d+/.test(version))).toBe(true);
    expect(result.exitCode, outcome(result)).toBe(0);
    const { items: pods } = podList.parse(JSON.parse(await job().management('get pods -A -o json')));
    const troubled = pods.filter(
      ({ status }) => status.phase !== 'Running' || !status.containerStatuses.every(({ ready }) => ready),
    );
    expect(troubled.map(({ metadata: { name } }) => name)).toEqual([]);
    expect(pods.length).toBeGreaterThanOrEqual(11);
  });

  it('has the Provider objects that clusterctl looks for', async () => {
    const { items } = providerList.parse(
      JSON.parse(await job().management('get providers.clusterctl.cluster.x-k8s.io -A -o json')),
    );
    expect(items.map(({ metadata: { name, namespace } }) => `${namespace}/${name}`).toSorted()).toEqual([
      'bke-system/infrastructure-bke',
      'capi-kubeadm-bootstrap-system/bootstrap-kubeadm',
      'capi-kubeadm-control-plane-system/control-plane-kubeadm',
      'capi-system/cluster-api',
    ]);
    expect(items.every(({ version }) => /^v\d+\.\d+\.\d+$/.test(version))).toBe(true);
  });

  it('has nothing to do when it is run again, with the bundle and without', async () => {
    for (const words of [`${init} --yes`, 'init --yes']) {
      const result = await job().bke(`${words} -o json`);
      expect(result.exitCode, outcome(result)).toBe(0);
      const last = finished.parse(JSON.parse(result.stdout.trim().split('\n').at(-1) ?? ''));
      expect(last).toMatchObject({ outcome: 'done', changed: false });
    }
  });

  it('is never made into another one by init', async () => {
    const result = await job().bke('init --bootstrap none --yes');
    expect([result.exitCode, result.stderr]).toEqual([7, expect.stringContaining('BKE_BOOTSTRAP_CHANGED')]);
  });

  it('asked nobody outside, and told no secret', async () => {
    expect(await job().sink.attempts()).toEqual([]);
    await job().boot.output('kill $(cat /tmp/watcher)');
    const secrets = `cat /var/lib/bke/pki/registry-push.password
      kubectl --kubeconfig /etc/kubernetes/admin.conf config view --raw -o jsonpath='{.users[0].user.client-key-data}' | cut -c1-200`;
    const places = '/tmp/seen /tmp/events /tmp/errors /var/lib/bke/ledger /var/lib/bke/operations /var/log';
    const script = `{ ${secrets}; echo; echo 'PRIVATE KEY'; } | grep . >/tmp/secrets; [ $(wc -l </tmp/secrets) = 3 ] || echo 'no secrets to look for'
      grep -rlF -f /tmp/secrets ${places}; journalctl --no-pager | grep -F -f /tmp/secrets | head -3; true`;
    expect(await job().boot.output(script)).toBe('');
    // A token for joining has this form (Kubernetes, cmd/kubeadm/app/util/bootstraptoken).
    const tokens = `grep -rlE '(^|[^a-z0-9.])[a-z0-9]{6}\\.[a-z0-9]{16}($|[^a-z0-9.])' /var/lib/bke/ledger /var/lib/bke/operations /tmp/seen /tmp/events; true`;
    expect(await job().boot.output(tokens)).toBe('');
  });
}
