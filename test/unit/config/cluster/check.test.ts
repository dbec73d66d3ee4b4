import { describe, expect, it } from 'vitest';
import { clusterText, hostLines, problemsOf, warningsOf } from './cluster-file.ts';

const messages = (spec: string, hosts?: readonly string[]): string[] =>
  problemsOf(clusterText(spec, hosts)).map((line) => line.replace(/^c\.yaml:\d+:\d+: /, ''));
const host = (name: string, address: string, roles = 'worker', more = ''): string =>
  `{name: ${name}, address: "${address}", roles: [${roles}], ssh: {password: x}${more}}`;
const controlPlanes = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => host(`m${i + 1}`, `192.0.2.${i + 11}`, 'control-plane'));

describe('the same host twice', () => {
  it.each([
    [host('w1', '192.0.2.11'), '[1].address: 192.0.2.11 is also the address of m1 (line 7)'],
    [host('m1', '192.0.2.12'), '[1].name: another host has this name: m1 (line 7)'],
    [host('w1', '::ffff:192.0.2.11'), '[1].address: write 192.0.2.11 instead of ::ffff:192.0.2.11'],
    [
      host('w1', '192.0.2.12', 'worker', ', nodeIP: 192.0.2.11'),
      '[1].nodeIP: 192.0.2.11 is also the node address of m1 (line 7); give each host its own nodeIP',
    ],
    [
      host('w1', '192.0.2.12', 'worker', ', nodeIP: 192.0.2.12').replace('.12"', '.11"'),
      '[1].address: 192.0.2.11 is also the address of m1 (line 7)',
    ],
  ])('is refused with both places: %s', (line, message) => {
    expect(messages('', [hostLines.m1, line])).toEqual([`spec.hosts${message}`]);
    expect(problemsOf(clusterText('', [hostLines.m1, line]))[0]).toMatch(/^c\.yaml:8:\d+: /);
  });

  it('is the same also in capital letters, which no node can have anyway', () => {
    expect(problemsOf(clusterText('', [hostLines.m1, host('w1', '192.0.2.12'), host('W1', '192.0.2.13')]))).toEqual([
      'c.yaml:9:12: spec.hosts[2].name: "W1" cannot be the name of a node; write w1',
      'c.yaml:9:12: spec.hosts[2].name: another host has this name: w1 (line 8)',
    ]);
  });

  it('is the same in another form of its address', () => {
    const own = (index: number): string => `, nodeIP: 10.1.0.${index}`;
    const two = [host('w1', 'fd00::1', 'worker', own(1)), host('w2', 'FD00:0:0::0:1', 'worker', own(2))];
    expect(messages('', [hostLines.m1, ...two])).toEqual([
      'spec.hosts[2].address: FD00:0:0::0:1 is also the address of w1 (line 8)',
    ]);
  });

  it('may be behind one address with forwarded ports, but is asked for its own node address', () => {
    const forwarded = clusterText('', [
      hostLines.m1,
      hostLines.w1.replace('.12', '.11').replace('user: root', 'port: 2222'),
    ]);
    expect(problemsOf(forwarded)).toEqual([]);
    expect(warningsOf(forwarded).map(({ message }) => message)).toEqual([
      '192.0.2.11 is also the node address of m1 (line 7); give each host its own nodeIP',
    ]);
    expect(warningsOf(forwarded.replaceAll('ssh:', 'nodeIP: 10.0.0.1, ssh:').replace('10.0.0.1', '10.0.0.2'))).toEqual(
      [],
    );
  });

  it.each([
    ['10.0.0', 'address: "10.0.0" is no IP address'],
    ['host.example.com', 'address: "host.example.com" is no IP address'],
    ['127.0.0.1', 'address: 127.0.0.1 cannot be reached from other machines'],
    ['2001:db8::1', 'address: w1 needs nodeIP: nodes have IPv4 addresses here, and 2001:db8::1 is IPv6'],
  ])('has no address %s', (address, message) => {
    expect(messages('', [hostLines.m1, host('w1', address)])).toEqual([`spec.hosts[1].${message}`]);
  });
});

