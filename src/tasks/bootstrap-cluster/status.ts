// Whether the bootstrap cluster works: API server, node, and the managers in it, asked as any client asks, without changing anything.
import type { BootstrapSettings } from '../../config/bootstrap.ts';
import type { Host } from '../../host/host.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { listAt, textAt } from '../../kube/fields.ts';
import { nodeTrouble, whyNoPods } from '../../kube/readiness.ts';
import { hostPort } from '../../lib/address.ts';
import { errorField, toError } from '../../lib/thrown.ts';
import { managementStatus } from '../cluster-api/status.ts';
import { directorySize, healthOf, type ServiceStatus, sinceOf } from '../services/status.ts';
import { readUnitState, type UnitState } from '../services/unit-state.ts';
import type { BootstrapKind } from './bootstrap-cluster.ts';
import { type Reach, reachBy } from './client.ts';
import { k3sPaths, k3sUnit } from './k3s/paths.ts';
import { kubeadmPaths, kubeletUnit } from './kubeadm/paths.ts';
import { systemTrouble } from './kubeadm/system-trouble.ts';
import { dnsTrouble } from './ready.ts';

interface Parts {
  /** What starts pods, and with them the rest. */
  readonly unit: string;
  readonly kubeconfig: string;
  /** Where the API server keeps its objects. */
  readonly data: string;
  /** Why a program of its own does not run; K3s is one program. */
  readonly systemTrouble: (client: KubeClient) => Promise<string | undefined>;
}

const partsOf: Readonly<Record<BootstrapKind, Parts>> = {
  kubeadm: { unit: kubeletUnit, kubeconfig: kubeadmPaths.kubeconfig, data: '/var/lib/etcd', systemTrouble },
  k3s: {
    unit: k3sUnit,
    kubeconfig: k3sPaths.kubeconfig,
    data: `${k3sPaths.dataDir}/server/db`,
    systemTrouble: async () => undefined,
  },
};

const askMs = 5000;

interface StatusOptions {
  readonly now: Date;
  /** How a client comes about; by the kubeconfig. */
  readonly reachOf?: (kubeconfig: string) => Reach;
}

/** Empty where there is to be none. Others than root, who may not read the kubeconfig, learn of the unit only. */
export async function clusterStatus(
  host: Host,
  settings: BootstrapSettings,
  { now, reachOf = reachBy }: StatusOptions,
): Promise<ServiceStatus[]> {
  const { bootstrap, hostIP, ports } = settings;
  if (bootstrap === 'none') return [];
  const parts = partsOf[bootstrap];
  const unit = await readUnitState(host, parts.unit);
  const dataBytes = await directorySize(host, parts.data);
  const found =
    unit.active === 'active' ? await askCluster(host, reachOf(parts.kubeconfig), { parts, now }) : undefined;
  const kubernetes: ServiceStatus = {
    name: 'kubernetes',
    ...clusterHealth(unit, parts.unit, found?.trouble),
    unit: parts.unit,
    version: found?.version ?? 'unknown',
    address: `https://${hostPort(hostIP, ports.kubernetes)}`,
    ...(dataBytes === undefined ? {} : { dataBytes }),
    ...sinceOf(unit),
  };
  return [kubernetes, ...(found?.parts ?? [])];
}

async function managersOf(client: KubeClient, now: Date): Promise<ServiceStatus[]> {
  return (await managementStatus(client, now)).map(({ name, namespace, version, trouble }) => ({
    name,
    ...healthOfPart(version === undefined ? 'missing' : 'unhealthy', trouble),
    unit: '',
    version: version ?? 'unknown',
    address: `namespace ${namespace}`,
  }));
}

function healthOfPart(
  otherwise: ServiceStatus['state'],
  trouble: string | undefined,
): Pick<ServiceStatus, 'state' | 'reason'> {
  return trouble === undefined ? { state: 'healthy' } : { state: otherwise, reason: trouble };
}

/** bke start is for the local services: what else somebody stopped, init starts. */
function clusterHealth(
  unit: UnitState,
  name: string,
  trouble: string | undefined,
): Pick<ServiceStatus, 'state' | 'reason'> {
  const health = healthOf(unit, trouble);
  return health.state === 'stopped' ? { state: 'stopped', reason: `bke init starts ${name}` } : health;
}

interface Found {
  readonly version?: string | undefined;
  readonly trouble?: string | undefined;
  readonly parts: readonly ServiceStatus[];
}

/** undefined where this account may not ask. */
async function askCluster(
  host: Host,
  reach: Reach,
  { parts, now }: { readonly parts: Parts; readonly now: Date },
): Promise<Found | undefined> {
  try {
    return await reach(host, async (client) => ({
      version: textAt(await client.request('GET', '/version', { timeoutMs: askMs }), 'gitVersion'),
      trouble: await troubleOf(client, parts),
      parts: [...(await nodesOf(client, parts)), ...(await managersOf(client, now))],
    }));
  } catch (thrown) {
    const error = toError(thrown);
    if (errorField(error.cause, 'code') === 'EACCES') return undefined;
    return { trouble: error.message, parts: [] };
  }
}

/** What the API server itself says where it is not ready; else of the programs beside it. */
async function troubleOf(client: KubeClient, { systemTrouble: ofSystem }: Parts): Promise<string | undefined> {
  try {
    await client.request('GET', '/readyz', { timeoutMs: askMs });
    const dns = async (): Promise<string | undefined> => {
      const trouble = await dnsTrouble(client);
      return trouble === undefined ? undefined : `coredns: ${trouble}`;
    };
    return (await ofSystem(client)) ?? (await dns());
  } catch (thrown) {
    return toError(thrown).message;
  }
}

async function nodesOf(client: KubeClient, { kubeconfig }: Parts): Promise<ServiceStatus[]> {
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Node' });
  return items.map((node) => nodeStatus(node, kubeconfig));
}

function nodeStatus(node: KubeObject, kubeconfig: string): ServiceStatus {
  const address = listAt(node, 'status', 'addresses').find((entry) => textAt(entry, 'type') === 'InternalIP');
  return {
    name: `node/${node.metadata.name}`,
    ...healthOfPart('unhealthy', nodeTrouble(node) ?? whyNoPods(node, kubeconfig)),
    unit: '',
    version: textAt(node, 'status', 'nodeInfo', 'kubeletVersion') ?? 'unknown',
    address: textAt(address, 'address') ?? 'unknown',
  };
}
