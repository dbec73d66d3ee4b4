// The ground that a cluster stands on: its endpoint, and the host that its control plane begins on.
import { bkeCluster as bkeClusterSchema } from '../../api/kinds/bke-cluster.ts';
import { unsupportedIn } from '../../cluster/unsupported.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, numberAt, textAt } from '../../kube/fields.ts';
import { type HostName, objectName, viewOf } from '../bkehost/host.ts';
import { failureReasons } from '../bkemachine/conditions.ts';
import { bkeClusterKind, keyIn } from '../cluster-objects.ts';
import { no, unknown, type Verdict, yes } from '../conditions.ts';
import type { Giving } from '../host-command/give.ts';
import {
  type AheadOptions,
  chooseFirst,
  type FirstChoice,
  type Pool,
  poolsOf,
  prepareFirst,
  prepareOthers,
} from './ahead.ts';
import type { Around } from './around.ts';
import { clusterAnnotations, fieldManager } from './marks.ts';
import type { Members } from './members.ts';
import { applyMarks, isMarked } from './own-fields.ts';

const defaultPort = 6443;
/** A host may become free without anybody telling. */
const hostPollMs = 10_000;

export interface GroundOptions {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'patch'>;
  readonly around: Around;
  readonly giving: (host: HostName) => Giving;
}

/** How far the infrastructure is. */
export interface Ground {
  readonly object: KubeObject;
  readonly provisioned: boolean;
  readonly endpoint: Verdict;
  readonly firstHost: Verdict;
  /** Name of the first control plane's host, while it is prepared. */
  readonly host?: string;
  readonly waitMs?: number | undefined;
}

export class Groundwork {
  readonly #options: GroundOptions;

  constructor(options: GroundOptions) {
    this.#options = options;
  }

  /** Endpoint, and the first control plane's host: with both, the infrastructure is there. */
  async groundOf(bkeCluster: KubeObject, cluster: KubeObject): Promise<Ground> {
    const pools = poolsOf(this.#options.around, cluster);
    const first = pools.find(({ controlPlane }) => controlPlane);
    const isKnown = isMarked(bkeCluster, clusterAnnotations.provisioned);
    const isWanted = first !== undefined && !isKnown;
    const choice = isWanted ? chooseFirst(first, this.#aheadOptions(bkeCluster, cluster)) : undefined;
    const single = first?.replicas === 1;
    const { object, endpoint } = await this.#endpoint(bkeCluster, cluster, { host: choice?.host, single });
    const base = { object, endpoint, provisioned: isKnown };
    if (cluster.metadata.deletionTimestamp !== undefined) return { ...base, firstHost: unknown('Deleting', '') };
    const ahead = this.#aheadOptions(object, cluster);
    if (isKnown) {
      await prepareOthers(
        pools.filter((pool) => !pool.controlPlane || pool.replicas > 1),
        ahead,
      );
      return { ...base, firstHost: yes('Prepared') };
    }
    return this.#begin(base, { pools, first, choice, ahead });
  }

  async #begin(
    base: Omit<Ground, 'firstHost'>,
    {
      pools,
      first,
      choice,
      ahead,
    }: {
      readonly pools: readonly Pool[];
      readonly first: Pool | undefined;
      readonly choice: FirstChoice | undefined;
      readonly ahead: AheadOptions;
    },
  ): Promise<Ground> {
    const refused = unsupportedVerdict(base.object);
    if (refused !== undefined) return { ...base, firstHost: refused };
    // Whoever makes the control plane is not kubeadm, or comes later.
    if (first === undefined || choice === undefined) return { ...base, firstHost: noControlPlane };
    if (choice.host === undefined) {
      // What is wrong with that one keeps no other from being prepared.
      await prepareOthers(pools, ahead);
      return { ...base, firstHost: choice.why, waitMs: hostPollMs };
    }
    const { verdict, waitMs } = await prepareFirst(choice.host, first, ahead);
    await prepareOthers(pools, ahead);
    return this.#begun({ ...base, firstHost: verdict, host: choice.host.metadata.name, waitMs });
  }

  /** Noted where all of it is there: it stays so. */
  async #begun(ground: Ground): Promise<Ground> {
    if (ground.firstHost.status !== 'True' || ground.endpoint.status !== 'True') return ground;
    const object = await applyMarks(this.#options.client, ground.object, { finalizer: true, provisioned: true });
    return { ...ground, object, provisioned: true };
  }

  /** Given by people, by the Cluster, or the address of the only control plane. */
  async #endpoint(
    object: KubeObject,
    cluster: KubeObject,
    { host, single }: { readonly host: KubeObject | undefined; readonly single: boolean },
  ): Promise<{ readonly object: KubeObject; readonly endpoint: Verdict }> {
    const known = endpointIn(object);
    if (known !== undefined) return { object, endpoint: yes('EndpointKnown', known) };
    const address = endpointOf(cluster, single ? host : undefined);
    if (address === undefined) {
      const why = single
        ? 'it will be the address of the control plane host, and none is chosen yet'
        : 'several control planes need one: set spec.controlPlaneEndpoint and spec.loadBalancer';
      return { object, endpoint: no(single ? 'WaitingForHost' : 'EndpointNeeded', why) };
    }
    const { namespace, name } = objectName(object);
    // Somebody who gives one meanwhile is not overwritten.
    const { resourceVersion } = object.metadata;
    const patch = { metadata: { resourceVersion }, spec: { controlPlaneEndpoint: address } };
    const key = keyIn(namespace, bkeClusterKind, name);
    const after = await this.#options.client.patch(key, patch, { type: 'merge', fieldManager });
    return { object: after, endpoint: yes('EndpointKnown', endpointIn(after) ?? '') };
  }

