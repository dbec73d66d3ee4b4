import { describe, expect, it } from 'vitest';
import { clusterText, configOf, hostLines, problemsOf, warningsOf } from './cluster-file.ts';

const withHost = (fields: string): string =>
  clusterText('', [hostLines.m1, `{name: w1, address: 192.0.2.12, roles: [worker], ssh: {password: x}, ${fields}}`]);
const messages = (text: string): string[] => problemsOf(text).map((line) => line.replace(/^c\.yaml:\d+:\d+: /, ''));

describe('a cluster.yaml', () => {
  it('that is right has no problems', () => {
    expect(problemsOf(clusterText(''))).toEqual([]);
    expect(warningsOf(clusterText(''))).toEqual([]);
  });

  it('takes an endpoint that no host has for a load balancer, where there is one control plane', () => {
    const text = clusterText(
      '  controlPlaneEndpoint: {host: 192.0.2.10, port: 6443}\n  network: {podCIDR: 10.244.0.0/16, serviceCIDR: 10.96.0.0/12}\n',
    );
    expect([problemsOf(text), warningsOf(text)]).toEqual([[], []]);
    expect(configOf(text).loadBalancer).toBe('external');
    expect(configOf(clusterText('')).loadBalancer).toBeUndefined();
  });

  it('names line, column and nearest field of what it does not know, at every level', () => {
    const text = clusterText('  netwrk: {}\n  network: {podCidr: 10.1.0.0/16}\n', [
      '{name: m1, adress: 192.0.2.11, roles: [control-plane], ssh: {pasword: x}}',
    ]).replace('kubernetesVersion', 'kuberneteVersion');
    expect(problemsOf(text)).toEqual([
      'c.yaml:5:3: spec.kubernetesVersion: is missing',
      'c.yaml:5:3: spec.kuberneteVersion: there is no such field; did you mean kubernetesVersion?',
      'c.yaml:6:3: spec.netwrk: there is no such field; did you mean network?',
      'c.yaml:7:13: spec.network.podCidr: there is no such field; did you mean podCIDR?',
      'c.yaml:9:5: spec.hosts[0].address: is missing',
      'c.yaml:9:16: spec.hosts[0].adress: there is no such field; did you mean address?',
      expect.stringMatching(/^c\.yaml:9:\d+: spec\.hosts\[0\]\.ssh: m1 has no way to log in: /),
      'c.yaml:9:66: spec.hosts[0].ssh.pasword: there is no such field; did you mean password?',
    ]);
  });

  it.each([
    ['an empty file', '', 'YAML: the file is empty'],
    ['comments only', '# nothing\n', 'YAML: the file is empty'],
    ['one word', 'name:n1\n', 'file: must be a mapping, but is text; put a space after the colon'],
    ['a list', '- a\n', 'file: must be a mapping, but is a list'],
    ['null', 'null\n', 'file: must be a mapping, but is empty'],
    ['hosts: null', clusterText('').replace(/hosts:[^]*/, 'hosts:\n'), 'spec.hosts: must be a list, but is empty'],
    ['hosts: []', clusterText('').replace(/hosts:[^]*/, 'hosts: []\n'), 'spec.hosts: must not be empty'],
    ['hosts: {}', clusterText('').replace(/hosts:[^]*/, 'hosts: {}\n'), 'spec.hosts: must be a list, but is a mapping'],
    [
      'a role that is a mapping',
      withHost('').replace('[worker]', '[{worker: true}]'),
      'spec.hosts[1].roles[0]: must be one of control-plane or worker, but is a mapping',
    ],
    ['no role', withHost('').replace('[worker]', '[]'), 'spec.hosts[1].roles: must not be empty'],
    [
      'spec below metadata',
      'apiVersion: bke.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: a\n  spec: {}\n',
      'spec: is missing',
    ],
    [
      'a newer version',
      clusterText('').replace('v1alpha1', 'v1'),
      'apiVersion: "bke.io/v1" is not known to this bke, which reads bke.io/v1alpha1: it takes a newer bke',
    ],
    [
      'a key that is there twice',
      clusterText('  management: true\n  management: true\n'),
      'YAML: this is no valid YAML: Map keys must be unique',
    ],
    [
      'two documents',
      `${clusterText('')}---\n${clusterText('')}`,
      'YAML: a second document begins here; the file must have only one',
    ],
    ['__proto__', clusterText('  __proto__: {}\n'), 'YAML: there is no field with this name'],
  ])('is refused in one sentence: %s', (_name, text, message) => {
    expect(messages(text)).toContain(message);
  });

  it.each([
    ['a tab', '  a: 1\n\tb: 2\n  c:\n    - d: 1\n', '7:1: YAML: this is no valid YAML: Tabs are not allowed'],
    [
      'a value above a list',
      '  hosts: 3\n    - a: 1\n      b: 2\n',
      '6:10: YAML: this is no valid YAML: A value stands',
    ],
  ])('tells the first fault where the others follow from it: %s', (_name, text, first) => {
    const problems = problemsOf(`apiVersion: bke.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: a\nspec:\n${text}`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`c.yaml:${first}`);
    expect(problems[0]).toMatch(/ \(\d more faults? below that may come from it\)$/);
  });

  it('tells every fault that stands alone, and those before one that others follow from', () => {
    const faults = problemsOf('a: @a\nb: !b x\nc: 1\n\td: 2\ne: @e\n');
    expect(faults.map((fault) => fault.split(': ')[0])).toEqual(['c.yaml:1:4', 'c.yaml:2:4', 'c.yaml:4:1']);
  });

  it('may end lines as Windows does, begin with a byte order mark and end with a separator', () => {
    expect(problemsOf(`\uFEFF${clusterText('').replaceAll('\n', '\r\n')}---\r\n`)).toEqual([]);
  });

  it('tells a missing space after a colon as one problem', () => {
    expect(
      problemsOf(
        clusterText('', [hostLines.m1, '{name: w1, address:192.0.2.12, roles: [worker], ssh: {password: x}}']),
      ),
    ).toEqual([
      'c.yaml:8:16: spec.hosts[1]["address:192.0.2.12"]: there is no such field; put a space after the colon',
    ]);
  });
});

