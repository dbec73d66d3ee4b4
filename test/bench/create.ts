// `npm run bench:create`: `bke cluster create` of one control plane and two workers against kubeadm by hand (by-hand/) on hosts that are as fresh, from
// the same file repository and registry, in one run. Bar: at most 2 times. Prints what create was held by.
import { join } from 'node:path';
import { stringify } from 'yaml';
import { defaultVersions } from '../testbed/builds/component.ts';
import { machineSettings } from '../testbed/cluster-file.ts';
import { pauseImage } from '../testbed/images/table.ts';
import { stopHosts, type TestHost } from '../testbed/index.ts';
import { criticalPath, parseEvents, type Span, spansOf } from './critical-path.ts';
import { judge, load } from './judge.ts';
import { freshHosts, makeBoot, putClusterFile, seconds, timed } from './site.ts';

const bar = 2;
const names = ['bench-cp1', 'bench-w1', 'bench-w2'];
const folder = '/root/by-hand';

try {
  const boot = await makeBoot();
  const peer = await byHand(boot, await freshHosts(boot, names));
  const hosts = await freshHosts(boot, names);
  await putClusterFile(boot, hosts);
  const before = load();
  const own = await timed(boot, 'bke cluster create -f /root/cluster.yaml --yes -o json');
  console.log(`\nbke cluster create (${before} before, ${load()} after), held by:`);
  await printPath(own.stdout, hosts);
  console.log(`\nbke ${seconds(own.milliseconds)}, by hand ${seconds(peer)}`);
  judge('create / by hand', own.milliseconds / peer, { atMost: bar });
} finally {
  await stopHosts();
}

/** Milliseconds. */
async function byHand(boot: TestHost, hosts: readonly TestHost[]): Promise<number> {
  const { kubernetes, containerd, runc, crictl, cniPlugins, flannel } = defaultVersions;
  await boot.copyIn(join(import.meta.dirname, 'by-hand'), folder);
  await boot.output(`cat >${folder}/kubeadm.yaml`, { input: kubeadmFile() });
  const variables = {
    SITE: boot.address,
    KUBERNETES: kubernetes,
    CONTAINERD: containerd,
    RUNC: runc,
    CRICTL: crictl,
    CNI_PLUGINS: cniPlugins,
    FLANNEL: flannel,
    PAUSE: (await pauseImage()).ref,
  };
  const environment = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const before = load();
  const addresses = hosts.map(({ address }) => address);
  const result = await timed(boot, `cd ${folder} && ${environment.join(' ')} ./cluster.sh ${addresses.join(' ')}`);
  console.log(`kubeadm by hand (${before} before, ${load()} after), since its begin:\n${result.stdout}`);
  return result.milliseconds;
}

/** The same settings as in cluster.yaml. */
function kubeadmFile(): string {
  const { kubelet, kubeProxy } = machineSettings;
  const documents = [
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'ClusterConfiguration',
      kubernetesVersion: defaultVersions.kubernetes,
      // That of flannel's manifest.
      networking: { podSubnet: '10.244.0.0/16' },
    },
    // The driver is chosen by bke itself.
    {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      cgroupDriver: 'cgroupfs',
      failSwapOn: false,
      ...kubelet,
    },
    { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration', ...kubeProxy },
  ];
  return documents.map((document) => stringify(document)).join('---\n');
}

/** Steps that held the operation, and below each what the agent of its host did meanwhile. */
async function printPath(stdout: string, hosts: readonly TestHost[]): Promise<void> {
  const events = parseEvents(stdout);
  const began = Math.min(...events.map(({ time }) => Date.parse(time)));
  const agents = new Map<string, Span[]>();
  for (const host of hosts) agents.set(host.name, await agentSpans(host));
  for (const span of criticalPath(spansOf(events))) {
    console.log(row(span, began));
    for (const step of agents.get(span.host ?? '') ?? []) {
      if (step.start >= span.start - 1000 && step.end <= span.end + 1000) console.log(row(step, began, '  '));
    }
  }
}

/** Out of the journals that the agent keeps on its host. */
async function agentSpans(host: TestHost): Promise<Span[]> {
  return spansOf(parseEvents(await host.output('cat /var/lib/bke/operations/*host-command*.jsonl')));
}

function row({ host, title, start, end }: Span, began: number, indent = ''): string {
  const place = host === undefined ? '' : `${host}: `;
  return `${seconds(start - began).padStart(9)} ${`+${seconds(end - start)}`.padStart(9)}  ${indent}${place}${title}`;
}