describe('control planes', () => {
  it.each([
    [[hostLines.w1], 'spec.hosts: no host has the role control-plane'],
    [
      controlPlanes(2),
      'spec.hosts: 2 hosts have the role control-plane, and it must be an odd number: 2 bear the loss of no more hosts than 1',
    ],
  ])('are an odd number', (hosts, message) => {
    expect(messages('  controlPlaneEndpoint: {host: 192.0.2.100}\n  loadBalancer: keepalived\n', hosts)).toEqual([
      message,
    ]);
  });

  it('alone are told to carry no workloads', () => {
    expect(warningsOf(clusterText('', [hostLines.m1])).map(({ message }) => message)).toEqual([
      'no host has the role worker: nothing but Kubernetes itself will run',
    ]);
  });
});

describe('the endpoint', () => {
  const one = [hostLines.m1, hostLines.w1];
  const endpoint = (at: string): string => `  controlPlaneEndpoint: {host: ${at}}\n`;
  it.each([
    ['', one],
    [endpoint('192.0.2.11'), one],
    ['  controlPlaneEndpoint: {port: 7443}\n', one],
    [endpoint('192.0.2.100'), one],
    [`${endpoint('192.0.2.100')}  loadBalancer: keepalived\n`, one],
    [`${endpoint('192.0.2.100')}  loadBalancer: keepalived\n`, controlPlanes(3)],
    [`${endpoint('api.example.com')}  loadBalancer: external\n`, controlPlanes(3)],
  ])('is accepted: %j', (spec, hosts) => {
    expect(messages(spec, hosts)).toEqual([]);
  });

  it.each([
    ['', controlPlanes(3), /^spec\.controlPlaneEndpoint: is needed with 3 control planes: .*keepalived.*external$/],
    [endpoint('192.0.2.100'), controlPlanes(3), /host: 192\.0\.2\.100 is no host of this cluster: say by loadBalancer/],
    [endpoint('192.0.2.12'), one, /host: 192\.0\.2\.12 is the address of w1, which is no control plane$/],
    [endpoint('192.0.2.11'), controlPlanes(3), /host: 192\.0\.2\.11 is m1 alone: with 3 control planes/],
    ['  loadBalancer: keepalived\n', one, /^spec\.loadBalancer: needs controlPlaneEndpoint\.host: its virtual IP$/],
    [
      `${endpoint('192.0.2.12')}  loadBalancer: keepalived\n`,
      one,
      /192\.0\.2\.12 is the address of w1: keepalived needs one that no machine has$/,
    ],
    [`${endpoint('api.example.com')}  loadBalancer: keepalived\n`, one, /must be an IPv4 address/],
    [`${endpoint('192.0.2.11')}  loadBalancer: external\n`, one, /is the address of the control plane m1/],
    [endpoint('-x'), one, /host: "-x" is neither an IP address nor a DNS name$/],
  ])('is refused: %j', (spec, hosts, message) => {
    expect(messages(spec, hosts)).toEqual([expect.stringMatching(message)]);
  });
});

