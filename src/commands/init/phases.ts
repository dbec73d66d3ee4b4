// Everything `bke init` does, phase after phase, and in whose scope of the ledger each is.
import type { NodeSettings } from '../../config/node-settings.ts';
import type { Scope } from '../../host/changes/change.ts';
import { hostPort } from '../../lib/address.ts';
import type { Phase } from '../../operations/operation.ts';
import type { BootstrapCluster, BootstrapPlan } from '../../tasks/bootstrap-cluster/bootstrap-cluster.ts';
import { k3sBootstrap } from '../../tasks/bootstrap-cluster/k3s/k3s.ts';
import { kubeadmBootstrap } from '../../tasks/bootstrap-cluster/kubeadm/kubeadm.ts';
import type { ArtifactSource } from '../../tasks/cluster-api/artifacts.ts';
import type { SitePlan } from '../../tasks/cluster-api/installation.ts';
import { managementPhases } from '../../tasks/cluster-api/phases.ts';
import { registriesOf } from '../../tasks/services/content.ts';
import { dataPaths, serviceUrls } from '../../tasks/services/layout.ts';
import { type ServicesPlan, servicesPhases } from '../../tasks/services/phases.ts';
import { runtimePhases } from '../../tasks/services/runtime.ts';
import type { TaskScope } from '../../tasks/task.ts';

export interface InitPlan extends ServicesPlan {
  /** Names of bke's checks that were left out. */
  readonly ignored: readonly string[];
  readonly clock: () => Date;
}

export interface InitWork {
  readonly phases: readonly Phase<TaskScope>[];
  /** undefined where there will be none. */
  readonly cluster: BootstrapCluster | undefined;
  /** What the managers in it are made of. */
  readonly release: ArtifactSource;
}

/** The services stay when the cluster goes: their phases are in another scope than all that follow. */
export function scopeOfPhase(phase: string): Scope {
  return phase === 'services' || phase === 'content' ? 'services' : 'bootstrap-cluster';
}

export function initWork(plan: InitPlan): InitWork {
  const services = servicesPhases(plan);
  const { bootstrap } = plan.settings;
  const release = { catalogue: plan.content.catalogue, platform: plan.platform, bkeVersion: plan.bke.version };
  // K3s brings a container runtime of its own.
  const runtime = bootstrap === 'k3s' ? [] : runtimePhases(plan, services.siteCa);
  const before = [...services.phases, ...runtime];
  if (bootstrap === 'none') return { phases: before, cluster: undefined, release };
  const bootstrapPlan = planOf(plan, services.siteCa);
  const cluster = bootstrap === 'k3s' ? k3sBootstrap(bootstrapPlan) : kubeadmBootstrap(bootstrapPlan);
  const management = managementPhases({
    host: plan.host,
    cluster,
    ...release,
    filesDir: bootstrapPlan.filesDir,
    site: sitePlan(plan, services.siteCa),
    now: plan.clock,
  });
  return { phases: [...before, ...cluster.install(), ...management], cluster, release };
}

function sitePlan({ settings: { domain, hostIP, ports } }: InitPlan, ca: () => string): SitePlan {
  const { registry, files, charts } = ports;
  const servers = [`https://${hostPort(hostIP, ports.kubernetes)}`];
  return { domain, hostIP, ports: { registry, files, charts }, ca, servers };
}

/** kubeadm asks some of bke's questions again: who left them out means kubeadm's too. */
const kubeadmNames: Readonly<Record<string, string>> = { cpu: 'NumCPU', memory: 'Mem', swap: 'Swap' };

function nodeSettings({ settings: { settings }, ignored }: InitPlan): NodeSettings {
  const also = ignored.flatMap((name) => kubeadmNames[name] ?? []);
  const ignorePreflightErrors = [...new Set([...settings.kubeadm.ignorePreflightErrors, ...also])];
  return { ...settings, kubeadm: { ...settings.kubeadm, ignorePreflightErrors } };
}

function planOf(plan: InitPlan, siteCa: () => string): BootstrapPlan {
  const { host, hostname, settings, content, platform } = plan;
  const { catalogue } = content;
  return {
    host,
    hostname,
    hostIP: settings.hostIP,
    port: settings.ports.kubernetes,
    podCIDR: settings.network.podCIDR,
    serviceCIDR: settings.network.serviceCIDR,
    settings: nodeSettings(plan),
    catalogue,
    platform,
    filesDir: dataPaths(settings.dataDir).files,
    registryHost: serviceUrls(settings).registryHost,
    mirrored: registriesOf(catalogue),
    siteCa,
  };
}
