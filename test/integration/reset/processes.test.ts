// A reset ends what runs in pods and nothing else; a dead file system neither hangs it nor loses data.
import { describe, expect, it } from 'vitest';
import { inSandbox, whyNoSandbox } from './sandbox.ts';

const no = whyNoSandbox();
if (no !== undefined) process.stderr.write(`reset/processes skipped: ${no}\n`);

/** start NAME CGROUP COMMAND…: a process in a control group; its pid in $NAME. */
const start = `
c=/sys/fs/cgroup/pids
start() { name=$1 group=$2; shift 2; mkdir -p $c$group; "$@" & declare -g $name=$!; echo $! > $c$group/cgroup.procs; }
alive() { for name in "$@"; do if kill -0 \${!name} 2>/dev/null && [ "$(cut -d' ' -f3 /proc/\${!name}/stat)" != Z ]; then tell $name alive; else tell $name ended; fi; done; }
cp /bin/bash /tmp/containerd-shim-runc-v2
shim() { exec /tmp/containerd-shim-runc-v2 -c 'trap "" TERM; while :; do read -t 1 < /dev/zero || true; sleep 1; done' x "$@"; }
`;

describe.skipIf(no !== undefined)('reset and processes', () => {
  it('ends pods by control group and by the namespace of their shim, stubborn ones too, and lets others live', async () => {
    const { told, stderr } = await inSandbox(`${start}
start pod /kubepods/burstable/podu/c1 sleep 1000
start systemd_pod /kubepods.slice/kubepods-besteffort.slice/x.scope sleep 1000
start stubborn /kubepods/podv bash -c 'trap "" TERM; while :; do sleep 1; done'
start bare /k8s.io/c2 sleep 1000
start shim_pod /system.slice/containerd.service shim -namespace k8s.io -id c1 -address /run/containerd/containerd.sock
start shim_docker /system.slice/containerd.service shim -namespace moby -id d1 -address /run/docker/containerd.sock
start shim_mine /system.slice/containerd.service shim -namespace mine -id m1 -address /run/containerd/containerd.sock
start foreign /mine/m1 sleep 1000
start docker /docker/0123 sleep 1000
start named_alike /kubepods-like/x sleep 1000
start mine / sleep 1000
sleep 0.5
reset
alive pod systemd_pod stubborn bare shim_pod shim_docker shim_mine foreign docker named_alike mine
there tree $c/kubepods; there slice $c/kubepods.slice; there k8s $c/k8s.io; there other $c/mine/m1
reset`);
    expect(told, stderr).toMatchObject({
      rc1: '0',
      pod: 'ended',
      systemd_pod: 'ended',
      stubborn: 'ended',
      bare: 'ended',
    });
    expect(told, stderr).toMatchObject({
      shim_pod: 'ended',
      shim_docker: 'alive',
      shim_mine: 'alive',
      foreign: 'alive',
    });
    expect(told, stderr).toMatchObject({ docker: 'alive', named_alike: 'alive', mine: 'alive' });
    expect(told, stderr).toMatchObject({ tree: 'gone', slice: 'gone', k8s: 'gone', other: 'there', rc2: '0' });
  });

  it('never takes a host that is itself a container of a pod for its pod', async () => {
    const { told, stderr } = await inSandbox(`${start}
mkdir -p $c/kubepods/podx/host; echo 1 > $c/kubepods/podx/host/cgroup.procs; echo $$ > $c/kubepods/podx/host/cgroup.procs
start mine /kubepods/podx/host/mine sleep 1000
start pod /kubepods/podx/host/kubepods/pody sleep 1000
reset
alive mine pod`);
    expect(told, stderr).toMatchObject({ mine: 'alive', pod: 'ended' });
  });

  it("keeps containerd of bke's own with all its files while others' containers run in it, and says so", async () => {
    const zone = JSON.stringify({ kind: 'zone', path: '/var/lib/containerd' });
    const file = JSON.stringify({
      kind: 'file',
      path: '/etc/containerd/config.toml',
      mode: 0o644,
      content: { text: 'x' },
    });
    const other = JSON.stringify({ kind: 'file', path: '/etc/bke/x', mode: 0o644, content: { text: 'x' } });
    const { told, stderr } = await inSandbox(`${start}
rm -rf /etc/containerd; record bootstrap-cluster '${zone}' '${file}' '${other}'
mkdir -p /var/lib/containerd/snapshots /run/containerd/io.containerd.runtime.v2.task/mine/m1/rootfs /srv/keep
echo data > /var/lib/containerd/snapshots/s; echo c > /srv/keep/c; mount --bind /srv/keep /run/containerd/io.containerd.runtime.v2.task/mine/m1/rootfs
start shim_mine / shim -namespace mine -id m1 -address /run/containerd/containerd.sock
sleep 0.3
reset
alive shim_mine; there data /var/lib/containerd/snapshots/s; there config /etc/containerd/config.toml; there other /etc/bke/x
mounted rootfs /run/containerd/io.containerd.runtime.v2.task/mine/m1/rootfs
grep -q 'mine/m1' /tmp/out && tell named yes
kill -9 $shim_mine; wait; umount /run/containerd/io.containerd.runtime.v2.task/mine/m1/rootfs; rm -rf /run/containerd/io.containerd.runtime.v2.task/mine
reset; there data2 /var/lib/containerd; there config2 /etc/containerd; tell canary "$(cat /srv/keep/c)"`);
    expect(told, stderr).toMatchObject({ rc1: '1', shim_mine: 'alive', data: 'there', config: 'there', other: 'gone' });
    expect(told, stderr).toMatchObject({
      rootfs: 'mounted',
      named: 'yes',
      rc2: '0',
      data2: 'gone',
      config2: 'gone',
      canary: 'c',
    });
  });

  it('lets go of a file system whose server is dead, in bounded time, and names it', async () => {
    const { told, stdout, stderr } = await inSandbox(`
v=/var/lib/kubelet/pods/u1/volumes/v; mkdir -p $v /var/lib/kubelet/pods/u2; echo x > /var/lib/kubelet/pods/u2/f
exec 9<>/dev/fuse
mount -i -c -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 dead $v
timeout -s KILL 2 ls $v >/dev/null 2>&1; [ $? -ne 0 ] && tell hangs yes
begin=$(date +%s)
reset
tell seconds $(($(date +%s) - begin))
grep -q "$v" /tmp/out && tell named yes
tell mounts "$(grep -c ' /var/lib/kubelet/' /proc/self/mountinfo)"; there folder /var/lib/kubelet
exec 9>&-`);
    expect(told, `${stdout}${stderr}`).toMatchObject({
      hangs: 'yes',
      rc1: '0',
      named: 'yes',
      mounts: '0',
      folder: 'gone',
    });
    expect(Number(told['seconds']), stderr).toBeLessThan(40);
  });

  it('does not call a host clean while its kubelet directory is on a file system that does not answer', async () => {
    const { told, stderr } = await inSandbox(`
mkdir -p /var/lib/kubelet; exec 9<>/dev/fuse
mount -i -c -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 dead /var/lib/kubelet
begin=$(date +%s)
reset
tell seconds $(($(date +%s) - begin))
grep -q '/var/lib/kubelet' /tmp/out && grep -q 'does not answer' /tmp/out && tell named yes
tell mounts "$(grep -c ' /var/lib/kubelet ' /proc/self/mountinfo)"
exec 9>&-; umount -l /var/lib/kubelet; reset`);
    expect(told, stderr).toMatchObject({ rc1: '1', named: 'yes', mounts: '1', rc2: '0' });
    expect(Number(told['seconds']), stderr).toBeLessThan(40);
  });
});
