// Settings of the kubelet: what is bke's own and what no kubelet would take is refused where it is written; the rest is handed on.
import { describe, expect, it } from 'vitest';
import { clusterText, configOf, problemsOf, warningsOf } from './cluster/cluster-file.ts';

const withKubelet = (settings: string): string => clusterText(`  settings: {kubelet: {${settings}}}\n`);
const message = (settings: string): string[] =>
  problemsOf(withKubelet(settings)).map((line) => line.replace(/^c\.yaml:\d+:\d+: spec\.settings\.kubelet\./, ''));

it('are all told at once, each with its line and column', () => {
  const lines = [
    '  settings:',
    '    kubelet:',
    '      maxPods: abc',
    '      staticPodPath: /etc/pods',
    '      failSwapOn: "no"',
    '      evictionHard:',
    '        memory.available: 500',
    '        nodefs.available: 10%',
    '      maxpods: 3',
    '',
  ];
  expect(problemsOf(clusterText(lines.join('\n')))).toEqual([
    'c.yaml:8:16: spec.settings.kubelet.maxPods: must be a whole number of at least 1, but is "abc"',
    'c.yaml:9:22: spec.settings.kubelet.staticPodPath: is where kubeadm puts the control plane, and bke looks for it there: leave it out',
    'c.yaml:10:19: spec.settings.kubelet.failSwapOn: must be true or false, but is "no"',
    'c.yaml:12:27: spec.settings.kubelet.evictionHard["memory.available"]: must be a quantity or a share as text, such as 500Mi or 10%, but is 500',
    'c.yaml:14:16: spec.settings.kubelet.maxpods: must be written maxPods',
  ]);
});

describe('of the wrong form', () => {
  it.each([
    ['maxPods: 0', 'maxPods: must be a whole number of at least 1, but is 0'],
    ['maxPods: 1.5', 'maxPods: must be a whole number of at least 1, but is 1.5'],
    ['maxPods: "110"', 'maxPods: must be a whole number of at least 1, but is "110"'],
    [
      'imageGCHighThresholdPercent: 101',
      'imageGCHighThresholdPercent: must be a whole number from 0 to 100, but is 101',
    ],
    [
      'imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 70',
      'imageGCLowThresholdPercent: must be less than imageGCHighThresholdPercent (70), but is 70',
    ],
    ['kubeAPIQPS: many', 'kubeAPIQPS: must be a whole number, but is "many"'],
    ['seccompDefault: yes', 'seccompDefault: must be true or false, but is "yes"'],
    ['syncFrequency: 60', 'syncFrequency: must be a duration with its unit, such as 30s, but is 60'],
    ['shutdownGracePeriod: 30 s', 'shutdownGracePeriod: must be a duration with its unit, such as 30s, but is "30 s"'],
    [
      'containerLogMaxSize: 10MB',
      'containerLogMaxSize: must be a quantity as text, such as 500Mi or "2" in quotes, but is "10MB"',
    ],
    [
      'systemReserved: {cpu: 1}',
      'systemReserved.cpu: must be a quantity as text, such as 500Mi or "2" in quotes, but is 1',
    ],
    ['systemReserved: [cpu]', 'systemReserved: must be a mapping, but is a list'],
    [
      'evictionSoftGracePeriod: {memory.available: 90}',
      'evictionSoftGracePeriod["memory.available"]: must be a duration with its unit, such as 30s, but is 90',
    ],
    ['featureGates: {A: "true"}', 'featureGates.A: must be true or false, but is "true"'],
    ['clusterDNS: 10.96.0.10', 'clusterDNS: must be a list, but is "10.96.0.10"'],
    ['reservedSystemCPUs: 0', 'reservedSystemCPUs: must be text (put it in quotes), but is 0'],
    ['cpuManagerPolicy: statc', 'cpuManagerPolicy: must be none or static, but is "statc"; did you mean static?'],
    ['topologyManagerScope: node', 'topologyManagerScope: must be container or pod, but is "node"'],
    ['readOnlyPort: 65536', 'readOnlyPort: must be a whole number from 0 to 65535, but is 65536'],
    ['healthzBindAddress: "::"', 'healthzBindAddress: must be 127.0.0.1 or 0.0.0.0, but is "::"'],
    ['readOnlyPort: 10250', 'readOnlyPort: 10250 is taken on the host itself (kubelet)'],
  ])('is refused: %s', (settings, wanted) => {
    expect(message(settings)).toEqual([wanted]);
  });
});

it.each([
  ['cgroupDriver: cgroupfs', 'cgroupDriver: is chosen for each host, the same for containerd: leave it out'],
  ['registerNode: null', 'registerNode: must stay true: a host becomes a node by it'],
  [
    'healthzPort: 10300',
    'healthzPort: is 10248: kubeadm asks there whether the kubelet is up, whatever is written here',
  ],
  ['port: 10350', 'port: is 10250: checks, the API server and what firewalls let through go by it'],
  [
    'registerWithTaints: []',
    'registerWithTaints: would be for every host: write taints at the host or below spec.defaults',
  ],
  ['kind: X', 'kind: is written by bke: leave it out'],
])('that are bke’s own are refused with the reason: %s', (settings, wanted) => {
  expect(message(settings)).toEqual([wanted]);
});

it('that fit, and those that nobody here knows, are handed on as they are', () => {
  const settings =
    'maxPods: 60, oomScoreAdj: -999, failSwapOn: true, memoryThrottlingFactor: 0.8, syncFrequency: 1m30s, runtimeRequestTimeout: "0", ' +
    'evictionHard: {memory.available: 5%, nodefs.available: 1Gi}, systemReserved: {cpu: 500m, memory: "1e9"}, evictionSoft: null, ' +
    'topologyManagerPolicy: single-numa-node, mergeDefaultEvictionSettings: true, readOnlyPort: 0, toString: {a: [1, "1", true]}, brandNew: 85';
  expect(problemsOf(withKubelet(settings))).toEqual([]);
  expect(warningsOf(withKubelet(settings))).toEqual([]);
  expect(configOf(withKubelet(settings)).settings.kubelet).toMatchObject({
    maxPods: 60,
    memoryThrottlingFactor: 0.8,
    systemReserved: { cpu: '500m', memory: '1e9' },
    evictionSoft: null,
    toString: { a: [1, '1', true] },
    brandNew: 85,
  });
});

it('that are almost a field are handed on with a warning', () => {
  expect(problemsOf(withKubelet('maxPod: 60'))).toEqual([]);
  expect(warningsOf(withKubelet('maxPod: 60'))).toMatchObject([
    {
      field: 'spec.settings.kubelet.maxPod',
      message: 'is no field of the kubelet that bke knows, and is handed on as it is; did you mean maxPods?',
    },
  ]);
});
