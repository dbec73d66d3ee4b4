// Which host a machine gets: the same answer for the same hosts, and where there is none, why not. Pure.
import type { BKEHostSpec } from '../../api/kinds/bke-host.ts';
import { hostLabels } from '../../cluster/render/names.ts';
import type { KubeObject } from '../../kube/client.ts';
import { conditionOf, conditionWords } from '../../kube/conditions.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import { isPaused, viewOf } from '../bkehost/host.ts';
import { hostAnnotations } from './marks.ts';

export interface Wanted {
  readonly namespace: string;
  readonly cluster: string;
  readonly controlPlane: boolean;
  readonly matchLabels: Readonly<Record<string, string>>;
  /** The only one that may be. */
  readonly hostRef?: string | undefined;
  /** Without a load balancer the cluster is reached at one host, which has to be the control plane. */
  readonly endpoint?: string | undefined;
}

export type Choice =
  | { readonly host: KubeObject }
  /** A line for each host that would fit, and why it can't be had; empty where none would. */
  | { readonly host: undefined; readonly why: readonly string[] };

/** @param taken names of hosts that were claimed a moment ago, which `hosts` does not show yet */
export function chooseHost(
  hosts: readonly KubeObject[],
  wanted: Wanted,
  taken: ReadonlySet<string> = new Set(),
): Choice {
  const [best] = chooseHosts(hosts, wanted, taken);
  if (best !== undefined) return { host: best };
  const fitting = fittingHosts(hosts, wanted);
  return {
    host: undefined,
    why: fitting.map((host) => `${host.metadata.name}: ${whyNot(host, wanted, taken) ?? 'free'}`).sort(),
  };
}

/** All that may be claimed, the best one first. */
export function chooseHosts(
  hosts: readonly KubeObject[],
  wanted: Wanted,
  taken: ReadonlySet<string> = new Set(),
): KubeObject[] {
  const free = fittingHosts(hosts, wanted).filter((host) => whyNot(host, wanted, taken) === undefined);
  return free.toSorted((a, b) => rank(a, wanted) - rank(b, wanted) || (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Whether it is of the kind that is wanted, free or not. */
function fittingHosts(hosts: readonly KubeObject[], wanted: Wanted): KubeObject[] {
  const fitting = hosts.filter((host) => fits(host, wanted));
  if (!wanted.controlPlane || wanted.endpoint === undefined) return fitting;
  const { endpoint } = wanted;
  const atEndpoint = fitting.filter((host) => {
    const { address, nodeIP } = specOf(host);
    return address === endpoint || nodeIP === endpoint;
  });
  // A name, or an address in front of the hosts: whoever gave it knows where it leads.
  return atEndpoint.length === 0 ? fitting : atEndpoint;
}

function fits(host: KubeObject, { namespace, controlPlane, matchLabels, hostRef, cluster }: Wanted): boolean {
  const { metadata } = host;
  if (metadata.namespace !== namespace || (hostRef ?? metadata.name) !== metadata.name) return false;
  // What was brought to it for another cluster is not taken off yet.
  if ((textAt(metadata.annotations, hostAnnotations.preparedFor) ?? cluster) !== cluster) return false;
  const roles = specOf(host).roles ?? [];
  return roles.includes(controlPlane ? 'control-plane' : 'worker') && hasLabels(host, matchLabels);
}

function hasLabels({ metadata: { labels = {} } }: KubeObject, wanted: Wanted['matchLabels']): boolean {
  return Object.entries(wanted).every(([label, value]) => labels[label] === value);
}

function specOf(host: KubeObject): Partial<BKEHostSpec> {
  return fieldAt(host, 'spec') === undefined ? {} : viewOf(host).spec;
}

/** undefined: it may be claimed. */
function whyNot(host: KubeObject, { cluster }: Wanted, taken: ReadonlySet<string>): string | undefined {
  const owner = host.metadata.labels?.[hostLabels.cluster] ?? cluster;
  if (owner !== cluster) return `its label ${hostLabels.cluster} keeps it for the cluster ${owner}`;
  const { consumerRef } = specOf(host);
  if (consumerRef !== undefined) return `${consumerRef.namespace}/${consumerRef.name} has it`;
  if (taken.has(host.metadata.name)) return 'another machine has just taken it';
  if (host.metadata.deletionTimestamp !== undefined || isPaused(host)) return 'it is going or paused';
  return heldBack(specOf(host)) ?? notAvailable(host);
}

function heldBack({ quarantine, cleanUpPending, services, maintenance }: Partial<BKEHostSpec>): string | undefined {
  if (quarantine !== undefined) return `in quarantine: ${quarantine.reason}`;
  if (cleanUpPending === true) return 'not proven to be clean';
  if (services === true) return 'it carries the local services';
  return maintenance === undefined ? undefined : `in maintenance: ${maintenance.reason}`;
}

function notAvailable(host: KubeObject): string | undefined {
  const available = conditionOf(host, 'Available');
  if (available?.status === 'True') return undefined;
  if (available === undefined) return 'nothing is known of it yet';
  const [line = ''] = available.message.split('\n');
  return conditionWords({ reason: available.reason, message: line }).slice(0, 300);
}

/** A host that was prepared for the cluster or had a node of it before has its programs and images already. */
function rank(host: KubeObject, { cluster }: Wanted): number {
  const { preparedFor, lastCluster } = hostAnnotations;
  if (textAt(host.metadata.annotations, preparedFor) === cluster) return 0;
  return textAt(host.metadata.annotations, lastCluster) === cluster ? 1 : 2;
}
