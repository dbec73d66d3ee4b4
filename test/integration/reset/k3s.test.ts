// A host that ran K3s is as it was after a reset, with a record and without: what K3s made goes, what only looks like it stays.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inSandbox, whyNoSandbox } from './sandbox.ts';

const no = whyNoSandbox();
if (no !== undefined) process.stderr.write(`reset/k3s skipped: ${no}\n`);

const recorder = fileURLToPath(new URL('k3s-record.ts', import.meta.url));

/** What a K3s leaves that was stopped: processes it does not end, mounts, links, rules and files. Its programs are a shell by another name. */
const k3s = `
c=/sys/fs/cgroup/pids
start() { name=$1 group=$2; shift 2; mkdir -p $c$group; "$@" & declare -g $name=$!; echo $! > $c$group/cgroup.procs; }
alive() { for name in "$@"; do if kill -0 \${!name} 2>/dev/null && [ "$(cut -d' ' -f3 /proc/\${!name}/stat)" != Z ]; then tell $name alive; else tell $name ended; fi; done; }
bin=/var/lib/rancher/k3s/data/0a1b/bin; mkdir -p $bin; for p in containerd containerd-shim-runc-v2 k3s; do cp /bin/bash $bin/$p; done
loop='trap "" TERM; while :; do read -t 1 < /dev/zero || true; sleep 1; done'
shim() { exec $bin/containerd-shim-runc-v2 -c "$loop" x "$@"; }
fill() {
  start shim1 /system.slice/k3s.service shim -namespace k8s.io -id c1 -address /run/k3s/containerd/containerd.sock
  start pod1 /kubepods/burstable/podu/c1 sleep 1000
  start containerd1 /system.slice/k3s.service $bin/containerd -c 'while :; do sleep 1; done'
  start server1 /system.slice/k3s.service $bin/k3s -c 'while :; do sleep 1; done'
  mkdir -p /etc/rancher/k3s /etc/rancher/node /var/lib/rancher/k3s/agent/etc/kubelet.conf.d /var/lib/rancher/k3s/server/db /var/lib/rancher/k3s/storage/pvc-1 /run/flannel /var/lib/cni/networks/cbr0 /var/log/pods/p /srv/keep
  echo 'clusters: []' > /etc/rancher/k3s/k3s.yaml; echo x > /etc/rancher/node/password; echo x > /var/lib/rancher/k3s/server/db/state.db
  echo x > /var/lib/rancher/k3s/agent/etc/kubelet.conf.d/00-k3s-defaults.conf; echo precious > /var/lib/rancher/k3s/storage/pvc-1/data
  echo x > /run/flannel/subnet.env; echo x > /var/lib/cni/networks/cbr0/100.72.0.2; mkdir -p /var/lib/cni/results; echo x > /var/lib/cni/results/cbr0-$(printf '%064d' 1)-eth0; echo x > /var/log/pods/p/0.log; echo canary > /srv/keep/c
  r=/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/c1/rootfs; mkdir -p $r "/run/k3s/a b"; mount -t tmpfs t $r; mount -t tmpfs t $r; mount --bind /srv/keep "/run/k3s/a b"
  s=/run/k3s/containerd/io.containerd.grpc.v1.cri/sandboxes/c1/shm; mkdir -p $s; mount -t tmpfs shm $s
  v=/var/lib/kubelet/pods/u/volumes/kubernetes.io~local-volume/v; mkdir -p $v; mount --bind /var/lib/rancher/k3s/storage/pvc-1 $v; mount --bind /srv/keep $v
  ip link add cni0 type bridge; ip link add veth1 type veth peer name pode1; ip link set veth1 master cni0; ip link add flannel.1 type vxlan id 1 dstport 8472
  for t in iptables-legacy iptables-nft; do
    $t -N KUBE-SERVICES; $t -A INPUT -j KUBE-SERVICES; $t -t nat -N FLANNEL-POSTRTG; $t -t nat -A POSTROUTING -m comment --comment "flanneld masq" -j FLANNEL-POSTRTG
  done
}
others() {
  mkdir -p /run/k3s-other /var/lib/rancher-other /opt/k3s/data; mount -t tmpfs o /run/k3s-other; echo mine > /run/k3s-other/f; echo mine > /var/lib/rancher-other/f
  cp /bin/bash /opt/k3s/data/k3s; start mine / /opt/k3s/data/k3s -c 'while :; do sleep 1; done'
  ip link add docker0 type bridge; iptables-legacy -N MY-RULES
}
look() {
  alive shim1 pod1 containerd1 server1 mine
  for l in cni0 flannel.1 veth1 docker0; do ip link show $l >/dev/null 2>&1 && tell link_\${l/./_} there || tell link_\${l/./_} gone; done
  tell kube_chains "$( (iptables-legacy-save; iptables-nft-save) 2>/dev/null | grep -cE 'KUBE-|FLANNEL-')"; tell my_chain "$(iptables-legacy-save | grep -c MY-RULES)"
  tell mounts "$(grep -cE ' /(run/k3s|var/lib/rancher/k3s|var/lib/kubelet)/' /proc/self/mountinfo)"; mounted other_mount /run/k3s-other
  there other_file /run/k3s-other/f; there other_data /var/lib/rancher-other/f; tell canary "$(cat /srv/keep/c)"
  there run /run/k3s; there etc /etc/rancher; there server /var/lib/rancher/k3s/server; there agent /var/lib/rancher/k3s/agent; there data /var/lib/rancher/k3s/data
  there kubelet /var/lib/kubelet; there flannel /run/flannel; there cni /var/lib/cni; there unit /etc/systemd/system/k3s.service; there programs /usr/local/libexec/bke
  there link /usr/local/bin/k3s; there kubectl /usr/local/bin/kubectl
  tell volume "$(cat /var/lib/rancher/k3s/storage/pvc-1/data 2>/dev/null)"
}
`;

