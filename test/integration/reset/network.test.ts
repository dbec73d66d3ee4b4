// A reset takes exactly Kubernetes' links, namespaces and rules, and never cuts anyone off.
import { describe, expect, it } from 'vitest';
import { inSandbox, whyNoSandbox } from './sandbox.ts';

const no = whyNoSandbox();
if (no !== undefined) process.stderr.write(`reset/network skipped: ${no}\n`);

const host = `
ip link add eth0 type veth peer name far; ip addr add 10.9.0.2/24 dev eth0; ip link set eth0 up; ip link set far up
`;

const kubernetes = `
ip link add cni0 type bridge; ip addr add 10.244.0.1/24 dev cni0; ip link set cni0 up
ip link add veth11aa22bb type veth peer name podend; ip link set veth11aa22bb master cni0
ip link add flannel.1 type vxlan id 1 dstport 8472 dev eth0
ip link add flannel-v6.1 type vxlan id 2 dstport 8473 dev eth0
ip link add cali0123456789a type veth peer name caliend
mkdir -p /run/netns; ip netns add cni-1; ip netns add cni-2e0f
for t in iptables-legacy iptables-nft ip6tables-legacy ip6tables-nft; do
  $t -N KUBE-TEST; $t -A KUBE-TEST -j RETURN; $t -N cali-TEST; $t -A cali-TEST -j KUBE-TEST
  $t -I INPUT -m comment --comment "kubernetes service portals" -j KUBE-TEST
  $t -A FORWARD -m comment --comment "cali:S93hcgKJrXEqnTfs" -m comment --comment "Policy explicitly accepted packet." -j ACCEPT
  $t -t nat -N FLANNEL-POSTRTG; $t -t nat -A POSTROUTING -m comment --comment "flanneld masq" -j FLANNEL-POSTRTG
  $t -t nat -N KUBE-SERVICES; $t -t nat -A OUTPUT -j KUBE-SERVICES; $t -t nat -A KUBE-SERVICES -j MARK --set-xmark 0x4000/0x4000
done
nft add table ip kube-proxy; nft add chain ip kube-proxy x; nft add table ip6 kube-proxy
mkdir -p /var/lib/etcd/member/snap; echo data > /var/lib/etcd/member/snap/db
`;

const bystanders = `
ip link add docker0 type bridge; ip link add flannel-lab type vxlan id 7 dstport 9999 dev eth0
ip link add kube-br type bridge; ip link add vethuser type veth peer name vethpeer
ip link add flannel.x type bridge; ip link add cali-mine type veth peer name minend
ip link add flannel.9 type bridge
ip netns add mine; ip netns add xcni-1
for t in iptables-legacy ip6tables-legacy; do $t -t nat -L -n >/dev/null; done # such a table stays once it was looked at
for t in iptables-legacy iptables-nft ip6tables-legacy ip6tables-nft; do
  $t -N MY-KUBE-RULES; $t -A MY-KUBE-RULES -p tcp --dport 8080 -j ACCEPT; $t -A INPUT -j MY-KUBE-RULES
  $t -A INPUT -p tcp --dport 22 -j ACCEPT
  $t -A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT
  $t -A INPUT -m comment --comment "not -j KUBE-TEST really" -p udp -j ACCEPT
  $t -P INPUT DROP
  $t -t nat -A POSTROUTING -s 172.17.0.0/16 -m comment --comment "my \\"quoted\\" rule" -j MASQUERADE
done
nft add table inet mine; nft add chain inet mine kube-proxy
mkdir -p /var/lib/etcd/mine
`;

const scan = `
scan() {
  ip -o -d link | sed -E 's/^[0-9]+: //; s/@if[0-9]+//; s/(qlen|mtu|state|mode|group|addrgenmode|numtxqueues|gso|tso|gro|link\\/ether|brd|designated|bridge_id|timer).*//' | sort
  ip route show table all | grep -v '^\\(local\\|broadcast\\|multicast\\)' | sort; ip rule; ip netns list | sort
  for t in iptables-legacy iptables-nft ip6tables-legacy ip6tables-nft; do echo $t; $t-save | grep -v '^#' | sed 's/\\[.*\\]//'; done
  nft list tables | sort
  find /var/lib/etcd /run/netns 2>/dev/null | sort
}
`;

