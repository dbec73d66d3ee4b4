// Options that several config commands take.
import type { OptionSpec } from '../../lib/command.ts';

export const fileOption: OptionSpec = {
  type: 'path',
  name: 'file',
  short: 'f',
  placeholder: 'FILE',
  required: true,
  summary: 'cluster.yaml or bootstrap.yaml',
};

export const noFilesOption: OptionSpec = {
  type: 'flag',
  name: 'files',
  default: true,
  summary: 'do not look at the keys, passwords and certificates that the file names',
};

export const configKinds = ['cluster', 'bootstrap'] as const;
