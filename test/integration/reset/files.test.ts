// What a reset takes and what it keeps where no record tells, and where one does.
import { describe, expect, it } from 'vitest';
import { inSandbox, whyNoSandbox } from './sandbox.ts';

const no = whyNoSandbox();
if (no !== undefined) process.stderr.write(`reset/files skipped: ${no}\n`);

/** What kubeadm and kubelet leave on a node that bke has no record of. */
const node = `
mkdir -p /etc/kubernetes/manifests /etc/kubernetes/pki/etcd /var/lib/kubelet/pods/u/volumes /var/lib/kubelet/pki /run/kubeadm /run/flannel /var/log/pods/x /etc/cni/net.d /opt/cni/bin /var/lib/etcd/member
echo x > /etc/kubernetes/admin.conf; echo x > /etc/kubernetes/kubelet.conf; echo x > /etc/kubernetes/manifests/etcd.yaml
echo ca > /etc/kubernetes/pki/ca.crt; echo x > /etc/kubernetes/pki/sa.key; echo x > /etc/kubernetes/pki/etcd/ca.key
echo x > /var/lib/kubelet/config.yaml; echo x > /run/flannel/subnet.env; echo x > /run/kubeadm/k; echo x > /var/log/pods/x/0.log
echo '{"name":"cbr0"}' > /etc/cni/net.d/10-flannel.conflist; echo x > /opt/cni/bin/flannel; echo x > /etc/default/kubelet
`;

const users = `
echo mine > /etc/kubernetes/pki/mine.crt; echo mine > /etc/cni/net.d/99-mine.conf; echo mine > /opt/cni/bin/bridge
echo mine > /usr/local/bin/kubectl; mkdir -p /etc/containerd /opt/local-path-provisioner/pvc-1; echo mine > /etc/containerd/config.toml
echo mine > /opt/local-path-provisioner/pvc-1/data; echo '10.0.0.1 mine' >> /etc/hosts; mkdir -p /var/lib/kubelet/seccomp; echo mine > /var/lib/kubelet/seccomp/p.json
`;

const userFiles = [
  '/etc/kubernetes/pki/mine.crt',
  '/etc/cni/net.d/99-mine.conf',
  '/opt/cni/bin/bridge',
  '/usr/local/bin/kubectl',
  '/etc/containerd/config.toml',
  '/opt/local-path-provisioner/pvc-1/data',
  '/var/lib/kubelet/seccomp/p.json',
];

const tree = `
tree() {
  places="/etc /opt/cni /opt/local-path-provisioner /usr/local/bin /usr/local/libexec /srv /run /var/log /var/lib/kubelet /var/lib/etcd /var/lib/cni /var/lib/rancher /var/lib/bke /var/lib/bke-kept /data"
  find $places -printf '%p %y %m %U %G %l\\n' 2>/dev/null | grep -v ^/run/lock | sort
  find $places -type f -print0 2>/dev/null | xargs -0 md5sum | sort
  ls /var/lib
}
`;

