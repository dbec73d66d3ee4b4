// The way back of every host, with what their user had planted before bke came: nothing of it may go, and nothing of bke may stay.
import { expect, it } from 'vitest';
import type { TestHost } from '../../testbed/index.ts';
import { outcome } from '../helpers/bke-host.ts';
import { clusterKubeconfig, longestResetMs, type MainJob } from './job.ts';

/** A user's own things on w2, among what bke and Kubernetes make. */
const plant = `mkdir -p /srv/keep "/srv/my data" /var/lib/kubelet/keep "/var/lib/kubelet/my data" /root/.kube
  echo canary >/srv/keep/c; echo canary >"/srv/my data/c"
  mount --bind /srv/keep /var/lib/kubelet/keep; mount --bind "/srv/my data" "/var/lib/kubelet/my data"; mount --bind /srv/keep "/var/lib/kubelet/my data"
  iptables -N MY-KUBE-RULES; iptables -A INPUT -j MY-KUBE-RULES; iptables -A INPUT -p tcp --dport 22 -j ACCEPT
  printf 'apiVersion: v1\\nkind: Config\\ncurrent-context: mine\\ncontexts: [{name: mine, context: {cluster: mine, user: mine}}]\\nclusters: [{name: mine, cluster: {server: "https://192.0.2.1:6443"}}]\\nusers: [{name: mine, user: {}}]\\n' >/root/.kube/config`;

/** A container of another namespace than Kubernetes', which nobody but its user ends. */
const startForeign = `image=$(crictl images | awk '/pause/ {print $1 ":" $2}')
  ctr -n k8s.io images export /tmp/pause.tar $image; ctr -n mine images import /tmp/pause.tar >/dev/null; rm /tmp/pause.tar
  ctr -n mine run -d $image mine1 /pause`;
const endForeign = `ctr -n mine tasks kill -s KILL mine1; sleep 1; ctr -n mine containers delete mine1
  ctr -n mine images rm $(ctr -n mine images ls -q) >/dev/null; rmdir /sys/fs/cgroup/*/mine 2>/dev/null; true`;

/** What each kernel value of w1 was. */
const earlierValues = '/root/kernel-values';

/** To be called before `remember`. */
export async function plantUserThings(job: MainJob): Promise<void> {
  await job.w2.output(plant);
  await job.w1.output(`sysctl -a >${earlierValues} 2>/dev/null`);
}

const reset = 'bke reset --all --mount --yes';

/** What a reset that is not complete names, sorted. */
async function unproven(host: TestHost): Promise<string[]> {
  const result = await host.exec(reset, { timeout: 300 });
  expect(result.exitCode, outcome(result)).toBe(1);
  return [...result.stderr.matchAll(/^ {2}(\S.*?): bke (?:set it|may have installed)/gm)]
    .flatMap(([, what = '']) => what)
    .toSorted();
}

/** By hand, as the errors and the guide say; and what of the bed or of other programs nobody proves to be bke's. */
function mend(named: readonly string[]): string {
  const values = named.flatMap((what) => (what.startsWith('kernel value ') ? what.slice('kernel value '.length) : []));
  return `grep -E '^(${values.join('|')}) = ' ${earlierValues} | sysctl -q -p -
    rm /opt/cni/bin/*; rmdir /usr/lib/modules; rm -rf /run/netns /run/xtables.lock; chmod 755 /var/lib/containerd`;
}

/** Registers the tests. */
export function backTests(job: () => MainJob): void {
  it.concurrent("says each time what nothing proves to be bke's on a host that lost its record", async () => {
    const { w1 } = job();
    await w1.output('rm -r /var/lib/bke/ledger');
    const named = await unproven(w1);
    expect(named).toEqual(
      expect.arrayContaining(['kernel value net.ipv4.ip_forward', 'network plugins in /opt/cni/bin']),
    );
    expect(await unproven(w1)).toEqual(named);
    await w1.output(mend(named));
  });

  it.concurrent('leaves a container of another namespace running, and says that it does', async () => {
    const { w2 } = job();
    await w2.output(startForeign);
    const result = await w2.exec(reset, { timeout: 300 });
    expect([result.exitCode, result.stderr], outcome(result)).toEqual([1, expect.stringContaining('mine/mine1')]);
    expect(await w2.output('ctr -n mine tasks list')).toMatch(/mine1\s+\d+\s+RUNNING/);
    await w2.output(endForeign);
  });

  it('takes every host back in time, without a trace, and what its user had is still there', async () => {
    const { all, boot } = job();
    await boot.output(`rm /root/app.yaml ${clusterKubeconfig}`);
    for (const hosts of [all.filter((host) => host !== boot), [boot]])
      await Promise.all(
        hosts.map(async (host) => {
          const began = Date.now();
          const result = await host.exec(reset, { timeout: 300 });
          const milliseconds = Date.now() - began;
          process.stderr.write(`reset of ${host.name}: ${milliseconds} ms\n`);
          expect(result.exitCode, `${host.name}: ${outcome(result)}`).toBe(0);
          expect(milliseconds).toBeLessThan(longestResetMs);
          expect(result.stderr.includes('clusters managed from here: '), outcome(result)).toBe(host === boot);
        }),
      );
    // Its record would have told that bke made it.
    await job().w1.output('rmdir /usr/local/libexec');
    expect(await job().differences()).toEqual([]);
    expect(await job().w2.output('cat /var/lib/kubelet/keep/c "/srv/my data/c"')).toBe('canary\ncanary');
    expect(await job().sink.attempts()).toEqual([]);
  });
}
