import { describe, expect, it } from 'vitest';
import {
  bootstrapFile,
  defaultPorts,
  effectiveSettings,
  readableSpec,
  type SettingsLayer,
} from '../../../src/config/bootstrap.ts';
import { noNodeSettings } from '../../../src/config/node-settings.ts';
import { systemDirectoryProblem } from '../../../src/config/directories.ts';
import { problemLines } from '../../../src/config/problem.ts';
import { readYaml } from '../../../src/config/read-yaml.ts';

const detected = { source: 'found on this host', hostIP: '10.0.0.5' };
const check = (layer: object) =>
  effectiveSettings([{ source: 'option', ...layer }, detected], ['10.0.0.5', '10.1.0.5']);
const messages = (layer: object) =>
  check(layer).problems.map(({ at, field, message }) => `${at}: ${field}: ${message}`);

describe('settings of init', () => {
  it('has a default for everything but the address', () => {
    const { settings, sources, problems } = effectiveSettings([detected], ['10.0.0.5']);
    expect(problems).toEqual([]);
    expect(settings).toEqual({
      hostIP: '10.0.0.5',
      domain: 'deploy.bke.internal',
      ports: defaultPorts,
      pushOpen: false,
      dataDir: '/var/lib/bke/services',
      bootstrap: 'k3s',
      network: { podCIDR: '100.72.0.0/16', serviceCIDR: '100.73.0.0/16' },
      settings: noNodeSettings,
    });
    expect(sources).toEqual({ hostIP: 'found on this host' });
  });

  it('takes each value from the first layer that has it and remembers which', () => {
    const { settings, sources } = effectiveSettings(
      [
        { source: 'options', ports: { files: 8081 } },
        { source: 'bootstrap.yaml', domain: 'a.site', ports: { files: 8082, charts: 8083 } },
        { source: 'the last init', domain: 'b.site', dataDir: '/data/bke' },
        detected,
      ],
      ['10.0.0.5'],
    );
    expect(settings).toMatchObject({
      domain: 'a.site',
      dataDir: '/data/bke',
      ports: { ...defaultPorts, files: 8081, charts: 8083 },
    });
    expect(sources).toMatchObject({
      domain: 'bootstrap.yaml',
      'ports.files': 'options',
      'ports.charts': 'bootstrap.yaml',
      dataDir: 'the last init',
    });
  });

  it('lists every problem at once, each with where the value came from', () => {
    expect(
      messages({ hostIP: '10.9.9.9', domain: 'Deploy', dataDir: 'data', ports: { files: 40_443, ui: 70_000 } }),
    ).toEqual([
      'option: hostIP: 10.9.9.9 is no address of this host, which has 10.0.0.5, 10.1.0.5',
      'option: domain: Deploy is no DNS name of two or more lower-case labels',
      'option: ports.ui: must be 1 to 65535',
      'option: ports.files: 40443 is also the registry port',
      'option: dataDir: data is no absolute path',
    ]);
  });

  it.each([
    ['/', '/ is a directory of the system: name one below it'],
    ['/var/lib', '/var/lib is a directory of the system: name one below it'],
    ['/data/', 'write /data instead of /data/'],
    ['/data/../etc', 'write /etc instead of /data/../etc'],
    ['/da ta', 'may have letters, digits, dot, dash, underline and / only'],
    ['/root/bke', "/root/bke does not outlive a boot, or the services' user cannot reach it"],
    ['/tmp/bke', "/tmp/bke does not outlive a boot, or the services' user cannot reach it"],
  ])('refuses the data directory %s', (dataDir, message) => {
    expect(check({ dataDir }).problems.map((problem) => problem.message)).toEqual([message]);
  });

  it.each(['/bke', '/data/bke', '/var/lib/bke/services', '/home2/x'])('accepts the data directory %s', (dataDir) => {
    expect(check({ dataDir }).problems).toEqual([]);
  });

  it.each(['10.0.0.1', 'localhost', 'a_b.c', 'UPPER.site', 'a..b', '-a.b', `${'a'.repeat(64)}.b`])(
    'refuses the domain %s',
    (domain) => {
      expect(check({ domain }).problems).toHaveLength(1);
    },
  );
});

