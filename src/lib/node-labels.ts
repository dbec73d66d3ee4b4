// Labels and taints that a node may be given: the syntax of Kubernetes (apimachinery validation), and the names that are not ours to set.
import { isDnsName } from './dns-name.ts';
import { truncate } from './text.ts';

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: (typeof taintEffects)[number];
}

const namePart = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;

/** Of Kubernetes' own names those that a kubelet may set on its node (k8s.io/kubelet/pkg/apis/well_known_labels.go), … */
const kubeletMaySet = new Set([
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
]);
const kubeletDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

/** … and those that it sets by itself. */
const setByKubelet = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);

/** What is wrong with the key of a label or taint: `name` or `domain/name`. */
export function qualifiedNameProblem(key: string): string | undefined {
  const parts = key.split('/');
  const [name = '', domain] = parts.toReversed();
  const shown = JSON.stringify(truncate(key, 80));
  if (parts.length > 2) return `${shown} has more than one /`;
  if (domain !== undefined && !isDnsName(domain)) return `the part of ${shown} before the / is no DNS name`;
  if (namePart.test(name)) return undefined;
  return `the name in ${shown} must have 1 to 63 letters, digits and - _ . and begin and end with a letter or digit`;
}

export function labelValueProblem(value: string): string | undefined {
  if (value === '' || namePart.test(value)) return undefined;
  return `${JSON.stringify(truncate(value, 80))} is no label value: at most 63 letters, digits and - _ . that begin and end with a letter or digit`;
}

/** Why a kubelet may not set this label on its own node: it would be refused (NodeRestriction) or not start. */
export function reservedLabelProblem(key: string): string | undefined {
  const domain = domainOf(key);
  if (setByKubelet.has(key)) return `${key} is set by the kubelet itself`;
  if (domain === 'node-role.kubernetes.io') return `${key} follows from 'roles' and cannot be a label`;
  if (!isBelow(domain, 'kubernetes.io') && !isBelow(domain, 'k8s.io')) return undefined;
  if (kubeletMaySet.has(key) || kubeletDomains.some((allowed) => isBelow(domain, allowed))) return undefined;
  return `${key} is reserved: a node may not give itself labels of ${domain}; use a domain of your own`;
}

/** Why a taint cannot be set by a configuration: Kubernetes and Cluster API set and remove it themselves. */
export function reservedTaintProblem(key: string): string | undefined {
  const domain = domainOf(key);
  const reserved = ['node.kubernetes.io', 'node.cloudprovider.kubernetes.io', 'node.cluster.x-k8s.io'].includes(domain);
  return reserved ? `${key} is set and removed by Kubernetes itself` : undefined;
}

function domainOf(key: string): string {
  return key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
}

function isBelow(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
