import { describe, expect, it } from 'vitest';
import { kubeletKernelValues, kubeProxyKernelValues } from '../../../../src/tasks/node/kernel-values.ts';

const machine = { cpus: 4, buckets: 262_144 };
const conntrack = (name: string): string => `net.netfilter.nf_conntrack_${name}`;

describe('what kubelet sets', () => {
  it('is what its sources list, and nothing where it is told to fail instead', () => {
    expect(kubeletKernelValues({})).toMatchObject({ 'kernel.panic': '10', 'vm.overcommit_memory': '1' });
    expect(kubeletKernelValues({ protectKernelDefaults: true })).toEqual({});
  });
});

describe('what kube-proxy sets', () => {
  it('by default', () => {
    expect(kubeProxyKernelValues({}, machine)).toEqual({
      [conntrack('max')]: '131072',
      [conntrack('tcp_timeout_established')]: '86400',
      [conntrack('tcp_timeout_close_wait')]: '3600',
      'net.ipv4.conf.all.route_localnet': '1',
    });
  });

  it.each([
    [8, '262144'],
    [2, '131072'],
    [64, '1048576'],
  ])('limits connections by the number of processors: %i', (cpus, max) => {
    expect(kubeProxyKernelValues({}, { ...machine, cpus })[conntrack('max')]).toBe(max);
  });

  it('makes the table larger where it is too small for them', () => {
    expect(kubeProxyKernelValues({}, { cpus: 8, buckets: 16_384 })[conntrack('buckets')]).toBe('65536');
  });

  it('follows its settings', () => {
    const settings = {
      mode: 'nftables',
      conntrack: {
        maxPerCore: 0,
        min: 0,
        tcpEstablishedTimeout: '1h30m',
        tcpCloseWaitTimeout: '0s',
        udpTimeout: '1m0s',
        tcpBeLiberal: true,
      },
    };
    expect(kubeProxyKernelValues(settings, machine)).toEqual({
      [conntrack('tcp_timeout_established')]: '5400',
      [conntrack('udp_timeout')]: '60',
      [conntrack('tcp_be_liberal')]: '1',
    });
  });

  it.each([
    [{ iptables: { localhostNodePorts: false } }, false],
    [{ nodePortAddresses: ['10.0.0.0/8'] }, false],
    [{ nodePortAddresses: ['10.0.0.0/8', '127.0.0.0/8'] }, true],
    [{ mode: 'iptables' }, true],
  ])('routes from loopback only where node ports answer there (%#)', (settings, opens) => {
    expect('net.ipv4.conf.all.route_localnet' in kubeProxyKernelValues(settings, machine)).toBe(opens);
  });
});