describe('what is written', () => {
  it.each([
    ['1.36.3', 'v1.36.3'],
    ['v1.37.2', 'v1.37.2'],
    ['"v1.34.0"', 'v1.34.0'],
  ])('kubernetesVersion: %s is %s', (written, version) => {
    expect(configOf(clusterText(`  kubernetesVersion: ${written}\n`)).kubernetesVersion).toBe(version);
  });

  it.each([
    ['1.30', 'v1.30 is not supported: this bke makes clusters of v1.34 to v1.37'],
    ['1.10', 'v1.10 is not supported: this bke makes clusters of v1.34 to v1.37'],
    ['1.20.0', 'v1.20.0 is not supported: this bke makes clusters of v1.34 to v1.37'],
    ['v1.30', 'v1.30 is not supported: this bke makes clusters of v1.34 to v1.37'],
    ['" v1.30.2 "', 'must be a version such as v1.36.3, but is " v1.30.2 "; write v1.30.2'],
    ['V1.30.2', 'must be a version such as v1.36.3, but is "V1.30.2"; write v1.30.2'],
    [
      'v1.30.2+k3s1',
      'must be a version such as v1.36.3, but is "v1.30.2+k3s1"; only releases of Kubernetes itself are taken, such as v1.30.2',
    ],
    ['1.36', 'must be a version such as v1.36.3, but is "1.36"; the patch version is missing, as in v1.36.0'],
    ['v1.33.9', 'v1.33.9 is not supported: this bke makes clusters of v1.34 to v1.37'],
    ['v1.38.0', 'v1.38.0 is not supported: this bke makes clusters of v1.34 to v1.37'],
    ['v2.36.0', 'v2.36.0 is not supported: this bke makes clusters of v1.34 to v1.37'],
    ['" v1.36.2 "', 'must be a version such as v1.36.3, but is " v1.36.2 "; write v1.36.2'],
    ['V1.36.2', 'must be a version such as v1.36.3, but is "V1.36.2"; write v1.36.2'],
    [
      'v1.36.2+k3s1',
      'must be a version such as v1.36.3, but is "v1.36.2+k3s1"; only releases of Kubernetes itself are taken, such as v1.36.2',
    ],
    ['v1.36.02', 'write v1.36.2 instead of "v1.36.02"'],
    ['latest', 'must be a version such as v1.36.3, but is "latest"'],
  ])('kubernetesVersion: %s is refused', (written, message) => {
    expect(messages(clusterText(`  kubernetesVersion: ${written}\n`))).toEqual([`spec.kubernetesVersion: ${message}`]);
  });

  it('reaches text fields letter by letter', () => {
    const { hosts, addons, settings } = configOf(
      clusterText(
        '  addons: [{name: a, version: 1.20, values: {a: 85, x: 0.5, y: "1", e: 1e3, o: yes}}]\n  settings: {kubelet: {a: 85, x: 0.5, y: "1", e: 1e3, o: yes}}\n',
        [
          '{name: on, address: 192.0.2.11, roles: [control-plane], labels: {tier: 1, gpu: true, n: 0123}, ssh: {password: 0123}}',
          '{name: no, address: 192.0.2.12, roles: [worker], ssh: {password: 1e3}}',
          '{name: 1e3, address: 192.0.2.13, roles: [worker], ssh: {password: true}}',
        ],
      ),
    );
    expect(hosts.map(({ name, ssh }) => [name, ssh.password])).toEqual([
      ['on', '0123'],
      ['no', '1e3'],
      ['1e3', 'true'],
    ]);
    expect(hosts[0]?.labels).toEqual({ tier: '1', gpu: 'true', n: '0123' });
    expect(addons).toEqual([{ name: 'a', version: '1.20', values: { a: 85, x: 0.5, y: '1', e: 1000, o: 'yes' } }]);
    expect(settings.kubelet).toEqual({ a: 85, x: 0.5, y: '1', e: 1000, o: 'yes' });
  });

  it('is refused where a number would lose something on its way', () => {
    expect(
      messages(clusterText('  addons: [{name: a, values: {tag: 1.30, id: 12345678901234567890, i: .inf}}]\n')),
    ).toEqual([
      'spec.addons[0].values.tag: 1.30 would be handed on as 1.3: write "1.30" if it is a text such as a version, else 1.3',
      'spec.addons[0].values.id: 12345678901234567890 is too large to be kept exactly; put it in quotes if it is a text',
      'spec.addons[0].values.i: .inf is no number that can be handed on',
    ]);
  });

  it('is told where a number may have been meant as an octal one', () => {
    const text = clusterText('  settings: {kubelet: {z: 0644}}\n');
    expect(problemsOf(text)).toEqual([]);
    expect(warningsOf(text)).toEqual([
      {
        at: 'c.yaml:6:27',
        field: 'spec.settings.kubelet.z',
        message: '0644 is the number 644; write "0644" for a text, 0o644 for an octal number',
      },
    ]);
  });

  const secrets = ['ssh.password', 'ssh.sudo.password', 'ssh.bastion.password', 'ssh.bastion.bastion.password'];
  it.each(
    secrets.flatMap((field) => [
      [field, '!abc', 'YAML: this is no valid YAML: Unresolved tag (text that begins with ! needs quotes)'],
      [
        field,
        '&abc',
        'FIELD: must be text, but is empty (a text that begins with a special letter, such as &, needs quotes)',
      ],
      [field, '*abc', 'FIELD: this is no valid YAML: Unresolved alias (text that begins with * needs quotes)'],
      [
        field,
        '@abc',
        'YAML: this is no valid YAML: Plain value cannot start with reserved character @ (such a text needs quotes)',
      ],
      [
        field,
        '%abc',
        'YAML: this is no valid YAML: Plain value cannot start with directive indicator character % (such a text needs quotes)',
      ],
      [
        field,
        'abc #def',
        'FIELD: a comment follows it on the line: put the password in quotes if # belongs to it, else the comment on a line of its own',
      ],
    ]),
  )('of %s is never lost: %s', (field, written, message) => {
    const parts = field.split('.');
    const lines = parts.map(
      (name, depth) => `${'  '.repeat(depth)}${name}:${depth === parts.length - 1 ? ` ${written}` : ''}`,
    );
    for (const [at, top] of [
      [
        'spec.hosts[0]',
        (block: string) =>
          clusterText('', [
            `name: m1\n    address: 192.0.2.11\n    roles: [control-plane]\n${block.replaceAll(/^/gm, '    ')}\n`,
          ]),
      ],
      ['spec.defaults', (block: string) => clusterText(`  defaults:\n${block.replaceAll(/^/gm, '    ')}\n`)],
    ] as const) {
      const withLogin =
        field === 'ssh.password' ? lines.join('\n') : lines.join('\n').replace('ssh:', 'ssh:\n  agent: true');
      const withAddress = withLogin.replaceAll(
        /^( *)bastion:$/gm,
        (line, indent: string) => `${line}\n${indent}  address: b${indent.length}`,
      );
      expect(messages(top(withAddress))).toEqual([message.replace('FIELD', `${at}.${field}`)]);
    }
  });

  it('of a password may be anything in quotes', () => {
    const password = 'a\'b"c$d`e\\f!g(h) i#j&k ü';
    const double = clusterText('', [hostLines.m1.replace('"x"', JSON.stringify(password))]);
    const single = clusterText('', [hostLines.m1.replace('"x"', `'${password.replaceAll("'", "''")}'`)]);
    expect([double, single].map((text) => configOf(text).hosts[0]?.ssh.password)).toEqual([password, password]);
    const dash = clusterText('', [hostLines.m1.replace('"x"', '-rf')]);
    expect(configOf(dash).hosts[0]?.ssh.password).toBe('-rf');
  });
});