describe.skipIf(no !== undefined)('reset without a record', () => {
  it('changes nothing on a host that was never set up, and says so', async () => {
    const { told, stdout, stderr } = await inSandbox(`${tree}
echo mine > /usr/local/bin/kubectl; mkdir -p /etc/cni/net.d /opt/cni/bin /etc/kubernetes/pki; echo mine > /etc/cni/net.d/10-flannel.conflist; echo mine > /etc/kubernetes/pki/ca.crt
iptables-legacy -N MINE; ip link add docker0 type bridge
tree > /tmp/before
reset
tree > /tmp/after; diff /tmp/before /tmp/after && tell same yes
grep -q 'Nothing to do' /tmp/out && tell says yes`);
    expect(told, `${stdout}${stderr}`).toMatchObject({ rc1: '0', same: 'yes', says: 'yes' });
  });

  it('takes what download.sh leaves beside the program, and no file that only has its name', async () => {
    const { told, stdout, stderr } = await inSandbox(`cd /usr/local/bin
{ head -c 100000 /dev/zero; printf 'chunks/bke.js'; head -c 100000 /dev/zero; } > bke.old; chmod 755 bke.old
echo part > .bke-download.4711; echo part > .bke-download.4711.old; echo mine > .bke-download.mine
reset
tell left "$(echo $(ls -A | grep bke))"; grep -q 'the bke before this one' /tmp/out && tell says yes
echo mine > bke.old
reset
tell mine "$(cat bke.old)"`);
    expect(told, `${stdout}${stderr}`).toMatchObject({
      left: '.bke-download.mine',
      says: 'yes',
      mine: 'mine',
    });
  });

  it('takes what was brought over SSH to a host on which bke died before it wrote a record', async () => {
    const { told, stdout, stderr } = await inSandbox(`cd /var/lib; ls -A > /tmp/before
for f in bke-leaving bke-brought-0123456789abcdef bke-brought-0123456789abcdef.new bke-brought-0123456789abcdef.ca .bke-0123456789abcdef.tmp; do echo x > $f; done
echo mine > bke-brought-mine; mkdir bke-brought-fedcba9876543210
reset
tell mine "$(cat bke-brought-mine)"; rm bke-brought-mine; rmdir bke-brought-fedcba9876543210; ls -A > /tmp/after; diff /tmp/before /tmp/after && tell same yes`);
    expect(told, `${stdout}${stderr}`).toEqual({ rc1: '0', mine: 'mine', same: 'yes' });
  });

  it("removes what is known as Kubernetes' and keeps every file of the user beside it", async () => {
    const { told, stderr } = await inSandbox(`${node}${users}
reset
for f in ${userFiles.join(' ')}; do [ "$(cat $f 2>/dev/null)" = mine ] || tell lost $f; done
grep -q mine /etc/hosts && tell hosts kept
tell left "$(find /etc/kubernetes /var/lib/kubelet /var/lib/etcd /run/kubeadm /run/flannel /var/log/pods /etc/cni /opt/cni /etc/default/kubelet -type f 2>/dev/null | tr '\\n' ' ')"
for f in mine.crt 99-mine.conf bridge seccomp pvc-1; do grep -q $f /tmp/out || tell unsaid $f; done
reset`);
    expect(told, stderr).toMatchObject({
      rc1: '0',
      rc2: '0',
      hosts: 'kept',
      left: '/etc/kubernetes/pki/mine.crt /var/lib/kubelet/seccomp/p.json /etc/cni/net.d/99-mine.conf /opt/cni/bin/bridge ',
    });
    expect(told, stderr).not.toHaveProperty('lost');
    expect(told, stderr).not.toHaveProperty('unsaid');
  });

  it('leaves not even an empty folder of a node nobody else used', async () => {
    const { told, stdout, stderr } = await inSandbox(`${tree}
tree > /tmp/before
${node}
reset
tree > /tmp/after; diff /tmp/before /tmp/after && tell same yes`);
    expect(told, `${stdout}${stderr}`).toMatchObject({ rc1: '0', same: 'yes' });
  });

  it('removes volume data only with --purge-volumes, after listing it', async () => {
    const { told, stderr } = await inSandbox(`${node}
mkdir -p /var/lib/rancher/k3s/storage/pvc-9 /var/lib/rancher/k3s/server /opt/local-path-provisioner/pvc-1
echo data > /var/lib/rancher/k3s/storage/pvc-9/d; echo data > /opt/local-path-provisioner/pvc-1/d; echo x > /var/lib/rancher/k3s/server/token
reset
there k3s /var/lib/rancher/k3s/storage/pvc-9/d; there server /var/lib/rancher/k3s/server; there local /opt/local-path-provisioner/pvc-1/d
grep -q -- '--purge-volumes removes it' /tmp/out && tell says yes
reset --purge-volumes
grep -q 'pvc-9' /tmp/out && grep -q pvc-1 /tmp/out && tell listed yes
there purged /var/lib/rancher; there purged2 /opt/local-path-provisioner`);
    expect(told, stderr).toMatchObject({ rc1: '0', k3s: 'there', server: 'gone', local: 'there', says: 'yes' });
    expect(told, stderr).toMatchObject({ rc2: '0', listed: 'yes', purged: 'gone', purged2: 'gone' });
  });

  it("removes bke's own by name and mark where its record was lost, with the services' data, and no file of the user", async () => {
    const { told, stdout, stderr } = await inSandbox(`${tree}
mkdir -p /etc/systemd/system/multi-user.target.wants /usr/local/libexec; echo mine > /usr/local/bin/ctr; echo '10.0.0.1 mine # not bke' >> /etc/hosts; echo mine > /etc/systemd/system/mine.service
rm -rf /etc/containerd /etc/crictl.yaml; tree > /tmp/before
mkdir -p /usr/local/libexec/bke/runc-1 /etc/bke/services /var/lib/bke/services/registry /var/lib/bke/pki /var/lib/bke/operations /etc/containerd/certs.d/r.io /var/lib/containerd/io.containerd.metadata.v1.bolt /run/containerd
echo x > /usr/local/libexec/bke/runc-1/runc; ln -s /usr/local/libexec/bke/runc-1/runc /usr/local/bin/runc-link; echo x > /etc/bke/services/settings.json; echo x > /var/lib/bke/services/registry/blob; echo x > /var/lib/bke/pki/site-ca.key; printf '# Written by bke: ports.\\n' > /etc/sysctl.d/90-bke-services.conf
printf '# Written by bke. Edits are lost.\\n[Unit]\\n' > /etc/systemd/system/containerd.service; for f in /etc/containerd/config.toml /etc/crictl.yaml /etc/containerd/certs.d/r.io/hosts.toml; do echo '# Written by bke.' > $f; done; echo x > /var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db
printf '# Written by bke.\\n[Unit]\\n' > /etc/systemd/system/bke-registry.service; ln -s ../bke-registry.service /etc/systemd/system/multi-user.target.wants/bke-registry.service
useradd --system --user-group --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin bke; cp -a /etc/hosts /tmp/
echo '10.0.0.9 deploy.bke.internal # bke: deploy.bke.internal' >> /etc/hosts
reset
tell user "$(grep -c ^bke: /etc/passwd)"; cmp -s /etc/hosts /tmp/hosts && tell hosts same
accounts='/etc/\\(passwd\\|group\\|shadow\\|gshadow\\|subuid\\|subgid\\)'
grep -v "$accounts" /tmp/before > /tmp/b; tree | grep -v "$accounts" > /tmp/after; diff /tmp/b /tmp/after && tell same yes
reset`);
    expect(told, `${stdout}${stderr}`).toMatchObject({ rc1: '0', rc2: '0', user: '0', hosts: 'same', same: 'yes' });
  });

  it('leaves the agent and the local services to the flags that take them where the record was lost, and says that they stay', async () => {
    const { told, stdout, stderr } = await inSandbox(`
units=/etc/systemd/system; mkdir -p $units /var/lib/bke/agent /var/lib/bke/operations /run/flannel; echo t > /var/lib/bke/agent/token; echo x > /run/flannel/subnet.env
for unit in agent registry; do printf '# Written by bke.\\n[Unit]\\n' > $units/bke-$unit.service; done
bke reset --yes >/tmp/out 2>&1; tell rc $?; cat /tmp/out >&2; there flannel /run/flannel; there token /var/lib/bke/agent/token; there agent $units/bke-agent.service
grep -q 'Still here: the local services (--mount takes them too) and the agent and what came with it (--all takes them too)' /tmp/out && tell says yes
bke reset --all --dry-run >/tmp/out 2>&1; tell listed "$(grep -c 'remove /var/lib/bke/agent ' /tmp/out)"; cat /tmp/out >&2
reset; there state /var/lib/bke; there units "$(ls -d $units/bke-* 2>/dev/null || echo /none)"`);
    const left = { rc: '0', flannel: 'gone', token: 'there', agent: 'there', says: 'yes' };
    expect(told, `${stdout}${stderr}`).toEqual({ ...left, listed: '1', rc1: '0', state: 'gone', units: 'gone' });
  });

  it('takes what enrolled a host with --all alone where the record was lost, unless the local services still need it', async () => {
    const { told, stdout, stderr } = await inSandbox(`${tree}
unit=/etc/systemd/system/bke-registry.service; mkdir -p /etc/systemd/system /usr/local/libexec; cp -a /etc/hosts /tmp/; tree > /tmp/before
enrolled() { mkdir -p /etc/bke /usr/local/libexec/bke/runc-1 /var/lib/bke/operations; echo x > /etc/bke/site-ca.crt; echo x > /usr/local/libexec/bke/runc-1/runc
echo '10.0.0.9 deploy.bke.internal # bke: deploy.bke.internal' >> /etc/hosts; }
run() { bke reset $* --yes > /tmp/out 2>&1; tell rc$n $?; cat /tmp/out >&2; n=$((n + 1)); }
n=1; enrolled; run; grep -q 'Still here: the agent and what came with it' /tmp/out && tell says yes
run --all; cmp -s /etc/hosts /tmp/hosts && tell hosts same; tree > /tmp/after; diff /tmp/before /tmp/after && tell same yes
enrolled; printf '# Written by bke.\\n[Unit]\\n' > $unit
run --all; grep -q 'Still here: the local services (--mount' /tmp/out && tell needed yes; there ca /etc/bke/site-ca.crt; cmp -s /etc/hosts /tmp/hosts || tell line there`);
    const left = { rc1: '0', says: 'yes', rc2: '0', hosts: 'same', same: 'yes' };
    expect(told, `${stdout}${stderr}`).toEqual({ ...left, rc3: '0', needed: 'yes', ca: 'there', line: 'there' });
  });

  it('takes nothing by name alone where nothing of bke proves that it was here, and keeps what is beside a proof', async () => {
    const { told, stdout, stderr } = await inSandbox(`${tree}
mkdir -p /etc/bke/services /usr/local/libexec/bke /var/lib/bke/services/registry; echo user > /etc/bke/mine; echo u > /usr/local/libexec/bke/mine; echo '#orig' > /etc/sysctl.d/90-bke-services.conf
echo mine > /etc/bke/services/settings.json; echo '10.1.1.1 mine # bke: my own note' >> /etc/hosts; tree > /tmp/before
reset
tree > /tmp/after; diff /tmp/before /tmp/after && tell same yes
mkdir -p /etc/containerd /var/lib/containerd/user-image /var/lib/containerd/io.containerd.x /opt/cni/bin; echo mine > /etc/containerd/mine.toml; echo x > /opt/cni/bin/bridge
printf '# Written by bke.\\n' > /etc/systemd/system/containerd.service
reset; there config /etc/containerd/mine.toml; there image /var/lib/containerd/user-image; there made /var/lib/containerd/io.containerd.x
there mine /etc/bke/mine; there program /usr/local/libexec/bke/mine; grep -q 'my own note' /etc/hosts && tell hosts kept
for f in mine.toml user-image /opt/cni/bin; do grep -q $f /tmp/out || tell unsaid $f; done
reset; grep -q /opt/cni/bin /tmp/out && tell again yes
rm /opt/cni/bin/bridge; reset; there state /var/lib/bke`);
    expect(told, `${stdout}${stderr}`).toEqual({
      rc1: '0',
      same: 'yes',
      rc2: '1',
      config: 'there',
      image: 'there',
      made: 'gone',
      mine: 'there',
      program: 'there',
      hosts: 'kept',
      rc3: '1',
      again: 'yes',
      rc4: '0',
      state: 'gone',
    });
  });

  it.each([
    ['empty', ': > $l'],
    ['nothing but NUL bytes', 'head -c 4096 /dev/zero > $l'],
    ['without its end', 'head -n 4 $l > /tmp/l; cp /tmp/l $l'],
    ['without a line in its middle', 'sed -i 5d $l'],
    ['without its beginning', 'sed -i 1d $l'],
  ])('finds all that bke made where the record is %s', async (_name, harm) => {
    const marked = { text: '# Written by bke. Edits are lost.\n' };
    const list = [
      { kind: 'file', path: '/etc/bke/services/settings.json', mode: 0o644, content: { text: '{}' } },
      { kind: 'file', path: '/etc/bke/services/registry.yaml', mode: 0o644, content: marked },
      { kind: 'file', path: '/etc/systemd/system/bke-files.service', mode: 0o644, content: marked },
      { kind: 'file', path: '/var/lib/bke/pki/site-ca.key', mode: 0o600, content: { text: 'k' } },
      { kind: 'hosts-entry', address: '10.0.0.9', names: ['deploy.bke.internal'] },
    ];
    const { told, stdout, stderr } = await inSandbox(`${tree}
mkdir -p /etc/systemd/system; tree > /tmp/before
record services ${list.map((change) => `'${JSON.stringify(change)}'`).join(' ')}
l=/var/lib/bke/ledger/ledger.jsonl; ${harm}
reset
tree > /tmp/after; diff /tmp/before /tmp/after && tell same yes
reset`);
    expect(told, `${stdout}${stderr}`).toEqual({ rc1: '0', same: 'yes', rc2: '0' });
  });

  it('tells of a kernel value whose earlier one no record has, and does not call the host clean', async () => {
    const { told, stderr } = await inSandbox(`
k=/proc/sys/net/ipv4/ip_local_reserved_ports; mount -t proc proc /proc; echo 40443 > $k
printf '# Written by bke: ports.\\nnet.ipv4.ip_local_reserved_ports = 40443\\n' > /etc/sysctl.d/90-bke-services.conf
reset; grep -q 'kernel value net.ipv4.ip_local_reserved_ports' /tmp/out && tell says yes
there file /etc/sysctl.d/90-bke-services.conf
reset; grep -q 'kernel value net.ipv4.ip_local_reserved_ports' /tmp/out && tell again yes
echo > $k; reset; there state /var/lib/bke; reset; grep -q 'Nothing to do' /tmp/out && tell clean yes`);
    expect(told, stderr).toEqual({
      rc1: '1',
      says: 'yes',
      file: 'gone',
      rc2: '1',
      again: 'yes',
      rc3: '0',
      state: 'gone',
      rc4: '0',
      clean: 'yes',
    });
  });

  it("takes a node that bke made off a host whose record is lost, and says each time what may be bke's and nothing proves", async () => {
    const { told, stdout, stderr } = await inSandbox(`${tree}
mount -t proc proc /proc; f=/proc/sys/net/ipv4/ip_forward; echo 0 > $f; mkdir -p /etc/modules-load.d /etc/sysctl.d /etc/systemd/system /usr/local/libexec; rm -rf /etc/containerd /etc/crictl.yaml; tree > /tmp/before
mkdir -p /etc/kubernetes/kubelet.conf.d /var/lib/bke/artifacts /var/lib/bke/agent /var/lib/bke/bootstrap /usr/local/libexec/bke/kubelet-v1.36.3 /etc/containerd /etc/systemd/system/multi-user.target.wants
${node}
marked() { for path in "$@"; do echo '# Written by bke.' > $path; done; }
marked /etc/modules-load.d/bke-node.conf /etc/kubernetes/kubelet.conf.d/10-bke.conf /etc/containerd/config.toml /etc/crictl.yaml
for unit in kubelet containerd bke-agent; do marked /etc/systemd/system/$unit.service; ln -s ../$unit.service /etc/systemd/system/multi-user.target.wants/; done
printf '# Written by bke.\nnet.bridge.bridge-nf-call-iptables = 1\nnet.ipv4.ip_forward = 1\n' > /etc/sysctl.d/99-zz-bke-node.conf; echo 1 > $f
echo x > /usr/local/libexec/bke/kubelet-v1.36.3/kubelet; ln -s /usr/local/libexec/bke/kubelet-v1.36.3/kubelet /usr/local/bin/kubelet-link; p=/usr/local/libexec/bke/bke-0.1.0; mkdir $p; echo chunks/bke.js > $p/bke; ln -s $p/bke /usr/local/bin/bke; echo x > /var/lib/bke/artifacts/sha; echo x > /var/lib/bke/agent/token; echo x > /var/lib/bke/bootstrap/state.json; echo x > /opt/cni/bin/bridge
rm -rf /var/lib/bke/ledger
for i in 1 2; do reset; tell "value$i" "$(grep -c 'kernel value' /tmp/out)"; tell "program$i" "$(cat /usr/local/bin/bke)"; done
tell left "$(find /etc/kubernetes /etc/containerd /etc/systemd/system /etc/sysctl.d /usr/local/libexec /var/lib/kubelet /opt/cni -newer /tmp/before -type f 2>/dev/null | tr '\n' ' ')"
echo 0 > $f; rm /opt/cni/bin/bridge; reset
tree > /tmp/after; diff /tmp/before /tmp/after && tell same yes`);
    expect(told, `${stdout}${stderr}`).toMatchObject({
      rc1: '1',
      rc2: '1',
      rc3: '0',
      // The same command has to run again.
      program1: 'chunks/bke.js',
      program2: 'chunks/bke.js',
      left: '/usr/local/libexec/bke/bke-0.1.0/bke /opt/cni/bin/bridge ',
      same: 'yes',
    });
    expect([told['value1'], told['value2']], stderr).not.toContain('0');
    expect(stderr).toContain('kernel value net.ipv4.ip_forward: bke set it to 1');
    expect(stderr).not.toContain('bridge-nf-call');
  });

  it('remembers what it could not remove when all that showed whose it is has gone, and takes it as soon as it can', async () => {
    const { told, stderr } = await inSandbox(`
mkdir -p /etc/cni/net.d; mount -t tmpfs t /etc/cni/net.d
${node}
chattr +i /etc/cni/net.d/10-flannel.conflist; echo mine > /etc/cni/net.d/99-mine.conf
reset; there proof /etc/kubernetes; there left /etc/cni/net.d/10-flannel.conflist
reset; grep -q /etc/cni/net.d/10-flannel.conflist /tmp/out && tell named yes
chattr -i /etc/cni/net.d/10-flannel.conflist
reset; there after /etc/cni/net.d/10-flannel.conflist; there mine /etc/cni/net.d/99-mine.conf; there state /var/lib/bke
reset; grep -q 'Nothing to do' /tmp/out && tell clean yes`);
    const first = { rc1: '1', proof: 'gone', left: 'there', rc2: '1', named: 'yes' };
    const then = { rc3: '0', after: 'gone', mine: 'there', state: 'gone', rc4: '0', clean: 'yes' };
    expect(told, stderr).toEqual({ ...first, ...then });
  });

  it('removes a kubeconfig that has this cluster only and keeps one with others', async () => {
    const config = (ca: string): string => `- cluster: {certificate-authority-data: ${ca}, server: https://x}`;
    const { told, stderr } = await inSandbox(`${node}
ca=$(base64 -w0 < /etc/kubernetes/pki/ca.crt)
mkdir -p /root/.kube /home/u/.kube /home/v/.kube
echo 'u:x:1001:1001::/home/u:/bin/sh' >> /etc/passwd; echo 'v:x:1002:1002::/home/v:/bin/sh' >> /etc/passwd
printf 'clusters:\\n${config("'$ca'")}\\n' > /root/.kube/config
printf 'clusters:\\n${config("'$ca'")}\\n${config('b3RoZXI=')}\\n' > /home/u/.kube/config
printf 'clusters:\\n${config('b3RoZXI=')}\\n' > /home/v/.kube/config
reset
there own /root/.kube/config; there mixed /home/u/.kube/config; there other /home/v/.kube/config
grep -q '/home/u/.kube/config' /tmp/out && tell says yes`);
    expect(told, stderr).toMatchObject({ rc1: '0', own: 'gone', mixed: 'there', other: 'there', says: 'yes' });
  });
});