describe('networks', () => {
  const network = (fields: string): string => `  network: {${fields}}\n`;
  const pods = 'podCIDR: 10.244.0.0/16';
  it.each([
    network(''),
    network('podCIDR: 10.244.0.0/16, serviceCIDR: 10.96.0.0/12, dnsDomain: cluster.local, cni: flannel'),
  ])('are accepted: %s', (spec) => {
    expect(messages(spec)).toEqual([]);
  });

  it.each([
    [
      network('podCIDR: 10.96.0.0/12, serviceCIDR: 10.96.0.0/12'),
      "network.serviceCIDR: 10.96.0.0/12 overlaps with the pods' 10.96.0.0/12",
    ],
    [network('podCIDR: 10.96.0.0/16'), "network.podCIDR: 10.96.0.0/16 overlaps with the services' 10.96.0.0/16"],
    [
      network(`${pods}, serviceCIDR: 10.244.128.0/17`),
      "network.serviceCIDR: 10.244.128.0/17 overlaps with the pods' 10.244.0.0/16",
    ],
    [network('podCIDR: 172.20.0.0/12'), 'network.podCIDR: write 172.16.0.0/12 instead of 172.20.0.0/12'],
    [network('podCIDR: 10.244.0.0'), 'network.podCIDR: 10.244.0.0 is no block of addresses like 10.96.0.0/16'],
    [network('podCIDR: 10.244.0.0/33'), 'network.podCIDR: 10.244.0.0/33 is no block of addresses like 10.96.0.0/16'],
    [
      network('podCIDR: "10.244.0.0/16,fd00:10:244::/48"'),
      'network.podCIDR: 10.244.0.0/16,fd00:10:244::/48 is more than one block, and one of IPv4 is supported here',
    ],
    [
      network('podCIDR: 10.244.0.0/26'),
      'network.podCIDR: 10.244.0.0/26 is too small: /24 or more, since every node takes 256 addresses of it',
    ],
    [
      network('podCIDR: 10.244.0.0/24'),
      'network.podCIDR: 10.244.0.0/24 has room for 1 node (each takes a /24), and there are 2 hosts',
    ],
    [network('cni: calicoo'), 'network.cni: must be one of flannel or none, but is the text "calicoo"'],
    [`${network(pods)}  ntp: [10.244.0.1]\n`, 'ntp[0]: 10.244.0.1 lies in the block of the pods, 10.244.0.0/16'],
    [
      '  controlPlaneEndpoint: {host: 10.96.0.10}\n  loadBalancer: external\n',
      'controlPlaneEndpoint.host: 10.96.0.10 lies in the block of the services, 10.96.0.0/16',
    ],
    [
      '  registry: {host: 10.96.5.5, port: 5000}\n',
      'registry.host: 10.96.5.5 lies in the block of the services, 10.96.0.0/16',
    ],
  ])('are refused: %s', (spec, message) => {
    expect(messages(spec)).toEqual([`spec.${message}`]);
  });

  it('have room for the nodes that there are', () => {
    const five = [hostLines.m1, ...[2, 3, 4, 5].map((index) => host(`w${index}`, `192.0.2.${index}`))];
    const has = (block: string): string[] => messages(network(`podCIDR: ${block}`), five);
    expect(has('10.244.0.0/22')).toEqual([
      'spec.network.podCIDR: 10.244.0.0/22 has room for 4 nodes (each takes a /24), and there are 5 hosts',
    ]);
    expect(has('10.244.0.0/21')).toEqual([]);
  });

  it('are compared as they are when defaults are filled in', () => {
    const services = '  network: {serviceCIDR: 10.250.7.0/24}\n';
    expect(messages(services)).toEqual([
      "spec.network.serviceCIDR: 10.250.7.0/24 overlaps with the pods' 10.250.0.0/16",
    ]);
    const onDefault = [hostLines.m1, host('w1', '10.250.3.4')];
    expect(messages('', onDefault)).toEqual([
      'spec.hosts[1].address: 10.250.3.4 of w1 lies in the block of the pods, 10.250.0.0/16',
    ]);
    // The endpoint that is left out is a host's.
    expect(messages('', [hostLines.m1.replace('192.0.2.11', '10.96.0.9'), hostLines.w1])).toEqual([
      'spec.hosts[0].address: 10.96.0.9 of m1 lies in the block of the services, 10.96.0.0/16',
    ]);
  });

  it.each([
    ['10.244.3.4', ['spec.hosts[1].address: 10.244.3.4 of w1 lies in the block of the pods, 10.244.0.0/16']],
    ['10.245.0.1', []],
    ['10.112.0.1', []],
  ])('are compared with the address %s of a host', (address, expected) => {
    const both = network(`${pods}, serviceCIDR: 10.96.0.0/12`);
    expect(messages(both, [hostLines.m1, host('w1', address)])).toEqual(expected);
  });
});