describe('a name of a host', () => {
  it.each([
    ['Node_01', 'node-01'],
    ['NODE1', 'node1'],
    ['localhost', 'host-1'],
    ['a.', 'a'],
    ['"w[1:3]"', 'w-1-3'],
    ['12', 'host-12'],
    ['12345', 'host-12345'],
    ['-a', 'a'],
    ['1.30', 'host-1.30'],
    ['x'.repeat(64), 'x'.repeat(63)],
  ])('%s is refused, and %s shown instead', (name, better) => {
    const [message, ...more] = messages(clusterText('', [hostLines.m1.replace('m1', name)]));
    expect(message).toMatch(/^spec\.hosts\[0\]\.name: .* cannot be the name of a node; write /);
    expect(message).toContain(`write ${better}`);
    expect(more).toEqual([]);
  });
});

describe('labels and taints', () => {
  it.each([
    'labels: {rack: a}',
    'labels: {example.com/rack: "", topology.kubernetes.io/zone: a, node.kubernetes.io/x: y, a.kubelet.kubernetes.io/x: y}',
    'taints: [{key: example.com/gpu, value: "true", effect: NoSchedule}, {key: a, effect: NoExecute}]',
  ])('are taken: %s', (fields) => {
    expect(problemsOf(withHost(fields))).toEqual([]);
  });

  it.each([
    ['labels: {a/b/c: x}', 'labels["a/b/c"]: "a/b/c" has more than one /'],
    ['labels: {A.b/c: x}', 'labels["A.b/c"]: the part of "A.b/c" before the / is no DNS name'],
    [
      'labels: {-a: x}',
      'labels.-a: the name in "-a" must have 1 to 63 letters, digits and - _ . and begin and end with a letter or digit',
    ],
    [
      'labels: {a: x y}',
      'labels.a: "x y" is no label value: at most 63 letters, digits and - _ . that begin and end with a letter or digit',
    ],
    [
      'labels: {kubernetes.io/x: y}',
      'labels["kubernetes.io/x"]: kubernetes.io/x is reserved: a node may not give itself labels of kubernetes.io; use a domain of your own',
    ],
    [
      'labels: {kubernetes.io/hostname: y}',
      'labels["kubernetes.io/hostname"]: kubernetes.io/hostname is set by the kubelet itself',
    ],
    [
      'labels: {node-role.kubernetes.io/worker: ""}',
      'labels["node-role.kubernetes.io/worker"]: node-role.kubernetes.io/worker follows from \'roles\' and cannot be a label',
    ],
    [
      'taints: [{key: a, effect: noSchedule}]',
      'taints[0].effect: must be one of NoSchedule, PreferNoSchedule or NoExecute, but is the text "noSchedule"; did you mean NoSchedule?',
    ],
    [
      'taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]',
      'taints[0].key: node.kubernetes.io/not-ready is set and removed by Kubernetes itself',
    ],
    [
      'taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]',
      'taints[1]: a:NoSchedule is there twice',
    ],
    ['taints: [a=b:NoSchedule]', 'taints[0]: must be a mapping, but is the text "a=b:NoSchedule"'],
  ])('are refused: %s', (fields, message) => {
    expect(messages(withHost(fields))).toEqual([`spec.hosts[1].${message}`]);
  });
});

