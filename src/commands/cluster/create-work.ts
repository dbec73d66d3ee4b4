// Makes a cluster in a management cluster: for `bke cluster create`, and for `bke init` with a cluster.yaml.
import { renderCluster } from '../../cluster/render/cluster.ts';
import { sshSecretName } from '../../cluster/render/names.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import { readNamedFiles } from '../../config/cluster/named-files.ts';
import { plural } from '../../lib/text.ts';
import type { SshTarget } from '../../host/ssh/target.ts';
import { defaultNamespace } from '../../config/cluster/defaults.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { pendingOf } from '../../kube/pending.ts';
import { BkeError } from '../../lib/errors.ts';
import { clustersNamespaceObjects } from '../../tasks/cluster-api/clusters-namespace.ts';
import type { CommandContext } from '../context.ts';
import { askForNewKeys, hostTargets, type LoadedHosts } from '../host/access.ts';
import { throwUnlessDone } from '../../operations/local-operation.ts';
import { lookAtHosts } from '../host/look.ts';
import { withManagement } from '../management.ts';
import { refuseUnknownAddons } from './unknown-addons.ts';
import { refuseUnmakeable } from './unmakeable.ts';
import { type Existing, isInUse, readExisting, refuseConflicts } from './existing.ts';
import { isWell, tellNothingToDo, worldNow } from './nothing-to-do.ts';
import { refuseOtherShape } from './other-shape.ts';
import { keysOfHosts, knownKeys, withHostKeys } from './host-keys.ts';
import { refuseSameMachines } from './same-machine.ts';
import { carryOut, joinCreate } from './carry-out.ts';
import { fieldManager } from './field-manager.ts';
import { tellPlan } from './create-plan.ts';
import { imagesOf, readCatalogues } from './release.ts';

export interface CreateOptions {
  readonly dryRun: boolean;
  /** Trusts hosts that nothing is known about. */
  readonly acceptAll: boolean;
  readonly ignoredChecks: readonly string[];
  readonly connections: number;
  /** As it was typed; undefined: of the bootstrap cluster of this host. */
  readonly kubeconfig: string | undefined;
}

/** @throws BkeError of whatever is in the way; what the operation failed with */
export async function createCluster(
  context: CommandContext,
  loaded: LoadedHosts,
  options: CreateOptions,
): Promise<void> {
  refuseUnmakeable(loaded.config);
  await withManagement(context, options.kubeconfig, (client) => make(context, client, { loaded, options }));
}

interface Wanted {
  readonly loaded: LoadedHosts;
  readonly options: CreateOptions;
}

async function make(context: CommandContext, client: KubeClient, wanted: Wanted): Promise<void> {
  const { loaded, options } = wanted;
  const { config } = loaded;
  const catalogues = await readCatalogues(client);
  const images = imagesOf(config, catalogues);
  refuseUnknownAddons(loaded, catalogues);
  const existing = await readExisting(client, config);
  refuseConflicts(config, existing);
  const files = await readNamedFiles(loaded.raw, loaded.place);
  // Before any host is asked and any key is trusted: what is refused here has nothing to do with them.
  refuseOtherShape(await worldNow(client, config), { loaded, objects: resourcesOf(config, { files, images }) });
  const known = await checkedHosts(context, wanted, existing);
  const objects = resourcesOf(known, { files, images }).filter((object) => !isDropped(object, config, existing));
  const pending = await pendingOf(client, objects, fieldManager);
  if (pending.length === 0 && (await isWell(context, client, config))) {
    const hosts = config.hosts.map(({ name }) => name);
    return tellNothingToDo(context, config, hosts);
  }
  if (options.dryRun) return tellPlan(context, client, { config, objects, pending, existing });
  const running = existing.operation?.metadata.name;
  if (running !== undefined) return joinCreate(context, client, { config, objects, pending, operation: running });
  for (const line of planLines(config, { isThere: existing.cluster !== undefined, pending: pending.length }))
    context.note(line);
  await carryOut(context, client, { config, objects });
}

