// Names that are Kubernetes' and names that only look like it, as other people name theirs.
import { describe, expect, it } from 'vitest';
import { isKubernetesSet, parseVirtualServers } from '../../../../src/host/state/ipsets.ts';
import { isKubernetesChain } from '../../../../src/host/state/iptables.ts';
import { foreignPorts, type Link, linkMaker, parseLinks } from '../../../../src/host/state/links.ts';
import { isPodNamespace } from '../../../../src/host/state/network-namespaces.ts';
import { idleChains, isKubernetesTable, parseNftTables } from '../../../../src/host/state/nftables.ts';
import { policyRuleMaker, routeMaker, parseRoutes } from '../../../../src/host/state/routes.ts';

const link = (name: string, kind: string, master?: string): Link => ({
  index: 1,
  name,
  kind,
  ...(master === undefined ? {} : { master }),
});

describe('links', () => {
  it.each([
    ['cni0', 'bridge'],
    ['flannel.1', 'vxlan'],
    ['flannel.1', 'dummy'],
    ['flannel-v6.1', 'vxlan'],
    ['flannel-wg', 'wireguard'],
    ['vxlan.calico', 'vxlan'],
    ['cali0123456789a', 'veth'],
    ['cilium_vxlan', 'vxlan'],
    ['cilium_host', 'veth'],
    ['lxc0123456789ab', 'veth'],
    ['lxc_health', 'veth'],
    ['kube-ipvs0', 'dummy'],
    ['nodelocaldns', 'dummy'],
    ['kube-bridge', 'bridge'],
  ])("%s of kind %s is Kubernetes'", (name, kind) => {
    expect(linkMaker(link(name, kind), [])).toBeDefined();
  });

  it.each([
    ['cni0', 'veth'],
    ['cni01', 'bridge'],
    ['flannel.1', 'bridge'],
    ['flannel.x', 'vxlan'],
    ['flannel-lab', 'vxlan'],
    ['vxlan.calico', 'bridge'],
    ['cali-mine', 'veth'],
    ['cali0123456789a', 'bridge'],
    ['lxcbr0', 'bridge'],
    ['lxc1', 'veth'],
    ['docker0', 'bridge'],
    ['kube-ipvs0', ''],
    ['tunl0', 'ipip'],
    ['eth0', ''],
    ['veth1234', 'veth'],
  ])('%s of kind %s is not', (name, kind) => {
    expect(linkMaker(link(name, kind), [])).toBeUndefined();
  });

  it("takes a veth for a pod's by the bridge it is a port of", () => {
    const all = [link('cni0', 'bridge'), link('docker0', 'bridge')];
    expect(linkMaker(link('veth1', 'veth', 'cni0'), all)).toBe('a pod on cni0');
    expect(linkMaker(link('veth2', 'veth', 'docker0'), all)).toBeUndefined();
  });

  it('sees hardware that somebody made a port of a pod bridge', () => {
    const all = [link('cni0', 'bridge'), link('eth1', '', 'cni0'), link('veth1', 'veth', 'cni0')];
    expect(foreignPorts(link('cni0', 'bridge'), all).map(({ name }) => name)).toEqual(['eth1']);
  });

  it('reads what ip prints, nothing included', () => {
    const json =
      '[{"ifindex":2,"ifname":"cni0","linkinfo":{"info_kind":"bridge"}},{"ifindex":3,"ifname":"eth0","master":"cni0"},{}]';
    expect(parseLinks(json)).toEqual([
      { index: 2, name: 'cni0', kind: 'bridge' },
      { index: 3, name: 'eth0', kind: '', master: 'cni0' },
    ]);
    expect([parseLinks(''), parseLinks(undefined)]).toEqual([[], []]);
  });
});

