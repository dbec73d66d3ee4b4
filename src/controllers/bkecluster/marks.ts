// What the controller of clusters notes on a BKECluster beside its fields, because it must outlive a move, which drops every status.

export const clusterAnnotations = {
  /** Its first control plane host was prepared. */
  provisioned: 'bke.io/provisioned',
  /** All of its first nodes have joined: what comes after is no installation any more. */
  installed: 'bke.io/installed',
  /** Lets hosts that were prepared for it go into quarantine where they cannot be cleaned. */
  forceRelease: 'bke.io/force-release',
} as const;

export const clusterFinalizer = 'bkecluster.infrastructure.cluster.x-k8s.io';

export const fieldManager = 'bke-controller-clusters';
