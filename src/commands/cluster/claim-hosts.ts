// Makes the hosts of a file its cluster's: by writes that fail where somebody else wrote meanwhile, so that of two creates at the same instant one gets a host.
import { isDeepStrictEqual } from 'node:util';
import { annotations } from '../../controllers/bkehost/host.ts';
import { hostLabels } from '../../cluster/render/names.ts';
import type { ClusterConfig } from '../../config/cluster/config.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { fieldAt, keyOf, listAt, textAt } from '../../kube/fields.ts';
import { BkeError } from '../../lib/errors.ts';
import { clustersOf, readExisting, refuseTaken, refuseTakenHosts, whyTaken } from './existing.ts';
import { fieldManager } from './field-manager.ts';

export type ClaimClient = Pick<KubeClient, 'get' | 'list' | 'create' | 'patch' | 'delete'>;

export interface Claim {
  readonly config: ClusterConfig;
  /** Id of the operation that is there already: by it others know that the cluster is being made. */
  readonly operation: string;
}

/** Controllers write conditions meanwhile: each is a conflict. */
const mostAttempts = 50;

/**
 * All of them, or none: each is as it was again where one is another cluster's. In the order of their names, so that of two creates with the same hosts
 * one has them all.
 * @param objects of the cluster. @throws BkeError BKE_HOST_TAKEN
 */
export async function claimHosts(client: ClaimClient, objects: readonly KubeObject[], claim: Claim): Promise<void> {
  const hosts = objects.filter(({ kind }) => kind === 'BKEHost');
  if (hosts.length === 0) return;
  const claimed = new Map<string, Claimed>();
  try {
    for (const host of hosts.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
      await claimHost(client, host, { claim, claimed });
    }
    // The same machines may have been claimed by other names, or in another namespace.
    refuseTaken(claim.config, await readExisting(client, claim.config));
  } catch (thrown) {
    for (const host of claimed.values()) await giveBack(client, host).catch(() => undefined);
    throw thrown;
  }
}

/** A host that this claim has written. */
interface Claimed {
  readonly after: KubeObject;
  /** undefined: it was not there. */
  readonly before: KubeObject | undefined;
}

interface Claiming {
  readonly claim: Claim;
  /** By name. Gathers what is written. */
  readonly claimed: Map<string, Claimed>;
}

async function claimHost(client: ClaimClient, wanted: KubeObject, { claim, claimed }: Claiming): Promise<void> {
  const { name } = wanted.metadata;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const there = await client.get(keyOf(wanted));
      if (there === undefined) {
        claimed.set(name, { after: await client.create(bareHost(wanted)), before: undefined });
        continue;
      }
      const made = claimed.get(name);
      const isMade = made !== undefined && made.after.metadata.uid === there.metadata.uid;
      const after = await mark(client, there, { wanted, claim, isMade });
      if (after !== undefined) claimed.set(name, { after, before: isMade ? undefined : there });
      return;
    } catch (thrown) {
      if (!isRace(thrown) || attempt >= mostAttempts) throw thrown;
    }
  }
}

/** Without its login nobody dials it: its Secret comes after it. */
function bareHost({ apiVersion, kind, metadata, spec }: KubeObject): KubeObject {
  const { name, namespace, labels } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(labels === undefined ? {} : { labels }) },
    spec: { address: fieldAt(spec, 'address'), roles: fieldAt(spec, 'roles') },
  };
}

/** A host that is claimed and not written yet. */
export function isBare(host: KubeObject): boolean {
  return host.kind === 'BKEHost' && fieldAt(host, 'spec', 'ssh') === undefined;
}

/**
 * The name of the operation goes along: who read the host before, and found that its cluster is not there, cannot write it any more, and finds the operation
 * when he reads again.
 */
async function mark(
  client: ClaimClient,
  there: KubeObject,
  { wanted, claim, isMade }: { readonly wanted: KubeObject; readonly claim: Claim; readonly isMade: boolean },
): Promise<KubeObject | undefined> {
  const { config, operation } = claim;
  const { metadata } = there;
  await refuseOthers(client, there, config);
  const isOurs = metadata.labels?.[hostLabels.cluster] === config.name;
  if (isOurs && !isMade && metadata.annotations?.[annotations.asked] === operation) return undefined;
  const patch = {
    metadata: {
      resourceVersion: metadata.resourceVersion,
      labels: wanted.metadata.labels,
      annotations: { [annotations.asked]: operation },
      ...(isMade ? { managedFields: asApplied(there) } : {}),
    },
  };
  return client.patch(keyOf(there), patch, { type: 'merge', fieldManager });
}

async function refuseOthers(client: ClaimClient, host: KubeObject, { namespace, name }: ClusterConfig): Promise<void> {
  const isOurs = host.metadata.labels?.[hostLabels.cluster] === name;
  // Read after the host: whoever marks it has opened an operation before.
  refuseTakenHosts(name, whyTaken(host, name, isOurs ? new Set() : await clustersOf(client, namespace)));
}

/** What was created is another manager's than what is applied, and stays where an apply leaves it out (a role): from now on it is the apply's. */
function asApplied(host: KubeObject): unknown[] {
  return listAt(host, 'metadata', 'managedFields').map((entry) =>
    textAt(entry, 'operation') === 'Update' && fieldAt(entry, 'fieldsV1', 'f:spec', 'f:address') !== undefined
      ? { ...Object(entry), manager: fieldManager, operation: 'Apply' }
      : entry,
  );
}

/** Unless somebody has gone on with it: whoever makes the same cluster too has claimed nothing where this had done it for him. */
async function giveBack(client: ClaimClient, { after, before }: Claimed): Promise<void> {
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const now = await client.get(keyOf(after));
    if (now === undefined || !isAsClaimed(now, after)) return;
    const { uid = '', resourceVersion = '' } = now.metadata;
    try {
      if (before === undefined) await client.delete(keyOf(now), { uid, resourceVersion });
      else await client.patch(keyOf(now), asBefore(now, before), { type: 'merge', fieldManager });
      return;
    } catch (thrown) {
      if (!isRace(thrown)) throw thrown;
    }
  }
}

function isAsClaimed(now: KubeObject, after: KubeObject): boolean {
  const same = (...path: string[]): boolean => isDeepStrictEqual(fieldAt(now, ...path), fieldAt(after, ...path));
  return same('metadata', 'uid') && same('spec') && same('metadata', 'labels') && same('metadata', 'annotations');
}

function asBefore({ metadata }: KubeObject, before: KubeObject): object {
  const [labels, annotations] = (['labels', 'annotations'] as const).map((field) => {
    const names = Object.keys(metadata[field] ?? {});
    return Object.fromEntries(names.map((name) => [name, before.metadata[field]?.[name] ?? null]));
  });
  return { metadata: { resourceVersion: metadata.resourceVersion, labels, annotations } };
}

function isRace(thrown: unknown): boolean {
  return thrown instanceof BkeError && thrown.code === 'BKE_KUBE_CONFLICT';
}
