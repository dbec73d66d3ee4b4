// Hosts that are not as they should be: what `bke cluster create` says of each and how soon, and what goes on all the same. That the same command
// finishes the job once they are mended is shown by the tests that come next.
import { expect, it } from 'vitest';
import type { TestHost } from '../../testbed/index.ts';
import { kubectl as kubectlProgram, type MainJob } from './job.ts';

const create = 'bke cluster create -f /root/cluster.yaml';
const kubectl = `${kubectlProgram} --kubeconfig /etc/kubernetes/admin.conf`;
const controller = '-n bke-system scale deployment bke-controller-manager --replicas';
const minuteMs = 60_000;

/** Packets are dropped, not refused. */
const drop = (host: TestHost): string =>
  `nft 'add table inet bad; add chain inet bad in { type filter hook input priority 0; }; add rule inet bad in ip saddr ${host.address} drop'`;

/** Nothing of bke is there. */
async function isUntouched(host: TestHost): Promise<boolean> {
  const { stdout } = await host.exec('ls -d /var/lib/bke /etc/systemd/system/bke-* /usr/local/bin/bke 2>/dev/null');
  return stdout.trim() === '';
}

function conditionOf(job: MainJob, host: string, type: string): Promise<string> {
  const path = `{.status.conditions[?(@.type=="${type}")].reason}`;
  return job.management(`-n bke get bkehost ${host} -o 'jsonpath=${path}'`);
}

/** Registers the tests. */
export function badHostTests(job: () => MainJob): void {
  it('tells of all bad hosts at once within a minute, before anything is touched', async () => {
    const { boot, cp1, w1, w2 } = job();
    await job().describeHosts('Wrong-Horse');
    await cp1.output(
      `systemd-run --quiet --unit=busy socat TCP-LISTEN:6443,fork /dev/null
       mount -t tmpfs -o size=200m tmpfs /var/lib/containerd`,
    );
    await w1.output(drop(boot));
    const began = Date.now();
    const { exitCode, stderr } = await boot.exec(create);
    expect(Date.now() - began).toBeLessThan(minuteMs);
    expect(exitCode, stderr).toBe(5);
    expect(stderr).toMatch(/error\[BKE_SSH_UNREACHABLE\]: w1: .* no answer/);
    expect(stderr).toMatch(/error\[BKE_SSH_AUTH\]: w2: cannot log in/);
    expect(stderr).toMatch(/cp1: ports: port 6443 \(API server\) is in use by socat/);
    expect(stderr).toMatch(/cp1: disk-space: \/var\/lib\/containerd has 200 MiB free/);
    expect(stderr).not.toContain('\\x0a');
    expect(await boot.output(`${kubectl} -n bke get bkehosts,clusters -o name`)).toBe('');
    await w1.output('nft delete table inet bad');
    expect(await Promise.all([cp1, w1, w2].map(isUntouched))).toEqual([true, true, true]);
    await cp1.output('systemctl stop busy; umount /var/lib/containerd');
    await job().describeHosts();
  });

  it('tells of hosts that go bad later, each within a minute', async () => {
    const { boot, cp1, w1, w2 } = job();
    // Nobody looks at hosts yet: what happens now is between the check of create and the first login of the controller.
    await boot.output(`${kubectl} ${controller}=0`);
    const making = boot.exec(create, { timeout: 300 });
    await expect
      .poll(() => boot.exec(`${kubectl} -n bke get cluster prod`), { timeout: 60_000, interval: 500 })
      .toMatchObject({ exitCode: 0 });
    await cp1.output(
      'mkdir /root/keys; mv /etc/ssh/ssh_host_* /root/keys; ssh-keygen -A >/dev/null; systemctl restart ssh',
    );
    await w1.kill();
    // And this is while w2 is prepared.
    await w2.output(
      `systemd-run --quiet --unit=filler sh -c 'until [ -e /etc/systemd/system/containerd.service ]; do sleep 0.1; done
       mount -t tmpfs -o size=60m tmpfs /var/lib/containerd'`,
    );
    await boot.output(`${kubectl} ${controller}=1`);
    const { exitCode, stderr } = await making;
    // Codes of several kinds.
    expect(exitCode, stderr).toBe(1);
    expect(stderr).toMatch(/cp1: agent and checks: FAILED after \d(\.\d)?s: error\[BKE_HOST_KEY_CHANGED\]/);
    expect(stderr).toMatch(/w1: agent and checks: FAILED after \d\ds: error\[BKE_SSH_UNREACHABLE\]/);
    expect(stderr).toMatch(/error\[BKE_DISK_FULL\]: w2: .* no room below \/var\/lib\/containerd/);
    expect(stderr).not.toContain('\\x0a');
    expect(
      await Promise.all([conditionOf(job(), 'cp1', 'HostKeysKnown'), conditionOf(job(), 'w1', 'Reachable')]),
    ).toEqual(['HostKeyChanged', 'Unreachable']);
    expect(await isUntouched(cp1)).toBe(true);
    await cp1.output('rm /etc/ssh/ssh_host_*; mv /root/keys/* /etc/ssh/; rmdir /root/keys; systemctl restart ssh');
    await w1.start();
    await w2.output('systemctl stop containerd; umount /var/lib/containerd; systemctl start containerd');
  });
}