describe.skipIf(no !== undefined)('reset with a record', () => {
  const zones = [
    '/etc/kubernetes',
    '/var/lib/kubelet',
    '/etc/cni/net.d',
    '/opt/cni/bin',
    '/var/lib/etcd',
    '/data/registry',
  ];
  const changes = [
    ...zones.map((path) => ({ kind: 'zone', path })),
    { kind: 'file', path: '/etc/bke/a', mode: 0o644, content: { text: 'a' } },
    { kind: 'file', path: '/etc/mine.conf', mode: 0o644, content: { text: 'ours' } },
    { kind: 'hosts-entry', address: '10.0.0.9', names: ['deploy.bke.internal'] },
  ];
  const record = (scope: string, list: readonly object[]): string =>
    `record ${scope} ${list.map((change) => `'${JSON.stringify(change)}'`).join(' ')}`;

  it("brings everything back as it was, the user's own files with Kubernetes' names included", async () => {
    const { told, stdout, stderr } = await inSandbox(`${tree}
mkdir -p /etc/kubernetes/pki /var/lib/kubelet/pods/old /data/registry /srv/keep; echo mine > /etc/kubernetes/pki/ca.crt; echo mine > /etc/kubernetes/admin.conf; echo mine > /var/lib/kubelet/pods/old/f; echo old > /etc/mine.conf
tree > /tmp/before
${record('services', changes)}
rm -rf /etc/kubernetes/manifests; ${node.replaceAll('echo ca > /etc/kubernetes/pki/ca.crt;', '').replaceAll('echo x > /etc/kubernetes/admin.conf;', '')}
mkdir -p /data/registry/docker/v2 /data/registry/m; echo blob > /data/registry/docker/v2/b; echo c > /srv/keep/c; mount --bind /srv/keep /data/registry/m
reset
tell canary "$(cat /srv/keep/c)"; rm /srv/keep/c
tree > /tmp/after; diff /tmp/before /tmp/after && tell same yes
reset`);
    expect(told, `${stdout}${stderr}`).toMatchObject({ rc1: '0', same: 'yes', canary: 'c', rc2: '0' });
  });

  it('reset twice is reset once: what the first gives back the second leaves', async () => {
    const list = [
      {
        kind: 'file',
        path: '/etc/sysctl.d/90-bke-services.conf',
        mode: 0o644,
        content: { text: '# Written by bke: x\n' },
      },
      { kind: 'file', path: '/etc/bke/services/settings.json', mode: 0o644, content: { text: '{}' } },
      { kind: 'file', path: '/usr/local/libexec/bke/runc-1.0/runc', mode: 0o755, content: { text: 'x' } },
    ];
    const { told, stdout, stderr } = await inSandbox(`${tree}
mkdir -p /etc/bke/services /usr/local/libexec/bke; echo user > /etc/bke/mine; echo u > /usr/local/libexec/bke/mine; echo '#orig' > /etc/sysctl.d/90-bke-services.conf; echo old > /etc/bke/services/settings.json
tree > /tmp/before
${record('services', list)}
reset; tree > /tmp/once; diff /tmp/before /tmp/once && tell once same
reset; tree > /tmp/twice; diff /tmp/once /tmp/twice && tell twice same`);
    expect(told, `${stdout}${stderr}`).toEqual({ rc1: '0', once: 'same', rc2: '0', twice: 'same' });
  });

  it('tells at once what it moves aside, again when it fails, and in the next run', async () => {
    const { told, stderr } = await inSandbox(`
mkdir -p /mnt/t; mount -t tmpfs t /mnt/t
${record('services', [
  { kind: 'file', path: '/mnt/t/a', mode: 0o644, content: { text: 'a' } },
  { kind: 'file', path: '/etc/bke/s', mode: 0o644, content: { text: 's' } },
])}
echo edited > /etc/bke/s; chattr +i /mnt/t/a
reset
grep -q 'Kept: .*/var/lib/bke-kept/' /tmp/out && tell event yes; grep -q '^Kept for you: /var/lib/bke-kept (1 file)' /tmp/out && tell end yes
grep -q '"type":"note".*Kept: ' /var/lib/bke/operations/*-reset-*.jsonl && tell journal yes
chattr -i /mnt/t/a
reset; grep -q 'an earlier reset moved it there' /tmp/out && tell again yes
reset; grep -q '^Kept for you: ' /tmp/out && tell later yes`);
    const yes = { event: 'yes', end: 'yes', journal: 'yes', again: 'yes', later: 'yes' };
    expect(told, stderr).toEqual({ rc1: '1', rc2: '0', rc3: '0', ...yes });
  });

  it('says what it was not asked for and that stands, where there is nothing else to do', async () => {
    const { told, stderr } = await inSandbox(`
${record('services', [{ kind: 'file', path: '/etc/bke/s', mode: 0o644, content: { text: 's' } }])}
bke reset --all --yes >/tmp/out 2>&1; tell rc $?; cat /tmp/out >&2
grep -q 'Nothing to do: Kubernetes is off this host. Still here: the local services (--mount takes them too).' /tmp/out && tell says yes; there s /etc/bke/s`);
    expect(told, stderr).toEqual({ rc: '0', says: 'yes', s: 'there' });
  });

  it('needs no list of a zone that was empty', async () => {
    const { told, stderr } = await inSandbox(`
${record('node', [{ kind: 'zone', path: '/data/z' }])}
mkdir -p /data/z; echo x > /data/z/x; rm -r /var/lib/bke/ledger/originals
reset; there z /data/z; there state /var/lib/bke`);
    expect(told, stderr).toEqual({ rc1: '0', z: 'gone', state: 'gone' });
  });

  it('keeps mounts that were in a zone before bke, and gives the directory its own mode back', async () => {
    const { told, stderr } = await inSandbox(`
mkdir -p /data/z/mine /srv/keep; chmod 751 /data/z; echo c > /srv/keep/c; mount --bind /srv/keep /data/z/mine
${record('services', [{ kind: 'zone', path: '/data/z' }])}
chmod 700 /data/z; mkdir -p /data/z/new/m; mount --bind /srv/keep /data/z/new/m
reset
tell canary "$(cat /data/z/mine/c)"; mounted mine /data/z/mine; there new /data/z/new; tell mode "$(stat -c %a /data/z)"`);
    expect(told, stderr).toMatchObject({ rc1: '0', canary: 'c', mine: 'mounted', new: 'gone', mode: '751' });
  });

  it('leaves what another scope needs, and takes it with that scope', async () => {
    const { told, stderr } = await inSandbox(`
${record('node', [{ kind: 'zone', path: '/var/lib/kubelet' }])}
${record('services', [{ kind: 'file', path: '/etc/bke/s', mode: 0o644, content: { text: 's' } }])}
${record('enrol', [{ kind: 'file', path: '/etc/bke/e', mode: 0o644, content: { text: 'e' } }])}
mkdir -p /var/lib/kubelet/pods/u
bke reset --yes >/tmp/out 2>&1; tell a $?; there kubelet /var/lib/kubelet; there s1 /etc/bke/s; there e1 /etc/bke/e
bke reset --yes --mount >>/tmp/out 2>&1; tell b $?; there s2 /etc/bke/s; there e2 /etc/bke/e
bke reset --all --confirm >>/tmp/out 2>&1; tell c $?; there e3 /etc/bke; there state /var/lib/bke
cat /tmp/out >&2`);
    expect(told, stderr).toMatchObject({ a: '0', kubelet: 'gone', s1: 'there', e1: 'there' });
    expect(told, stderr).toMatchObject({ b: '0', s2: 'gone', e2: 'there', c: '0', e3: 'gone', state: 'gone' });
  });

  it('lists a file it cannot remove, fails, and finishes once it can', async () => {
    const { told, stderr } = await inSandbox(`
mkdir -p /mnt/t; mount -t tmpfs t /mnt/t
${record('services', [
  { kind: 'file', path: '/mnt/t/a', mode: 0o644, content: { text: 'a' } },
  { kind: 'file', path: '/mnt/t/b', mode: 0o644, content: { text: 'b' } },
])}
chattr +i /mnt/t/a && tell immutable yes
reset
grep -q '/mnt/t/a' /tmp/out && grep -q lsattr /tmp/out && tell named yes
there a /mnt/t/a; there b /mnt/t/b; there ledger /var/lib/bke/ledger
chattr -i /mnt/t/a
reset
there after /mnt/t/a; there state /var/lib/bke`);
    expect(told, stderr).toMatchObject({
      immutable: 'yes',
      rc1: '1',
      named: 'yes',
      a: 'there',
      b: 'gone',
      ledger: 'there',
    });
    expect(told, stderr).toMatchObject({ rc2: '0', after: 'gone', state: 'gone' });
  });

  it('moves a file of ours that someone edited aside, keeps it and says where', async () => {
    const { told, stderr } = await inSandbox(`
${record('services', [{ kind: 'file', path: '/etc/bke/s', mode: 0o644, content: { text: 's' } }])}
echo edited > /etc/bke/s
reset
tell kept "$(cat /var/lib/bke-kept/*/etc/bke/s)"; there state /var/lib/bke
grep -q '/var/lib/bke-kept/' /tmp/out && tell says yes
reset; there still /var/lib/bke-kept`);
    expect(told, stderr).toMatchObject({
      rc1: '0',
      kept: 'edited',
      state: 'gone',
      says: 'yes',
      rc2: '0',
      still: 'there',
    });
  });
});

