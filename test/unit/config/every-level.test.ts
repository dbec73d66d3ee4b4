// What nobody knows, or says twice, is refused at every level of every file that people write, with its place and what may be meant.
import { describe, expect, it } from 'vitest';
import { type Document, isMap, parseDocument, type YAMLMap } from 'yaml';
import { bootstrapFile } from '../../../src/config/bootstrap.ts';
import { clusterFile } from '../../../src/config/cluster/file.ts';
import { problemLines } from '../../../src/config/problem.ts';
import { readYaml } from '../../../src/config/read-yaml.ts';
import { releaseManifest } from '../../../src/release/manifest.ts';

const head = (kind: string): string => `apiVersion: bke.io/v1alpha1\nkind: ${kind}\n`;
const ssh =
  '{user: a, port: 22, password: x, sudo: {password: y}, bastion: {address: b, password: z, bastion: {address: c, user: d}}}';
const files = {
  Cluster: {
    schema: clusterFile,
    text: `${head('Cluster')}metadata: {name: c1, namespace: bke}
spec:
  kubernetesVersion: v1.36.3
  controlPlaneEndpoint: {host: 192.0.2.10, port: 6443}
  network: {podCIDR: 10.244.0.0/16}
  registry: {host: r.example.com}
  settings: {kubeadm: {ignorePreflightErrors: [a]}, ignoreChecks: [swap]}
  defaults: {ssh: ${ssh}, taints: [{key: a, effect: NoSchedule}]}
  hosts:
    - {name: m1, address: 192.0.2.11, roles: [control-plane], taints: [{key: a, effect: NoSchedule}], ssh: ${ssh}}
    - {name: w1, address: 192.0.2.12, roles: [worker], ssh: ${ssh}}
  addons: [{name: a, chart: b}]
`,
  },
  Bootstrap: {
    schema: bootstrapFile,
    text: `${head('Bootstrap')}spec:
  ports: {files: 8080}
  network: {podCIDR: 10.244.0.0/16}
  settings: {kubeadm: {ignorePreflightErrors: [a]}, ignoreChecks: [swap]}
`,
  },
  Release: {
    schema: releaseManifest,
    text: `${head('Release')}metadata: {name: a, version: 1.30}
spec:
  platforms: [linux/amd64]
  kubernetesVersions: [v1.36.3]
  artifacts: [{kind: chart, name: a, version: 1.30, source: {file: a.tgz}}]
`,
  },
} as const;
type Kind = keyof typeof files;
const kinds: readonly Kind[] = ['Cluster', 'Bootstrap', 'Release'];

function problems(kind: Kind, text: string): string[] {
  const { schema } = files[kind];
  const result = readYaml(text, 'f', schema);
  return 'problems' in result ? problemLines(result.problems) : [];
}

interface Level {
  readonly path: readonly (string | number)[];
  readonly map: YAMLMap;
}

function levels(node: unknown, path: Level['path'] = []): Level[] {
  if (isMap(node)) {
    const inner = node.items.flatMap(({ key, value }) => levels(value, [...path, String(key)]));
    return [{ path, map: node }, ...inner];
  }
  const items: unknown = Reflect.get(Object(node), 'items');
  return Array.isArray(items) ? items.flatMap((item, index) => levels(item, [...path, index])) : [];
}

/** The file with a change at one level, once for each. */
function changedEverywhere(kind: Kind, change: (map: YAMLMap, document: Document) => void) {
  const count = levels(parseDocument(files[kind].text).contents).length;
  return Array.from({ length: count }, (_, index) => {
    const document = parseDocument(files[kind].text, { uniqueKeys: false });
    const level = levels(document.contents)[index];
    if (level === undefined) throw new Error('no such level');
    change(level.map, document);
    return { path: level.path, text: String(document) };
  });
}

const fieldName = (path: Level['path'], key: string): string =>
  [...path, key]
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1);

describe.each(kinds)('a file of the kind %s', (kind) => {
  it('is right to begin with', () => {
    expect(problems(kind, files[kind].text)).toEqual([]);
  });

  it('has no field that nobody knows', () => {
    const changed = changedEverywhere(kind, (map, document) => map.items.push(document.createPair('qqqqqqqqqqqq', 1)));
    for (const { path, text } of changed) {
      expect(problems(kind, text)).toEqual([expect.stringMatching(/^f:\d+:\d+: \S+: there is no such field$/)]);
      expect(problems(kind, text).join('')).toContain(` ${fieldName(path, 'qqqqqqqqqqqq')}: `);
    }
  });

  it.each(['Map keys must be unique', 'there is no field with this name'])('is refused: %s', (message) => {
    const changed = changedEverywhere(kind, (map, document) => {
      const key = message.startsWith('Map') ? String(map.items[0]?.key) : '__proto__';
      map.items.push(document.createPair(key, 1));
    });
    for (const { text } of changed)
      expect(problems(kind, text)).toEqual([expect.stringMatching(new RegExp(`^f:\\d+:\\d+: YAML: .*${message}$`))]);
  });
});

