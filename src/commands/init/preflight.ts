// The checks of `bke init`: everything that would fail later, told at once before anything is changed.
import { type PortName, portNames } from '../../config/bootstrap.ts';
import type { Host } from '../../host/host.ts';
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import { loadSizes } from '../../release/bundle/load.ts';
import type { BootstrapCluster } from '../../tasks/bootstrap-cluster/bootstrap-cluster.ts';
import type { HostNeeds, KubernetesNeeds } from '../../tasks/preflight/check.ts';
import { neededTools } from '../../tasks/preflight/needed-tools.ts';
import { kubernetesPorts } from '../../tasks/preflight/kubernetes-ports.ts';
import { machineOf } from '../../tasks/preflight/machine.ts';
import { readOwnThings } from '../../tasks/preflight/own-things.ts';
import { checksFor, inspectHost, refuseFindings } from '../../tasks/preflight/run.ts';
import { containerdPaths } from '../../tasks/node/containerd-config.ts';
import { programsDir } from '../../tasks/node/programs.ts';
import { claimLine, readClaim } from '../../tasks/reset/claim.ts';
import type { CommandContext } from '../context.ts';
import type { InitContent } from './content.ts';
import type { InitSettings } from './settings.ts';

export interface HostToCheck {
  readonly host: Host;
  readonly settings: InitSettings;
  readonly content: InitContent;
  /** Size of the bke binary. */
  readonly binaryBytes: number;
  readonly ignored: readonly string[];
  /** undefined where there will be none. */
  readonly cluster: BootstrapCluster | undefined;
}

const k3sRoot = '/var/lib/rancher';

const portUses: Readonly<Record<PortName, string>> = {
  registry: 'image registry',
  registryPush: 'image registry, push',
  files: 'file repository',
  charts: 'chart repository',
  kubernetes: 'bootstrap cluster',
  ui: 'web UI',
};

/** @throws BkeError BKE_KUBERNETES_FOUND where a cluster has this host: what init changes on it is that cluster's. */
export async function refuseClaimedHost(host: Host): Promise<void> {
  const claim = await readClaim(host);
  if (claim === undefined) return;
  throw new BkeError('BKE_KUBERNETES_FOUND', `this host is ${claimLine(claim)}`, {
    host: host.name,
    hint: "Nothing was changed. Run bke init on another host; where this one is to leave its cluster, 'bke reset --dry-run --all --mount' shows what would go.",
  });
}

/** @throws BkeError BKE_PREFLIGHT_FAILED with every problem; warnings are notes. */
export async function checkServicesHost(context: CommandContext, subject: HostToCheck): Promise<void> {
  const { host, ignored } = subject;
  const needs = await needsOf(subject);
  const own = await readOwnThings(host, needs, subject.settings.facts);
  const machine = machineOf(subject.settings.facts, needs, { own, asked: context.now() });
  const findings = inspectHost({ machine, needs }, ignored);
  refuseFindings(findings, host.name);
  for (const { check, message, hint } of findings) {
    context.note(`warning: ${check}: ${message}`);
    if (hint !== undefined) context.note(`  ${hint}`);
  }
  const left = ignored.length === 0 ? '' : `, ${ignored.join(', ')} left out`;
  context.note(
    `${checksLine(checksFor(needs, ignored).length, new Set(findings.map(({ check }) => check)).size)}${left}.`,
  );
}

function checksLine(all: number, warned: number): string {
  if (warned === 0) return `${plural(all, 'check')} passed`;
  return `${plural(all, 'check')}: ${all - warned} passed, ${plural(warned, 'warning')}`;
}

async function needsOf({ settings, content, binaryBytes, cluster }: HostToCheck): Promise<HostNeeds> {
  const { bootstrap, ports, dataDir } = settings.settings;
  return {
    ports: [
      ...portNames.map((name) => ({ port: ports[name], use: portUses[name] })),
      ...(bootstrap === 'none' ? [] : kubernetesPorts(bootstrap, ports.kubernetes)),
    ],
    space: await spaceOf(settings, content, binaryBytes),
    tools: neededTools(bootstrap !== 'none'),
    reachable: [dataDir],
    runtime: true,
    ...(cluster === undefined ? {} : { kubernetes: clusterNeeds(settings, cluster) }),
  };
}

function clusterNeeds({ settings, placeOf, file }: InitSettings, { kind, version }: BootstrapCluster): KubernetesNeeds {
  const { podCIDR, serviceCIDR } = settings.network;
  const { failCgroupV1 } = settings.settings.kubelet;
  return {
    kind,
    version,
    controlPlane: true,
    file,
    vxlan: true,
    failCgroupV1: typeof failCgroupV1 === 'boolean' ? failCgroupV1 : undefined,
    networks: [
      { cidr: podCIDR, use: 'pods', given: placeOf('network.podCIDR') },
      { cidr: serviceCIDR, use: 'services', given: placeOf('network.serviceCIDR') },
    ],
  };
}

const mib = 1024 * 1024;
/** Unpacked images take about this many times the room of packed ones. */
const unpacked = 3;

/** What is there already needs no room; a first load needs files and images, their programs unpacked, and in the runtime what will run. */
async function spaceOf(
  { settings: { bootstrap, dataDir } }: InitSettings,
  { bundle, loaded }: InitContent,
  binaryBytes: number,
): Promise<HostNeeds['space']> {
  if (bundle === undefined || loaded) return [];
  const { registry, files } = await loadSizes(bundle);
  const programs = { path: programsDir, bytes: binaryBytes + 512 * mib, use: 'the programs' };
  const images = bootstrap === 'none' ? 64 * mib : registry * unpacked;
  const runtime =
    bootstrap === 'k3s'
      ? { path: k3sRoot, bytes: images, use: 'K3s' }
      : { path: containerdPaths.root, bytes: images, use: 'containerd' };
  const etcd = bootstrap === 'kubeadm' ? [{ path: '/var/lib/etcd', bytes: 512 * mib, use: 'etcd' }] : [];
  return [{ path: dataDir, bytes: registry + files, use: 'the bundle' }, programs, runtime, ...etcd];
}