describe.skipIf(no !== undefined)('the command line of reset', () => {
  it.each([
    ['an unknown option', '--al', '2'],
    ['an argument', 'extra', '2'],
    ['a value for a flag', '--all=no', '2'],
    ['no confirmation and no terminal', '--all --mount', '2'],
  ])('does nothing on %s', async (_name, words, rc) => {
    const { told, stderr } = await inSandbox(`${node}
bke reset ${words} >/tmp/out 2>&1 </dev/null; tell rc $?; cat /tmp/out >&2
there config /var/lib/kubelet/config.yaml; there admin /etc/kubernetes/admin.conf`);
    expect(told, stderr).toMatchObject({ rc, config: 'there', admin: 'there' });
  });

  it('takes the flags in any order, and --confirm for --yes', async () => {
    const { told, stderr } = await inSandbox(`${node}
bke reset --mount --confirm --all >/tmp/out 2>&1; tell rc $?; cat /tmp/out >&2; there config /var/lib/kubelet`);
    expect(told, stderr).toMatchObject({ rc: '0', config: 'gone' });
  });

  it('shows with --dry-run what a run then does, and changes nothing', async () => {
    const { told, stdout, stderr } = await inSandbox(`${tree}${node}
tree > /tmp/before
bke reset --all --mount --dry-run >/tmp/plan 2>/tmp/err; tell rc $?
tree > /tmp/after; diff /tmp/before /tmp/after && tell same yes
for f in /etc/kubernetes/admin.conf /var/lib/kubelet/pods /var/lib/etcd/member /run/flannel; do grep -q "remove $f" /tmp/plan || tell unsaid $f; done`);
    expect(told, `${stdout}${stderr}`).toMatchObject({ rc: '0', same: 'yes' });
    expect(told).not.toHaveProperty('unsaid');
  });
});
