// `bke reset` on real hosts with systemd: an independent scan before bke came and after it went shows no difference.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diffScans, stopHosts } from '../testbed/index.ts';
import { outcome } from './helpers/bke-host.ts';
import { type ResetHost, resetHost } from './helpers/reset-host.ts';

const longestResetMs = 15_000;

afterAll(() => stopHosts());

describe('bke reset', () => {
  let host: ResetHost;

  beforeAll(async () => {
    host = await resetHost('reset1');
  });

  it('does nothing on a host that was never initialised', async () => {
    const { text } = await host.reset();
    expect(text).toContain('Nothing to do');
    expect(await host.difference()).toEqual([]);
  });

  it('gives an initialised host back as it was, in time, and the second time does nothing', async () => {
    await host.init();
    const plan = await host.bke('reset --all --mount --dry-run');
    expect(plan.stdout).toContain('bke-registry.service');
    const { milliseconds } = await host.reset();
    process.stderr.write(`reset of an initialised host: ${milliseconds} ms\n`);
    expect(await host.difference()).toEqual([]);
    expect(milliseconds).toBeLessThan(longestResetMs);
    expect((await host.reset()).text).toContain('Nothing to do');
    expect(await host.difference()).toEqual([]);
  });

  it('works from the program that init installed, which it removes', async () => {
    await host.init();
    const program = await host.output('ls /usr/local/libexec/bke/bke-*/bke');
    const result = await host.exec(`${program} reset --all --mount --yes`);
    expect(result.exitCode, outcome(result)).toBe(0);
    expect(await host.difference()).toEqual([]);
  });

  it('leaves the services alone without --mount', async () => {
    await host.init();
    await host.reset('--all');
    expect(await host.output('systemctl is-active bke-registry bke-files; ls /var/lib/bke/services')).toContain(
      'active',
    );
    expect((await host.exec('systemctl is-active containerd')).stdout).not.toContain('active\n');
    await host.reset();
    expect(await host.difference()).toEqual([]);
  });

  describe("with what is the user's", () => {
    beforeAll(() =>
      host.output(`mkdir -p /srv/keep "/srv/my data" /root/.kube; echo canary > /srv/keep/c; echo canary > "/srv/my data/c"
        iptables -N MY-KUBE-RULES; iptables -A INPUT -j MY-KUBE-RULES; iptables -A INPUT -p tcp --dport 22 -j ACCEPT
        printf 'clusters:\\n- cluster: {certificate-authority-data: b3RoZXI=}\\n' > /root/.kube/config`),
    );
    afterAll(async () => {
      await host.exec(`iptables -D INPUT -p tcp --dport 22 -j ACCEPT; iptables -D INPUT -j MY-KUBE-RULES; iptables -X MY-KUBE-RULES
        rm -rf /srv/keep "/srv/my data" /root/.kube; nft delete table ip filter`);
      expect(await host.difference()).toEqual([]);
    });

    it('takes away what pods leave and nothing else', async () => {
      const user = await host.scan();
      await host.init();
      await host.output(`cd /tmp; echo '{"metadata":{"name":"p","namespace":"default","uid":"u1","attempt":1},"linux":{"security_context":{"namespace_options":{"network":2}}}}' > pod.json
        crictl runp pod.json; rm pod.json
        v=/var/lib/kubelet/pods/u1/volumes; mkdir -p $v/a "$v/b c"; mount --bind /srv/keep $v/a; mount --bind /srv/keep $v/a; mount --bind "/srv/my data" "$v/b c"
        echo x > /var/lib/kubelet/config.yaml; mkdir -p /etc/kubernetes/manifests; echo x > /etc/kubernetes/kubelet.conf
        ip link add cni0 type bridge; ip link add flannel.1 type vxlan id 1 dstport 8472; ip netns add cni-1
        iptables -N KUBE-TEST; iptables -A INPUT -j KUBE-TEST; iptables -N cali-TEST; nft add table ip kube-proxy`);
      expect(await host.output('crictl pods -q | wc -l')).toMatch(/^1\s*$/);
      const { milliseconds } = await host.reset();
      process.stderr.write(`reset with a pod: ${milliseconds} ms\n`);
      expect(diffScans(user, await host.scan())).toEqual([]);
      expect(await host.output('cat /srv/keep/c "/srv/my data/c"')).toMatch(/^canary\ncanary\s*$/);
    });
  });

  it('names a file that cannot be removed, and finishes once it can', async () => {
    await host.init();
    const immutable = await host.exec('chattr +i /etc/bke/site-ca.crt');
    if (immutable.exitCode === 0) {
      const result = await host.bke('reset --all --mount --yes');
      expect(result.exitCode).toBe(1);
      expect(result.stderr).toContain('BKE_RESET_INCOMPLETE');
      expect(result.stderr).toContain('/etc/bke/site-ca.crt');
      await host.output('chattr -i /etc/bke/site-ca.crt');
    } else process.stderr.write(`this file system has no immutable flag (${immutable.stderr.trim()})\n`);
    await host.reset();
    expect(await host.difference()).toEqual([]);
  });
});