/** Checks the hosts that are new, and puts into all of them the keys they are known by. @throws BkeError BKE_PREFLIGHT_FAILED, what a host could not be reached with */
async function checkedHosts(
  context: CommandContext,
  { loaded, options }: Wanted,
  existing: Existing,
): Promise<ClusterConfig> {
  const { config, name: file } = loaded;
  const { acceptAll, connections } = options;
  // Hosts of an operation that runs are its controllers' to look at: one that is half way would fail checks for a bare host.
  const inUse = (name: string): boolean =>
    existing.operation === undefined ? isInUse(existing.hosts.get(name)) : existing.hosts.has(name);
  const all = await hostTargets(context, loaded);
  const fresh = config.hosts.flatMap((host, index) => {
    const target = all[index];
    return target === undefined || inUse(host.name) ? [] : [{ host, target }];
  });
  const there = keysOfHosts([...existing.hosts.values()].filter(({ metadata }) => inUse(metadata.name)));
  const asked = withChecks(config, options.ignoredChecks);
  if (fresh.length === 0) return withHostKeys(asked, there);
  const targets = await askForNewKeys(
    context,
    fresh.map(({ target }) => target),
    { acceptAll, connections },
  );
  const hosts = fresh.flatMap(({ host }, index) => {
    const target = targets[index];
    return target === undefined ? [] : [{ host, target }];
  });
  const ignored = [...new Set([...options.ignoredChecks, ...config.settings.ignoreChecks])];
  const { checked, accepted } = await lookAtHosts(context, { config, file, hosts, ignored, acceptAll, connections });
  // Before what is wrong with it as a bare host: it is none.
  refuseSameMachines(config, existing, { facts: checked.found.facts, ignored });
  throwUnlessDone(checked.result);
  const found = await knownKeys(
    hosts.map(({ target }): SshTarget => target),
    accepted,
  );
  return withHostKeys(asked, new Map([...there, ...found]));
}

/** With `ssh.retain: false` the login goes when the agent is up: it is not to come back. */
function isDropped({ kind, metadata }: KubeObject, { hosts }: ClusterConfig, existing: Existing): boolean {
  const host = hosts.find(({ name }) => sshSecretName(name) === metadata.name);
  return kind === 'Secret' && host?.ssh.retain === false && isInUse(existing.hosts.get(host.name));
}

/** What is left out here is left out by the controller, which checks again. */
function withChecks(config: ClusterConfig, ignored: readonly string[]): ClusterConfig {
  const ignoreChecks = [...new Set([...config.settings.ignoreChecks, ...ignored])];
  return { ...config, settings: { ...config.settings, ignoreChecks } };
}

interface Sources {
  /** That the file names, with their contents. */
  readonly files: ReadonlyMap<string, string>;
  readonly images: ReturnType<typeof imagesOf>;
}

function resourcesOf(config: ClusterConfig, { files, images }: Sources): KubeObject[] {
  const { registry, namespace } = config;
  const registryCa = registry?.caFile === undefined ? undefined : files.get(registry.caFile);
  const resources = renderCluster(config, {
    resolve: (source) => ('value' in source ? source.value : fileText(files, source.file)),
    images,
    ...(registryCa === undefined ? {} : { registryCa }),
  });
  // `bke init` has made that of the default one.
  return [...(namespace === defaultNamespace ? [] : clustersNamespaceObjects(namespace)), ...resources];
}

function fileText(files: ReadonlyMap<string, string>, name: string): string {
  const text = files.get(name);
  if (text !== undefined) return text;
  throw new BkeError('BKE_CONFIG_INVALID', `${name} was not read`);
}

/** What is about to be made. */
export function planLines(
  config: ClusterConfig,
  { isThere, pending }: { readonly isThere: boolean; readonly pending: number },
): string[] {
  const { name, namespace, kubernetesVersion, controlPlaneEndpoint, hosts, network } = config;
  const count = (role: 'control-plane' | 'worker'): string =>
    hosts
      .flatMap((host) =>
        host.roles.includes('control-plane') === (role === 'control-plane') ? [`${host.name} (${host.address})`] : [],
      )
      .join(', ');
  const workers = count('worker');
  return [
    isThere
      ? `Cluster ${name} is ${pending === 0 ? 'written, and not all of it is well yet' : `half made; ${plural(pending, 'resource')} to write`}:`
      : `Cluster ${name}:`,
    `  version        Kubernetes ${kubernetesVersion}, network ${network.cni}`,
    `  endpoint       https://${controlPlaneEndpoint.host}:${controlPlaneEndpoint.port}`,
    `  control plane  ${count('control-plane')}`,
    ...(workers === '' ? [] : [`  workers        ${workers}`]),
    `  namespace      ${namespace} of the management cluster`,
    ...(isSingle(config) ? ['  One control plane without a load balancer can never become highly available.'] : []),
  ];
}

function isSingle({ hosts, loadBalancer }: ClusterConfig): boolean {
  return loadBalancer === undefined && hosts.filter(({ roles }) => roles.includes('control-plane')).length === 1;
}