  #aheadOptions(bkeCluster: KubeObject, cluster: KubeObject): AheadOptions {
    const balanced = textAt(bkeCluster, 'spec', 'loadBalancer') !== undefined;
    const endpoint =
      textAt(bkeCluster, 'spec', 'controlPlaneEndpoint', 'host') ??
      textAt(cluster, 'spec', 'controlPlaneEndpoint', 'host');
    return {
      client: this.#options.client,
      around: this.#options.around,
      cluster,
      bkeCluster,
      endpoint: balanced ? undefined : endpoint,
      giving: this.#options.giving,
    };
  }
}

const noControlPlane = no(
  'WaitingForControlPlane',
  'there is no KubeadmControlPlane with a version and a BKEMachineTemplate yet',
);

/** Add-ons that can't be had hold no cluster up: the controller of add-ons tells of them. */
function unsupportedVerdict(object: KubeObject): Verdict | undefined {
  const spec = bkeClusterSchema.shape.spec.safeParse(object['spec']).data;
  const found = spec === undefined ? [] : unsupportedIn({ ...spec, addons: [] });
  if (found.length === 0) return undefined;
  return no('SettingUnsupported', found.map(({ field, message }) => `${field}: ${message}`).join('\n'));
}

/** host:port */
function endpointIn(object: KubeObject): string | undefined {
  const host = textAt(object, 'spec', 'controlPlaneEndpoint', 'host');
  return host === undefined ? undefined : `${host}:${numberAt(object, 'spec', 'controlPlaneEndpoint', 'port') ?? 0}`;
}

function endpointOf(cluster: KubeObject, host: KubeObject | undefined): object | undefined {
  const given = fieldAt(cluster, 'spec', 'controlPlaneEndpoint');
  if (typeof given === 'object' && given !== null && textAt(given, 'host') !== undefined) return given;
  if (host === undefined) return undefined;
  const port = numberAt(cluster, 'spec', 'clusterNetwork', 'apiServerPort') ?? defaultPort;
  return { host: viewOf(host).spec.address, port };
}

function firstWait({ endpoint, firstHost }: Ground): Verdict {
  return endpoint.status === 'True' ? firstHost : firstHost.status === 'True' ? endpoint : firstHost;
}

/** Before there is a ground, machines have nothing to tell. */
export function groundTrouble(ground: Ground): Partial<Pick<Members, 'failed' | 'waits'>> {
  if (ground.provisioned) return {};
  const { reason, message } = firstWait(ground);
  const trouble = { host: ground.host, message };
  return failureReasons.has(reason) ? { failed: [trouble], waits: trouble } : { waits: trouble };
}

export function readyOf(ground: Ground): Verdict {
  if (ground.provisioned) return yes('Provisioned');
  const { reason, message } = firstWait(ground);
  return no(reason, message);
}