describe('Docker', () => {
  it('is refused with the reason and the field', () => {
    const [message] = messages(clusterText('  containerRuntime: docker\n'));
    expect(message).toMatch(
      /^spec\.containerRuntime: Docker is no container runtime .* 1\.24.*: write containerd, or leave the field out$/,
    );
    expect(problemsOf(clusterText('  containerRuntime: containerd\n'))).toEqual([]);
  });
});

describe('a file of a thousand hosts', () => {
  const lines = Array.from(
    { length: 1000 },
    (_, i) =>
      `{<<: *h, name: w${i}, address: 10.1.${i >> 8}.${i & 255}, roles: [worker], labels: {n: ${i}}, ssh: *ssh}`,
  );
  const first = '&h {name: m1, address: 10.0.0.1, roles: [control-plane], nodeIP: 10.0.1.1, ssh: &ssh {password: x}}';
  const text = clusterText('  network: {podCIDR: 172.16.0.0/12}\n', [
    first,
    ...lines.map((line) => line.replace('<<: *h, ', '')),
  ]);

  it('is read within a second', () => {
    const times = Array.from({ length: 3 }, () => {
      const began = process.cpuUsage();
      configOf(text);
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1000;
    });
    // Of the processor, the best of three: others use the machine too.
    expect(Math.min(...times)).toBeLessThan(1000);
    const config = configOf(text);
    expect(config.hosts).toHaveLength(1001);
    expect(config.hosts[1000]?.labels).toEqual({ n: '999' });
  });

  it('may repeat values by anchors and merge keys, and is told where those are', () => {
    const merged = clusterText('', [first, '{<<: *h, name: w1, address: 10.0.0.2, roles: [worker]}']);
    expect(problemsOf(merged)).toEqual([
      'c.yaml:7:70: spec.hosts[1].nodeIP: 10.0.1.1 is also the node address of m1 (line 7); give each host its own nodeIP',
    ]);
    expect(problemsOf(merged.replace('*h', '[*h, a]'))).toEqual([
      'c.yaml:8:6: YAML: this is no valid YAML: << takes a mapping or a list of mappings',
    ]);
  });

  it('tells every problem', () => {
    expect(problemsOf(text.replaceAll('[worker]', '[wrker]'))).toHaveLength(1000);
  });
});
