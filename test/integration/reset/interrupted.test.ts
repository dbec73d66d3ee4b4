// A reset that is killed at any moment is finished by the next one (kill -9, where nothing can be tidied up).
import { describe, expect, it } from 'vitest';
import { inSandbox, whyNoSandbox } from './sandbox.ts';

const no = whyNoSandbox();
if (no !== undefined) process.stderr.write(`reset/interrupted skipped: ${no}\n`);

/** Times of death in hundredths of a second, spread over a whole run and the same in every run. */
const seed = 7;
const rounds = 10;

const changes = [
  { kind: 'zone', path: '/etc/kubernetes' },
  { kind: 'zone', path: '/var/lib/kubelet' },
  ...Array.from({ length: 30 }, (_, index) => ({
    kind: 'file',
    path: `/etc/bke/${index}`,
    mode: 0o644,
    content: { text: 'x' },
  })),
  { kind: 'file', path: '/etc/mine.conf', mode: 0o644, content: { text: 'ours' } },
  { kind: 'hosts-entry', address: '10.0.0.9', names: ['deploy.bke.internal'] },
];

const plant = `
rm -rf /var/lib/kubelet /etc/kubernetes; mkdir -p /etc/kubernetes/pki /var/lib/kubelet /srv/keep; echo mine > /etc/kubernetes/pki/mine.crt; echo old > /etc/mine.conf; cp -a /etc/hosts /tmp/hosts
tree() { find /etc/kubernetes /etc/bke /etc/mine.conf /etc/hosts /etc/cni /var/lib/kubelet /var/lib/bke /var/lib/etcd /run/flannel -printf '%p %y %m\\n' 2>/dev/null | sort; cat /etc/hosts /etc/mine.conf; ip -o link | wc -l; iptables-legacy-save | grep -v '^#'; }
iptables-legacy -N MINE; tree > /tmp/before
record node ${changes.map((change) => `'${JSON.stringify(change)}'`).join(' ')}
mkdir -p /var/lib/kubelet/pods/u/v /var/lib/kubelet/pods/w/v /etc/kubernetes/manifests /run/flannel /var/lib/etcd/member /etc/cni/net.d
echo c > /srv/keep/c; mount --bind /srv/keep /var/lib/kubelet/pods/u/v; mount --bind /srv/keep /var/lib/kubelet/pods/w/v
echo x > /etc/kubernetes/kubelet.conf; echo x > /etc/kubernetes/manifests/etcd.yaml; echo x > /run/flannel/subnet.env; echo x > /var/lib/etcd/member/x; echo x > /etc/cni/net.d/10-flannel.conflist
ip link add cni0 type bridge; ip link add flannel.1 type vxlan id 1 dstport 8472; iptables-legacy -N KUBE-X; iptables-legacy -A INPUT -j KUBE-X
mkdir -p /run/netns; ip netns add cni-1
`;

describe.skipIf(no !== undefined)('reset that is killed', () => {
  it(`is finished by the next one, at ${rounds} random moments`, async () => {
    const { told, stdout, stderr } = await inSandbox(
      `${plant}
RANDOM=${seed}; killed=0
for i in $(seq ${rounds}); do
  exec_bke reset --all --mount --yes >/tmp/killed 2>&1 & pid=$!
  sleep $(printf '0.%02d' $((15 + RANDOM % 60)))
  kill -9 $pid 2>/dev/null && killed=$((killed + 1)); wait $pid 2>/dev/null
done
tell killed $killed
reset
tell canary "$(cat /srv/keep/c)"
tree > /tmp/after; diff /tmp/before /tmp/after && tell same yes
reset; grep -q 'Nothing to do' /tmp/out && tell twice yes`,
    );
    expect(told, `${stdout}${stderr}`).toMatchObject({ rc1: '0', canary: 'c', same: 'yes', rc2: '0', twice: 'yes' });
    expect(Number(told['killed'])).toBeGreaterThan(0);
  });
});