const gone = {
  shim1: 'ended',
  pod1: 'ended',
  containerd1: 'ended',
  server1: 'ended',
  link_cni0: 'gone',
  link_flannel_1: 'gone',
  link_veth1: 'gone',
  kube_chains: '0',
  mounts: '0',
  run: 'gone',
  etc: 'gone',
  server: 'gone',
  agent: 'gone',
  data: 'gone',
  kubelet: 'gone',
  flannel: 'gone',
  cni: 'gone',
  unit: 'gone',
};
const stays = {
  mine: 'alive',
  link_docker0: 'there',
  my_chain: '1',
  other_mount: 'mounted',
  other_file: 'there',
  other_data: 'there',
  canary: 'canary',
};

describe.skipIf(no !== undefined)('reset of a K3s host', () => {
  it('takes away what an unrecorded K3s left, keeps its volumes until they are asked for, and the second time does nothing', async () => {
    const { told, stderr } = await inSandbox(`${k3s}
mkdir -p /etc/rancher/k3s /etc/systemd/system/multi-user.target.wants
printf '[Service]\\nExecStart=/usr/local/bin/k3s server\\n' > /etc/systemd/system/k3s.service; ln -s ../k3s.service /etc/systemd/system/multi-user.target.wants/k3s.service
echo 'token: x' > /etc/rancher/k3s/config.yaml; echo x > /etc/systemd/system/k3s.service.env
fill; others; sleep 0.3
reset; look
there wanted /etc/systemd/system/multi-user.target.wants/k3s.service
reset; grep -q 'Nothing to do' /tmp/out && tell second nothing
reset --purge-volumes; there rancher /var/lib/rancher`);
    expect(told, stderr).toMatchObject({ rc1: '0', ...gone, ...stays, volume: 'precious', wanted: 'gone' });
    expect(told, stderr).toMatchObject({ rc2: '0', second: 'nothing', rc3: '0', rancher: 'gone' });
  });

  it('undoes what bke recorded of its own K3s with all that K3s has filled, the same way', async () => {
    const { told, stderr } = await inSandbox(`${k3s}
tree() { find /etc /usr/local /var/lib /srv /run -xdev -printf '%p %y %m %l\\n' 2>/dev/null | grep -vE '^(/run/(lock|xtables.lock)|/srv/(k3s|keep)|/var/lib/(rancher|bke))' | sort; sysctl -a 2>/dev/null | grep -E 'panic|overcommit|keys.root|route_localnet'; }
rm -rf /etc/rancher /var/lib/rancher-other; tree > /tmp/before
bin=/var/lib/rancher/k3s/data/0a1b/bin; mv /var/lib/rancher /tmp/rancher
node '${recorder}' || tell recorded no
mkdir -p /var/lib/rancher/k3s; mv /tmp/rancher/k3s/data /var/lib/rancher/k3s/data
tell mode "$(stat -c %a /etc/rancher/k3s/token)"
fill; start mine / sleep 1000; sleep 0.3
reset; look
rm -rf /var/lib/rancher; tree > /tmp/after; diff /tmp/before /tmp/after >&2 && tell same yes
there ledger /var/lib/bke
reset; grep -q 'Nothing to do' /tmp/out && tell second nothing`);
    expect(told, stderr).toMatchObject({
      mode: '600',
      rc1: '0',
      ...gone,
      link: 'gone',
      kubectl: 'gone',
      programs: 'gone',
    });
    expect(told, stderr).toMatchObject({
      volume: 'precious',
      same: 'yes',
      ledger: 'gone',
      rc2: '0',
      second: 'nothing',
    });
    expect(told, stderr).not.toHaveProperty('recorded');
  });

  it("does not begin while somebody's container runs in K3s's containerd, and names it", async () => {
    const { told, stderr } = await inSandbox(`${k3s}
fill
start shim_mine / shim -namespace mine -id m1 -address /run/k3s/containerd/containerd.sock
sleep 0.3
reset
grep -q 'mine/m1' /tmp/out && tell named yes
alive shim_mine pod1; there data /var/lib/rancher/k3s/server/db/state.db
kill -9 $shim_mine; wait $shim_mine 2>/dev/null; reset; alive pod1; there data2 /var/lib/rancher/k3s/server`);
    expect(told, stderr).toMatchObject({ named: 'yes', shim_mine: 'alive', data: 'there', rc2: '0', data2: 'gone' });
    expect(told['rc1'], stderr).not.toBe('0');
  });
});
