// How what belongs to no host is told of among the hosts of an operation.

/** Of the entry in the status for what belongs to no host: no host can be named so. */
export function clusterEntry(cluster: string): string {
  return `cluster/${cluster}`;
}

/** Its first step: that all of the cluster is there. */
export const resourcesStep = 'cluster/resources';
