// Options of all commands that talk to a management cluster.
import type { OptionSpec } from '../lib/command.ts';

export const kubeconfigOption: OptionSpec = {
  type: 'path',
  name: 'kubeconfig',
  placeholder: 'FILE',
  summary: 'of the management cluster (default: the bootstrap cluster of this host)',
};

export const namespaceOption: OptionSpec = {
  type: 'namespace',
  name: 'namespace',
  short: 'n',
  placeholder: 'NAME',
  default: 'bke',
  summary: 'namespace of the clusters and hosts',
};

export const allNamespacesOption: OptionSpec = {
  type: 'flag',
  name: 'all-namespaces',
  short: 'A',
  summary: 'of every namespace',
};