describe('a field that stands at the wrong level', () => {
  const cluster = (from: string, to: string): string[] => problems('Cluster', files.Cluster.text.replace(from, to));
  it.each([
    [
      'kubernetesVersion:',
      'kuberneteVersion:',
      'f:5:3: spec.kuberneteVersion: there is no such field; did you mean kubernetesVersion?',
    ],
    ['  hosts:', '  Hosts:', 'f:11:3: spec.Hosts: there is no such field; did you mean hosts?'],
    [
      '  network: {podCIDR',
      '  podCIDR: 10.1.0.0/16\n  network: {podCIDR',
      'f:7:3: spec.podCIDR: there is no such field; did you mean spec.network.podCIDR?',
    ],
    [
      'metadata: {',
      'metadata: {hosts: [], ',
      'f:3:12: metadata.hosts: there is no such field; did you mean spec.hosts?',
    ],
    [
      '{name: w1, ',
      '{name: w1, password: x, ',
      'f:13:18: spec.hosts[1].password: there is no such field; did you mean spec.hosts[1].ssh.password?',
    ],
    [
      '{name: w1, ',
      '{name: w1, passphraseFile: x, ',
      'f:13:18: spec.hosts[1].passphraseFile: there is no such field; did you mean spec.hosts[1].ssh.passphraseFile?',
    ],
    [
      '  registry:',
      '  username: a\n  registry:',
      'f:8:3: spec.username: there is no such field; did you mean spec.registry.username?',
    ],
    [
      '  registry:',
      '  hostKeys: a\n  registry:',
      'f:8:3: spec.hostKeys: there is no such field; did you mean spec.defaults.ssh.hostKeys?',
    ],
    ['user: d}', 'passwrd: d}', 'there is no such field; did you mean password?'],
  ])('%s as %s is told where it belongs', (from, to, message) => {
    expect(cluster(from, to).join('\n')).toContain(message);
  });

  it('may be the whole of spec', () => {
    const text = files.Cluster.text
      .replace(/^metadata.*\n/m, 'metadata:\n  name: c1\n')
      .replace(/\nspec:[^]*/, (spec) => spec.replaceAll('\n', '\n  '));
    expect(problems('Cluster', text)).toEqual([
      'f:1:1: spec: is missing',
      'f:5:3: metadata.spec: there is no such field; did you mean spec?',
    ]);
  });
});

describe('a value that is something else', () => {
  const cluster = (from: string | RegExp, to: string): string[] =>
    problems('Cluster', files.Cluster.text.replace(from, to)).map((line) => line.replace(/^f:\d+:\d+: /, ''));
  it.each([
    [
      /network: .*/,
      'network: podCIDR:10.1.0.0/16',
      'spec.network: must be a mapping, but is the text "podCIDR:10.1.0.0/16"; put a space after the colon',
    ],
    [/network: .*/, 'network: https://a', 'spec.network: must be a mapping, but is the text "https://a"'],
    [/network: .*/, 'network: 1.30', 'spec.network: must be a mapping, but is the number 1.30'],
    [
      /network: .*/,
      'loadBalancer: 1.30',
      'spec.loadBalancer: must be one of keepalived or external, but is the number 1.30',
    ],
    [/network: .*/, 'management: 1.30', 'spec.management: must be true or false, but is the number 1.30'],
    [/network: .*/, 'ntp: 1.30', 'spec.ntp: must be a list, but is the number 1.30'],
    ['port: 6443', 'port: 1.30', 'spec.controlPlaneEndpoint.port: must be a whole number, but is the number 1.30'],
    [
      'roles: [worker]',
      'roles: [{worker: true}]',
      'spec.hosts[1].roles[0]: must be one of control-plane or worker, but is a mapping',
    ],
    ['roles: [worker], ', '', 'spec.hosts[1].roles: is missing'],
    ['roles: [worker]', 'roles: worker', 'spec.hosts[1].roles: must be a list, but is the text "worker"'],
    [
      'roles: [worker]',
      'roles: [worker, etcd]',
      'spec.hosts[1].roles[1]: must be one of control-plane or worker, but is the text "etcd"',
    ],
    ['{name: w1,', '{name:w1,', 'spec.hosts[1]["name:w1"]: there is no such field; put a space after the colon'],
  ])('%s as %s is told as what was written', (from, to, message) => {
    expect(cluster(from, to)).toEqual([message]);
  });
});