describe('addresses of pods and services', () => {
  const problemsOf = (...layers: SettingsLayer[]) =>
    problemLines(effectiveSettings([...layers, detected], ['10.0.0.5']).problems);
  const network = (podCIDR?: string, serviceCIDR?: string) => ({ source: 'f', network: { podCIDR, serviceCIDR } });

  it('are taken one by one, each from the first that names it', () => {
    const { settings, sources } = effectiveSettings(
      [network('10.1.0.0/16'), network('10.2.0.0/16', '10.3.0.0/24')],
      [],
    );
    expect(settings.network).toEqual({ podCIDR: '10.1.0.0/16', serviceCIDR: '10.3.0.0/24' });
    expect(sources).toMatchObject({ 'network.podCIDR': 'f', 'network.serviceCIDR': 'f' });
    expect(problemsOf(network('10.1.0.0/16', '10.3.0.0/24'))).toEqual([]);
  });

  it.each<[string | undefined, string | undefined, string[]]>([
    [
      '10.1.0.0',
      '10.2.0.0/33',
      [
        'f: network.podCIDR: 10.1.0.0 is no block of addresses like 10.96.0.0/16',
        'f: network.serviceCIDR: 10.2.0.0/33 is no block of addresses like 10.96.0.0/16',
      ],
    ],
    ['10.1.2.0/16', undefined, ['f: network.podCIDR: write 10.1.0.0/16 instead of 10.1.2.0/16']],
    ['fd00::/48', undefined, ['f: network.podCIDR: fd00::/48 is IPv6, and only IPv4 is supported here']],
    [
      '10.1.0.0/25',
      undefined,
      ['f: network.podCIDR: 10.1.0.0/25 is too small: /24 or more, since every node takes 256 addresses of it'],
    ],
    ['10.0.0.0/7', undefined, ['f: network.podCIDR: 10.0.0.0/7 is too large: /8 at most']],
    [
      undefined,
      '10.1.0.0/29',
      ['f: network.serviceCIDR: 10.1.0.0/29 is too small: /28 or more, since Kubernetes takes no other sizes'],
    ],
    ['127.9.0.0/16', undefined, ['f: network.podCIDR: 127.9.0.0/16 cannot be used: 127.0.0.0/8 is for loopback']],
    [
      '0.0.0.0/8',
      '169.254.20.0/24',
      [
        'f: network.podCIDR: 0.0.0.0/8 cannot be used: 0.0.0.0/8 is for this network',
        'f: network.serviceCIDR: 169.254.20.0/24 cannot be used: 169.254.0.0/16 is for link-local addresses',
      ],
    ],
    [
      '239.0.0.0/8',
      '240.0.0.0/12',
      [
        'f: network.podCIDR: 239.0.0.0/8 cannot be used: 224.0.0.0/3 is for multicast and reserved addresses',
        'f: network.serviceCIDR: 240.0.0.0/12 cannot be used: 224.0.0.0/3 is for multicast and reserved addresses',
      ],
    ],
    [undefined, '10.0.0.0/8', ['f: network.serviceCIDR: 10.0.0.0/8 is too large: /12 at most']],
    ['100.64.0.0/10', undefined, ["f: network.podCIDR: 100.64.0.0/10 overlaps with the services' 100.73.0.0/16"]],
    ['10.0.0.0/16', '10.1.0.0/16', ['f: network.podCIDR: 10.0.0.0/16 has the address of this host in it, 10.0.0.5']],
    [undefined, '10.0.0.0/24', ['f: network.serviceCIDR: 10.0.0.0/24 has the address of this host in it, 10.0.0.5']],
    [
      '10.1.0.0/16,fd00::/48',
      undefined,
      ['f: network.podCIDR: 10.1.0.0/16,fd00::/48 is more than one block, and one of IPv4 is supported here'],
    ],
    [undefined, '100.72.1.0/24', ["f: network.serviceCIDR: 100.72.1.0/24 overlaps with the pods' 100.72.0.0/16"]],
  ])('%s and %s are refused with all that is wrong', (pods, services, expected) => {
    expect(problemsOf(network(pods, services))).toEqual(expected);
  });
});

describe('settings of the node', () => {
  it('are taken part by part, each whole', () => {
    const { settings, sources } = effectiveSettings(
      [
        { source: 'file', settings: { kubelet: { maxPods: 60 }, kubeadm: { ignorePreflightErrors: ['Swap'] } } },
        {
          source: 'the last init',
          settings: { ...noNodeSettings, kubelet: { oomScoreAdj: 0 }, ignoreChecks: ['cpu'] },
        },
      ],
      [],
    );
    expect(settings.settings).toEqual({
      ...noNodeSettings,
      kubelet: { maxPods: 60 },
      kubeadm: { ignorePreflightErrors: ['Swap'] },
      ignoreChecks: ['cpu'],
    });
    expect(sources).toMatchObject({ 'settings.kubelet': 'file', 'settings.ignoreChecks': 'the last init' });
  });
});

describe('whom a port that is there twice is blamed on', () => {
  const problemsOf = (...layers: SettingsLayer[]) =>
    problemLines(effectiveSettings([...layers, detected], ['10.0.0.5']).problems);

  it('is what was given, never a default', () => {
    expect(problemsOf({ source: 'option', ports: { registry: 40_080 } })).toEqual([
      'option: ports.registry: 40080 is also the file port',
    ]);
    expect(problemsOf({ source: 'option', ports: { ui: 40_443 } })).toEqual([
      'option: ports.ui: 40443 is also the registry port',
    ]);
    expect(
      problemsOf({ source: 'option', ports: { registry: 1000 } }, { source: 'f', ports: { files: 1000 } }),
    ).toEqual(['option: ports.registry: 1000 is also the file port']);
  });

  it('is named by the place that its layer tells', () => {
    const place = (field: string) => ({ at: `--${field}`, field: '' });
    expect(problemsOf({ source: 'option', place, domain: 'x' })).toEqual([
      '--domain: x is no DNS name of two or more lower-case labels',
    ]);
  });
});