describe('logins', () => {
  const ssh = (fields: string): string[] => [
    hostLines.m1,
    `{name: w1, address: 192.0.2.12, roles: [worker], ssh: {${fields}}}`,
  ];
  const key = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  it.each([
    'password: x',
    'agent: true',
    'privateKeyFile: ~/.ssh/id, passphraseFile: ./p, sudo: {}, retain: false, port: 2222',
    `passwordFile: p, hostKeys: ["${key}"], bastion: {address: jump.example.com, user: j, bastion: {address: 10.1.1.1, password: y}}`,
  ])('are accepted: %s', (fields) => {
    expect(messages('', ssh(fields))).toEqual([]);
  });

  it.each([
    ['user: ops', ': w1 has no way to log in: give password, passwordFile, privateKeyFile or agent'],
    ['password: "", agent: false', ': w1 has no way to log in: give password, passwordFile, privateKeyFile or agent'],
    [
      'password: x, privateKeyFile: k',
      '.privateKeyFile: password and privateKeyFile exclude each other: give one of them',
    ],
    ['password: x, passphraseFile: k', '.passphraseFile: needs privateKeyFile beside it'],
    [
      'password: x, sudo: {password: a, passwordFile: b}',
      '.sudo.password: password and passwordFile exclude each other',
    ],
    ['password: x, hostKeys: [SHA256:abc]', /\.hostKeys\[0\]: is neither SHA256:… nor a public key; print the keys/],
    ['password: "x\\n"', '.password: has a line end: write it on one line, in quotes'],
    ['password: x, user: a b', '.user: is no name of an account'],
    ['password: x, port: 0', '.port: must be 1 to 65535'],
    [
      'password: x, bastion: {address: a, bastion: {address: b, bastion: {address: a}}}',
      '.bastion.bastion.bastion.address: a port 22 is its own bastion',
    ],
  ])('are refused: %s', (fields, message) => {
    const expected = typeof message === 'string' ? `spec.hosts[1].ssh${message}` : expect.stringMatching(message);
    expect(messages('', ssh(fields))).toEqual([expected]);
  });

  it('may be given once for all hosts', () => {
    expect(
      messages('  defaults: {ssh: {password: x}}\n', [
        hostLines.m1,
        '{name: w1, address: 192.0.2.12, roles: [worker]}',
      ]),
    ).toEqual([]);
  });
});

describe('the registry and add-ons', () => {
  it.each([
    [
      'registry: {host: 10.0.0.1:5000}',
      'registry.host: "10.0.0.1:5000" must be a DNS name or an IP address: write 5000 into the field port',
    ],
    [
      'registry: {host: "https://r.example.com"}',
      'registry.host: "https://r.example.com" must be a DNS name or an IP address, without scheme and path',
    ],
    ['registry: {host: r.example.com, username: a}', 'registry.username: needs passwordFile beside it'],
    [
      'registry: {rewrites: {docker.io: hub}}',
      "registry.rewrites: needs host: the site's own registry has no such setting",
    ],
    ['registry: {caFile: ca.pem}', "registry.caFile: needs host: the site's own registry has no such setting"],
    [
      'registry: {host: r.example.com, rewrites: {docker.io: /x}}',
      'registry.rewrites["docker.io"]: must be a path in the registry, such as mirror/hub',
    ],
    ['addons: [{name: a}, {name: a}]', 'addons[1].name: a is also the add-on of line 6'],
    ['addons: [{name: A}]', 'addons[0].name: "A" is no name of an add-on: at most 53 lower-case letters, digits and -'],
    ['settings: {kublet: {}}', 'settings.kublet: there is no such field; did you mean kubelet?'],
  ])('are refused: %s', (spec, message) => {
    expect(messages(`  ${spec}\n`)).toEqual([`spec.${message}`]);
  });
});

