// Hosts are prepared before there are machines for them: the first control plane's, without which the infrastructure is not there, and all others
// while that one comes up. What a machine adds (its providerID) is little then.
import { coreLabels } from '../../cluster/render/names.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, numberAt, textAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { hostKey, type HostName, objectName, viewOf } from '../bkehost/host.ts';
import { chooseHost, chooseHosts, type Wanted } from '../bkemachine/choose.ts';
import { progressVerdict } from '../bkemachine/conditions.ts';
import { hostAnnotations } from '../bkemachine/marks.ts';
import { orderOrVerdict } from '../bkemachine/provision.ts';
import { bkeMachineTemplateKind, isControlPlane, referredName } from '../cluster-objects.ts';
import { no, type Verdict } from '../conditions.ts';
import type { Order } from '../host-command/command-id.ts';
import { fulfil, type Giving } from '../host-command/give.ts';
import { progressOf } from '../host-command/progress.ts';
import type { Around } from './around.ts';
import { fieldManager } from './marks.ts';

/** Machines that are to be alike: those of the control plane, or of one MachineDeployment. */
export interface Pool {
  /** Of the KubeadmControlPlane or MachineDeployment. */
  readonly name: string;
  readonly controlPlane: boolean;
  readonly replicas: number;
  readonly version: string;
  readonly matchLabels: Readonly<Record<string, string>>;
}

export interface AheadOptions {
  readonly client: Pick<KubeClient, 'get' | 'patch'>;
  readonly around: Around;
  readonly cluster: KubeObject;
  readonly bkeCluster: KubeObject;
  /** The address that the cluster is reached at, where that has to be its control plane's. */
  readonly endpoint: string | undefined;
  readonly giving: (host: HostName) => Giving;
}

export function poolsOf(around: Around, cluster: KubeObject): Pool[] {
  const controlPlane = around.controlPlaneOf(cluster);
  const deployments = around.deploymentsOf(objectName(cluster));
  const first = controlPlane === undefined ? [] : [poolOf(around, controlPlane, ['spec', 'machineTemplate', 'spec'])];
  return [...first, ...deployments.map((object) => poolOf(around, object, ['spec', 'template', 'spec']))].filter(
    (pool) => pool !== undefined,
  );
}

/** @param path of what machines are made by */
function poolOf(around: Around, object: KubeObject, path: readonly string[]): Pool | undefined {
  const version = textAt(object, 'spec', 'version') ?? textAt(object, ...path, 'version');
  const name = referredName(object, bkeMachineTemplateKind, ...path, 'infrastructureRef');
  const template = around.templateOf(object.metadata.namespace, name);
  if (version === undefined || template === undefined) return undefined;
  const labels = fieldAt(template, 'spec', 'template', 'spec', 'hostSelector', 'matchLabels');
  const entries = isMapping(labels)
    ? Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    : [];
  return {
    name: object.metadata.name,
    controlPlane: object.kind === 'KubeadmControlPlane',
    replicas: numberAt(object, 'spec', 'replicas') ?? 1,
    version,
    matchLabels: Object.fromEntries(entries),
  };
}

export type FirstChoice =
  | { readonly host: KubeObject }
  /** None can be had. */
  | { readonly host: undefined; readonly why: Verdict };

/** The host of the first control plane: the one that its machine will choose, too. */
export function chooseFirst(pool: Pool, options: AheadOptions): FirstChoice {
  const choice = chooseHost(options.around.hosts(), wantedOf(pool, options));
  if (choice.host !== undefined) return choice;
  const lines = choice.why.length === 0 ? ['no BKEHost has the labels and the role that are wanted'] : choice.why;
  const message = ['no host of the control plane is ready yet:', ...lines.slice(0, 20)].join('\n');
  return { host: undefined, why: no('NoHostAvailable', message) };
}

export interface FirstHost {
  /** True once it is prepared. */
  readonly verdict: Verdict;
  readonly waitMs?: number | undefined;
}

