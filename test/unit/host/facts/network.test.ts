// What the probe prints of interfaces, addresses and routes, as facts.
import { describe, expect, test } from 'vitest';
import { facts } from './probed-facts.ts';

describe('network', () => {
  test('listeners of ss, with and without owner, every way it writes an address', () => {
    const found = facts(
      'socket:Netid State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess',
      'socket:udp   UNCONN 0      0      127.0.0.53%lo:53         0.0.0.0:*     users:(("systemd-resolve",pid=512,fd=13))',
      'socket:tcp   LISTEN 0      128          0.0.0.0:22         0.0.0.0:*     users:(("sshd",pid=700,fd=3),("systemd",pid=1,fd=9))',
      'socket:tcp   LISTEN 0      128             [::]:22            [::]:*',
      'socket:tcp   LISTEN 0      128                *:6443             *:*    users:(("kube-apiserver",pid=900,fd=3))',
      'socket:tcp   LISTEN 0      50               :::10250            :::*',
    );
    expect(found.listeners).toEqual([
      { protocol: 'udp', address: '127.0.0.53', port: 53, pid: 512, program: 'systemd-resolve' },
      { protocol: 'tcp', address: '0.0.0.0', port: 22, pid: 700, program: 'sshd' },
      { protocol: 'tcp', address: '::', port: 22 },
      { protocol: 'tcp', address: '*', port: 6443, pid: 900, program: 'kube-apiserver' },
      { protocol: 'tcp', address: '::', port: 10250 },
    ]);
  });

  test('a host without ss and ip', () => {
    const found = facts(
      'procSocket:tcp:   0: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1',
      'procSocket:tcp:   1: 0100007F:0016 0200007F:D431 01 0 0 0',
      'procSocket:tcp6:   0: 00000000000000000000000000000000:192B 00000000000000000000000000000000:0000 0A 0 0 0',
      'procRoute:eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0',
      'procRoute:eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    );
    expect(found.listeners).toEqual([
      { protocol: 'tcp', address: '127.0.0.1', port: 22 },
      { protocol: 'tcp', address: '::', port: 6443 },
    ]);
    expect(found.routes).toEqual([
      { destination: 'default', via: '192.0.2.1', link: 'eth0', metric: 100 },
      { destination: '192.0.2.0/24', link: 'eth0', metric: 0 },
    ]);
  });

  test('addresses, links and routes of ip', () => {
    const found = facts(
      'address:4: eth0    inet 192.0.2.2/24 brd 192.0.2.255 scope global eth0\\       valid_lft forever preferred_lft forever',
      'address:4: eth0    inet6 fe80::fc/64 scope link \\ x',
      'address:5: tun0    inet 10.8.0.2 peer 10.8.0.1/32 scope global tun0',
      'link:4: eth0@if9: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc noqueue state UP mode DEFAULT group default qlen 1000\\    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff',
      'link:5: tun0: <POINTOPOINT> mtu 1500 qdisc noop state DOWN\\ link/none',
      'route:default via 192.0.2.1 dev eth0 proto dhcp metric 100 ',
      'route:10.244.0.0/16 dev cni0 scope link ',
      'route:blackhole 10.9.0.0/16',
      'route:::1 dev lo metric 256',
    );
    expect(found.addresses).toEqual([
      { link: 'eth0', family: 'inet', address: '192.0.2.2', prefix: 24, scope: 'global' },
      { link: 'eth0', family: 'inet6', address: 'fe80::fc', prefix: 64, scope: 'link' },
      { link: 'tun0', family: 'inet', address: '10.8.0.2', prefix: 32, scope: 'global' },
    ]);
    expect(found.links).toEqual([
      { name: 'eth0', up: true, mtu: 1400, mac: '02:fc:00:00:00:01' },
      { name: 'tun0', up: false, mtu: 1500 },
    ]);
    expect(found.routes).toEqual([
      { destination: 'default', via: '192.0.2.1', link: 'eth0', metric: 100 },
      { destination: '10.244.0.0/16', link: 'cni0' },
      { destination: '::1', link: 'lo', metric: 256 },
    ]);
  });

  test('resolvers: local stub, empty, missing', () => {
    expect(
      facts(
        'resolv:# comment',
        'resolv:nameserver 127.0.0.53 # stub',
        'resolv:search a.example b.example',
        'resolvFile:/run/systemd/resolve/stub-resolv.conf',
        'resolvUpstream:/run/systemd/resolve/resolv.conf',
        'resolvUpstreamLine:# of the links',
        'resolvUpstreamLine:nameserver 10.0.0.1',
      ).resolver,
    ).toEqual({
      nameservers: ['127.0.0.53'],
      search: ['a.example', 'b.example'],
      file: '/run/systemd/resolve/stub-resolv.conf',
      upstreamFile: '/run/systemd/resolve/resolv.conf',
      upstreamNameservers: ['10.0.0.1'],
    });
    expect(facts('resolvFile:/run/gone/resolv.conf').resolver).toEqual({
      nameservers: [],
      search: [],
      upstreamNameservers: [],
    });
  });
});