describe('chains, sets, tables and namespaces', () => {
  it.each(['KUBE-SVC-X', 'cali-INPUT', 'CILIUM_FORWARD', 'OLD_CILIUM_INPUT', 'FLANNEL-FWD'])(
    "chain %s is Kubernetes'",
    (name) => {
      expect(isKubernetesChain(name)).toBe(true);
    },
  );

  it.each(['MY-KUBE-RULES', 'kube-rules', 'CALI-X', 'CNI-DN-1', 'DOCKER', 'INPUT', 'xcali-'])(
    'chain %s is not',
    (name) => {
      expect(isKubernetesChain(name)).toBe(false);
    },
  );

  it.each([
    ['KUBE-CLUSTER-IP', true],
    ['KUBE-6-CLUSTER-IP', true],
    ['inet6:KUBE-SRC-X', true],
    ['cali40all-ipam-pools', true],
    ['cali60s:x', true],
    ['kube-router-local-ips', true],
    ['MY-KUBE-SET', false],
    ['calimero', false],
  ])('ipset %s: %s', (name, own) => {
    expect(isKubernetesSet(name)).toBe(own);
  });

  it('knows nft tables by family and name', () => {
    const tables = parseNftTables(
      '{"nftables":[{"metainfo":{}},{"table":{"family":"ip","name":"kube-proxy","handle":3}},{"table":{"family":"bridge","name":"kube-proxy"}},{"table":{"family":"inet","name":"filter"}}]}',
    );
    expect(tables.map(isKubernetesTable)).toEqual([true, false, false]);
  });

  it('takes an nft table for idle only when no rule, set, chain or policy of it does anything', () => {
    const table = (...entries: object[]): string =>
      JSON.stringify({ nftables: [{ metainfo: {} }, { table: { family: 'ip', name: 'nat' } }, ...entries] });
    const base = { chain: { name: 'PREROUTING', hook: 'prerouting', policy: 'accept' } };
    expect(idleChains(table())).toEqual([]);
    expect(idleChains(table(base))).toEqual(['PREROUTING']);
    expect(idleChains(table({ chain: { ...base.chain, policy: 'drop' } }))).toBeUndefined();
    expect(idleChains(table(base, { chain: { name: 'mine' } }))).toBeUndefined();
    expect(idleChains(table(base, { rule: { chain: 'PREROUTING' } }))).toBeUndefined();
    expect(idleChains(table(base, { set: { name: 's' } }))).toBeUndefined();
  });

  it("takes only names that begin with cni- for pods' namespaces", () => {
    expect(['cni-1', 'cni-2e0f', 'xcni-1', 'netns-1', 'mine', 'cni'].map(isPodNamespace)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('routes and virtual servers', () => {
  it('takes routes of Calico and Cilium only where something else of them was found, and never the default route', () => {
    const [bird, fallback, plain] = parseRoutes(
      '[{"dst":"10.244.1.0/26","gateway":"10.0.0.2","dev":"eth0","protocol":"bird"},{"dst":"default","gateway":"10.0.0.1","dev":"eth0","protocol":"bird"},{"dst":"10.1.0.0/16","dev":"eth0","protocol":"static"}]',
      4,
    );
    if (bird === undefined || fallback === undefined || plain === undefined) throw new Error('three routes');
    const found = { calico: true, cilium: false };
    expect([routeMaker(bird, found), routeMaker(fallback, found), routeMaker(plain, found)]).toEqual([
      'Calico',
      undefined,
      undefined,
    ]);
    expect(routeMaker(bird, { calico: false, cilium: true })).toBeUndefined();
    expect(routeMaker({ ...plain, table: '2004' }, { calico: false, cilium: true })).toBe('Cilium');
    expect(policyRuleMaker({ family: 4, priority: 9, table: '2004' }, { cilium: true })).toBe('Cilium');
    expect(policyRuleMaker({ family: 4, priority: 9, table: 'main' }, { cilium: true })).toBeUndefined();
  });

  it('reads what ipvsadm saves', () => {
    expect(
      parseVirtualServers(
        '-A -t 10.96.0.1:443 -s rr\n-a -t 10.96.0.1:443 -r 1.2.3.4:6443 -m -w 1\n-A -u [fd00::a]:53 -s rr\n',
      ),
    ).toEqual([
      { option: '-t', address: '10.96.0.1', endpoint: '10.96.0.1:443' },
      { option: '-u', address: 'fd00::a', endpoint: '[fd00::a]:53' },
    ]);
  });
});