export async function prepareFirst(host: KubeObject, pool: Pool, options: AheadOptions): Promise<FirstHost> {
  const order = orderFor(host, pool, options);
  if ('status' in order) return { verdict: order };
  const { progress, waitMs } = await prepare(host, order, options);
  const words = { running: 'Preparing', failed: 'PrepareFailed', done: 'Prepared' };
  return { verdict: progressVerdict(progress, host.metadata.name, words), waitMs };
}

/** Begins with all that are not prepared and not at it; what fails is told where a machine claims the host. */
export async function prepareOthers(pools: readonly Pool[], options: AheadOptions): Promise<void> {
  const machines = options.around.machinesOf(objectName(options.cluster));
  // One host serves one pool: no pool counts on what another will take.
  const taken = new Set<string>();
  for (const pool of pools.toSorted(choosiestFirst)) {
    const has = machines.filter((machine) => isMachineOf(machine, pool)).length;
    const wanted = { ...wantedOf(pool, options), ...(pool.replicas > 1 ? { endpoint: undefined } : {}) };
    const hosts = chooseHosts(options.around.hosts(), wanted, taken).slice(0, Math.max(0, pool.replicas - has));
    for (const host of hosts) {
      taken.add(host.metadata.name);
      const order = orderFor(host, pool, options);
      if ('status' in order) continue;
      const seen = progressOf(options.around.commandOf(objectName(host)), order);
      if (seen.state === 'absent' || seen.state === 'failed') await tryToPrepare(host, order, options);
    }
  }
}

/** The control plane, then whoever wants most labels: the others have more to choose from. */
function choosiestFirst(a: Pool, b: Pool): number {
  const order = Number(b.controlPlane) - Number(a.controlPlane);
  return order === 0 ? Object.keys(b.matchLabels).length - Object.keys(a.matchLabels).length : order;
}

function isMachineOf(machine: KubeObject, { controlPlane, name }: Pool): boolean {
  if (controlPlane || isControlPlane(machine)) return controlPlane && isControlPlane(machine);
  return machine.metadata.labels?.[coreLabels.deployment] === name;
}

/** One host that cannot be told anything holds nobody else up. */
async function tryToPrepare(host: KubeObject, order: Order, options: AheadOptions): Promise<void> {
  try {
    await prepare(host, order, options);
  } catch (thrown) {
    if (!(thrown instanceof BkeError)) throw thrown;
  }
}

function wantedOf({ controlPlane, matchLabels }: Pool, { cluster, endpoint }: AheadOptions): Wanted {
  const { namespace, name } = objectName(cluster);
  return { namespace, cluster: name, controlPlane, matchLabels, endpoint };
}

function orderFor(
  host: KubeObject,
  { version, controlPlane }: Pool,
  { around, bkeCluster }: AheadOptions,
): Order | Verdict {
  const arch = textAt(host, 'status', 'facts', 'arch');
  return orderOrVerdict(around.site, { host: viewOf(host), arch, version, controlPlane, bkeCluster });
}

async function prepare(host: KubeObject, order: Order, options: AheadOptions): ReturnType<typeof fulfil> {
  const { client, cluster } = options;
  const name = objectName(host);
  // A machine that claims the host in between writes its own command, which then is a conflict.
  const mayGive = async (): Promise<boolean> => {
    const now = await client.get(hostKey(name));
    if (now === undefined || fieldAt(now, 'spec', 'consumerRef') !== undefined) return false;
    await markPrepared(client, now, cluster.metadata.name);
    return true;
  };
  return fulfil(options.giving(name), order, mayGive);
}

/** Before anything is brought to it: whoever deletes the cluster takes it off again. */
async function markPrepared(client: Pick<KubeClient, 'patch'>, host: KubeObject, cluster: string): Promise<void> {
  if (host.metadata.annotations?.[hostAnnotations.preparedFor] === cluster) return;
  const { resourceVersion } = host.metadata;
  const annotations = { [hostAnnotations.preparedFor]: cluster };
  await client.patch(
    hostKey(objectName(host)),
    { metadata: { resourceVersion, annotations } },
    { type: 'merge', fieldManager },
  );
}