describe('a directory of the system', () => {
  it.each(['/etc', '/etc/', '/etc/bke', '/', '/usr/lib', '/var/../etc', '/proc/1'])('is refused: %s', (path) => {
    expect(systemDirectoryProblem(path)).toBeDefined();
  });
  it.each(['/srv/bke', '/tmp/x', '/home/me/site', '/usr/local/bke', '/etcetera'])('is not: %s', (path) => {
    expect(systemDirectoryProblem(path)).toBeUndefined();
  });
});

describe('bootstrap.yaml', () => {
  const head = 'apiVersion: bke.io/v1alpha1\nkind: Bootstrap\n';
  const read = (text: string) => readYaml(text, 'b.yaml', bootstrapFile);
  const problems = (text: string): string[] => {
    const result = read(text);
    return 'problems' in result ? result.problems.map(({ at, field, message }) => `${at} ${field}: ${message}`) : [];
  };

  it('is read as it is written', () => {
    const result = read(
      `${head}spec:\n  hostIP: 10.0.0.5\n  ports: {registry: 5000}\n  settings:\n    containerd:\n      plugins:\n        io.containerd.cri.v1.runtime: {restrict_oom_score_adj: true}\n`,
    );
    expect('value' in result && result.value.spec).toEqual({
      hostIP: '10.0.0.5',
      ports: { registry: 5000 },
      settings: { containerd: { plugins: { 'io.containerd.cri.v1.runtime': { restrict_oom_score_adj: true } } } },
    });
  });

  it.each([
    ['bke.io/v2', '"bke.io/v2" is not known to this bke, which reads bke.io/v1alpha1: it takes a newer bke'],
    ['v1', 'must be bke.io/v1alpha1, but is "v1"'],
  ])("of the version %s is another bke's", (version, message) => {
    expect(problems(`apiVersion: ${version}\nkind: Bootstrap\n`)).toEqual([`b.yaml:1:13 apiVersion: ${message}`]);
  });

  it('refuses what this bke cannot do yet, with what can be done instead, and lets the web UI be left out', () => {
    expect(read(`${head}spec:\n  ui: false\n`)).toMatchObject({ value: { spec: { ui: false } } });
    const [registry, ntp] = problems(`${head}spec:\n  registry: {host: r.example}\n  ntp: [10.0.0.1]\n`);
    expect(registry).toMatch(
      /^b\.yaml:4:\d+ spec\.registry: is not supported yet: .*spec\.registry of its cluster\.yaml/,
    );
    expect(ntp).toMatch(/^b\.yaml:5:\d+ spec\.ntp: is not supported yet: .*spec\.ntp of its cluster\.yaml/);
  });

  it('names file, line, column and field of every problem', () => {
    expect(
      problems(`${head}spec:\n  hostip: 10.0.0.5\n  ports:\n    registry: "5000"\n    files: 99999\n  dataDir: [5]\n`),
    ).toEqual([
      'b.yaml:4:3 spec.hostip: there is no such field; did you mean hostIP?',
      'b.yaml:6:15 spec.ports.registry: must be a number, but is the text "5000"',
      'b.yaml:7:12 spec.ports.files: must be 1 to 65535',
      'b.yaml:8:12 spec.dataDir: must be text, but is a list',
    ]);
  });

  it('gives what is right in it beside what is not', () => {
    const result = read(
      `kind: Boot\nspec:\n  hostIP: 10.0.0.300\n  domain: [a]\n  more: 1\n  ports: {files: 70000, ui: 5000, x: 1}\n`,
    );
    expect('raw' in result && readableSpec(result.raw)).toEqual({
      hostIP: '10.0.0.300',
      ports: { ui: 5000 },
      network: {},
      settings: {},
    });
    expect(result.placeOf(['spec', 'hostIP'])).toBe('b.yaml:3:11');
    expect(readableSpec(undefined)).toEqual({ ports: {}, network: {}, settings: {} });
  });

  it('may leave everything out but its kind', () => {
    expect(problems(head)).toEqual([]);
    expect(
      problems(`${head}spec: {bootstrap: docker, network: {podCidr: 10.0.0.0/8}, settings: {kubelet: 5}}\n`),
    ).toEqual([
      'b.yaml:3:19 spec.bootstrap: must be one of k3s, kubeadm or none, but is the text "docker"',
      'b.yaml:3:37 spec.network.podCidr: there is no such field; did you mean podCIDR?',
      'b.yaml:3:79 spec.settings.kubelet: must be a mapping, but is the number 5',
    ]);
    expect(problems('')).toHaveLength(1);
  });
});