describe.skipIf(no !== undefined)('reset and the network of a host', () => {
  it('removes exactly what Kubernetes made and leaves every bystander, byte by byte', async () => {
    const { told, stdout, stderr } = await inSandbox(`${host}${bystanders}${scan}
scan > /tmp/before
${kubernetes}
scan > /tmp/with; cmp -s /tmp/before /tmp/with || tell planted yes
reset
scan > /tmp/after
diff /tmp/before /tmp/after && tell same yes
reset
scan > /tmp/again; cmp -s /tmp/after /tmp/again && tell twice yes`);
    expect(told, `${stdout}${stderr}`).toMatchObject({ planted: 'yes', same: 'yes', twice: 'yes', rc1: '0', rc2: '0' });
  });

  it('takes the chains away that iptables made for Kubernetes, and no other, where the record tells which were there', async () => {
    const { told, stdout, stderr } = await inSandbox(`${host}
iptables-nft -A INPUT -p tcp --dport 22 -j ACCEPT
nft add table ip raw; nft add chain ip raw PREROUTING '{ type filter hook prerouting priority -300; policy accept; }'
nft add table ip6 nat; nft list ruleset > /tmp/before
record node '{"kind":"base-chains"}'
iptables-nft -N KUBE-TEST; iptables-nft -A FORWARD -j KUBE-TEST; iptables-nft -A OUTPUT -j KUBE-TEST; iptables-nft -A INPUT -j KUBE-TEST
iptables-nft -t nat -N KUBE-SERVICES; iptables-nft -t nat -A OUTPUT -j KUBE-SERVICES; ip6tables-nft -N KUBE-TEST; ip6tables-nft -A INPUT -j KUBE-TEST
nft add table ip security; iptables-nft -t raw -A PREROUTING -j RETURN; iptables-nft -t raw -D PREROUTING -j RETURN
iptables-nft -t mangle -P FORWARD DROP
reset
tell mangle "$(iptables-nft -t mangle -S | tr '\n' ' ')"; nft delete table ip mangle
nft list ruleset > /tmp/after; diff /tmp/before /tmp/after && tell same yes`);
    expect(told, `${stdout}${stderr}`).toMatchObject({ rc1: '0', same: 'yes' });
    expect(told['mangle']).toContain('-P FORWARD DROP');
  });

  it('takes empty nft tables of iptables away with the rules, where nobody else uses them', async () => {
    const { told, stdout, stderr } = await inSandbox(`
iptables-nft -N KUBE-TEST; iptables-nft -t mangle -N KUBE-IPTABLES-HINT; iptables-nft -t nat -N KUBE-SEP-X
iptables-nft -t nat -A PREROUTING -p tcp --dport 1 -j RETURN
reset
tell tables "$(nft list tables | tr '\\n' ' ')"
tell rule "$(iptables-nft -t nat -S PREROUTING | tail -1)"`);
    expect(told, `${stdout}${stderr}`).toMatchObject({
      tables: 'table ip nat ',
      rule: '-A PREROUTING -p tcp -m tcp --dport 1 -j RETURN',
    });
  });

  it('removes port mappings of pods and leaves those of other programs that use the same plugins', async () => {
    const pod = 'name: \\"cbr0\\" id: \\"abc\\"';
    const other = 'name: \\"podman\\" id: \\"def\\"';
    const { told, stdout, stderr } = await inSandbox(`
for t in iptables-legacy; do
  $t -t nat -N CNI-HOSTPORT-DNAT; $t -t nat -N CNI-HOSTPORT-MASQ; $t -t nat -N CNI-DN-aaa; $t -t nat -N CNI-DN-bbb
  $t -t nat -A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
  $t -t nat -A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat ${pod}" -m multiport --dports 8080 -j CNI-DN-aaa
  $t -t nat -A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat ${other}" -m multiport --dports 9090 -j CNI-DN-bbb
  $t -t nat -A CNI-DN-aaa -p tcp --dport 8080 -j DNAT --to-destination 10.244.0.9:80
  $t -t nat -A CNI-DN-bbb -p tcp --dport 9090 -j DNAT --to-destination 10.88.0.9:80
done
reset
iptables-legacy-save -t nat > /tmp/s
tell pod "$(grep -c aaa /tmp/s)"; tell other "$(grep -c bbb /tmp/s)"; tell shared "$(grep -c 'PREROUTING.*CNI-HOSTPORT-DNAT' /tmp/s)"
iptables-legacy -t nat -F CNI-DN-bbb; iptables-legacy -t nat -D CNI-HOSTPORT-DNAT 1; iptables-legacy -t nat -X CNI-DN-bbb
iptables-legacy -t nat -N KUBE-X; reset
tell left "$(iptables-legacy-save -t nat | grep -c CNI)"`);
    expect(told, `${stdout}${stderr}`).toMatchObject({
      pod: '0',
      other: '3',
      shared: '1',
      left: '0',
      rc1: '0',
      rc2: '0',
    });
  });

  it.each([
    [
      'comes in through a link that would go',
      'ip addr add 10.9.7.1/24 dev cni0; server=10.9.7.1; client=10.9.7.9',
      'cni0',
    ],
    [
      'comes in through a port of a bridge that would go',
      'ip link set eth0 master cni0; server=10.9.0.2; client=10.9.0.9',
      'eth0',
    ],
    [
      'is let in by a chain that would go only',
      'iptables -P INPUT DROP; iptables -N cali-in; iptables -A cali-in -p tcp --dport 22 -j ACCEPT; iptables -I INPUT -j cali-in; server=10.9.0.2; client=10.9.0.9',
      'cali-in',
    ],
  ])('refuses, changing nothing, when the SSH session %s', async (_name, setUp, named) => {
    const { told, stderr } = await inSandbox(`${host}
ip link add cni0 type bridge; ip link set cni0 up
${setUp}
export -f bke
SSH_CONNECTION="$client 40000 $server 22" bash -c '(unset SSH_CONNECTION; bke reset --all --mount --yes >/tmp/out 2>&1); echo rc=$?'
cat /tmp/out >&2
grep -q 'BKE_RESET_REFUSED' /tmp/out && grep -q '${named}' /tmp/out && tell named yes
there link /sys/class/net/cni0; there record /var/lib/bke`);
    expect(told, stderr).toMatchObject({ rc: '7', named: 'yes', link: 'there', record: 'gone' });
  });

  it('goes on when another rule lets the SSH session in', async () => {
    const { told, stderr } = await inSandbox(`${host}
iptables -P INPUT DROP; iptables -N cali-in; iptables -A cali-in -p tcp --dport 22 -j ACCEPT; iptables -I INPUT -j cali-in
iptables -A INPUT -p tcp -m multiport --dports 20:30,80 -j ACCEPT
export SSH_CONNECTION="10.9.0.9 40000 10.9.0.2 22"
reset
tell input "$(iptables -S INPUT | tr '\\n' ';')"; tell chain "$(iptables -S | grep -c cali-in)"`);
    expect(told, stderr).toMatchObject({
      rc1: '0',
      chain: '0',
      input: '-P INPUT DROP;-A INPUT -p tcp -m multiport --dports 20:30,80 -j ACCEPT;',
    });
  });
});