describe('a file with mistakes of form', () => {
  it('is checked for everything else all the same', () => {
    expect(
      messages('  network: {podCIDR: 10.96.0.0/16, cnii: x}\n  management: maybe\n', [
        hostLines.m1.replace('root', '5').replace('{user', '{usr: a, user'),
        host('m1', '192.0.2.11', 'worker', ', x: y'),
      ]),
    ).toEqual([
      "spec.network.podCIDR: 10.96.0.0/16 overlaps with the services' 10.96.0.0/16",
      'spec.network.cnii: there is no such field; did you mean cni?',
      'spec.management: must be true or false, but is the text "maybe"',
      'spec.hosts[0].ssh.usr: there is no such field; did you mean user?',
      'spec.hosts[1].name: another host has this name: m1 (line 9)',
      'spec.hosts[1].address: 192.0.2.11 is also the address of m1 (line 9)',
      'spec.hosts[1].x: there is no such field',
    ]);
  });
});

describe('the port of the endpoint', () => {
  const endpoint = (port: number, more = ''): string =>
    `  controlPlaneEndpoint: {host: 192.0.2.11, port: ${port}}\n${more}`;

  it.each([
    [22, '22 is taken on the host itself (SSH): choose another one, such as 6443'],
    [2379, '2379 is taken on the host itself (etcd, clients): choose another one, such as 6443'],
    [2380, '2380 is taken on the host itself (etcd, members): choose another one, such as 6443'],
    [2381, '2381 is taken on the host itself (etcd, metrics): choose another one, such as 6443'],
    [10_248, '10248 is taken on the host itself (kubelet, health): choose another one, such as 6443'],
    [10_250, '10250 is taken on the host itself (kubelet): choose another one, such as 6443'],
    [10_256, '10256 is taken on the host itself (kube-proxy, health): choose another one, such as 6443'],
    [10_259, '10259 is taken on the host itself (kube-scheduler): choose another one, such as 6443'],
    [30_000, '30000 lies among 30000-32767, which Services of type NodePort take: choose another one, such as 6443'],
    [32_767, '32767 lies among 30000-32767, which Services of type NodePort take: choose another one, such as 6443'],
  ])('is none that a node itself uses: %i', (port, message) => {
    expect(problemsOf(clusterText(endpoint(port)))).toEqual([
      `c.yaml:6:50: spec.controlPlaneEndpoint.port: ${message}`,
    ]);
  });

  it('is none that SSH of a control plane has', () => {
    const hosts = [hostLines.m1.replace('user: root', 'port: 2222'), hostLines.w1.replace('user: root', 'port: 2223')];
    expect(messages(endpoint(2222), hosts)).toEqual([
      'spec.controlPlaneEndpoint.port: 2222 is taken on the host itself (SSH): choose another one, such as 6443',
    ]);
    expect(messages(endpoint(2223), hosts)).toEqual([]);
    expect(messages(endpoint(2222, '  defaults: {ssh: {port: 2222}}\n'))).toHaveLength(1);
  });

  it.each([443, 6443, 7443, 29_999, 32_768])('may be any other: %i', (port) => {
    expect(messages(endpoint(port))).toEqual([]);
  });

  it('of a load balancer elsewhere is not that of a node', () => {
    const external = (host: string): string =>
      `  controlPlaneEndpoint: {host: ${host}, port: 10250}\n  loadBalancer: external\n`;
    expect(messages(external('192.0.2.100'))).toEqual([]);
    expect(messages(external('192.0.2.12'))).toEqual([
      'spec.controlPlaneEndpoint.port: 10250 is taken on the host itself (kubelet): choose another one',
    ]);
  });
});
