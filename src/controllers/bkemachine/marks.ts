// What controllers note on objects beside their fields, because it must outlive a move, which drops every status.

export const hostAnnotations = {
  /** Which cluster it was prepared for before a machine had it. */
  preparedFor: 'bke.io/prepared-for',
  /** Which cluster had a node on it last. */
  lastCluster: 'bke.io/last-cluster',
  /** Name of the Machine whose BKEMachine has it: free only when that is gone. */
  machine: 'bke.io/machine',
  /** Id of the claim whose clean-up the agent has confirmed. */
  cleaned: 'bke.io/cleaned',
} as const;

export const machineAnnotations = {
  /** Content of the order that its host was prepared by. */
  prepared: 'bke.io/prepared',
  /** Id of the claim whose host has become a node. */
  bootstrapped: 'bke.io/bootstrapped',
  /** Lets a machine go although its host could not be cleaned: the host goes into quarantine. For hosts that are gone for good. */
  forceRelease: 'bke.io/force-release',
} as const;

/** Holds a BKEMachine back from going until its host is clean. */
export const machineFinalizer = 'bkemachine.infrastructure.cluster.x-k8s.io';
