// Options of commands that log in to the hosts of a cluster.yaml.
import { checkNames } from '../../lib/check-names.ts';
import type { OptionSpec } from '../../lib/command.ts';

export const acceptNewHostKeysOption: OptionSpec = {
  type: 'flag',
  name: 'accept-new-host-keys',
  summary: 'trust hosts that nothing is known about, and note their keys in ~/.ssh/known_hosts',
};

export const ignoreCheckOption: OptionSpec = {
  type: 'text',
  name: 'ignore-check',
  placeholder: 'NAME',
  choices: checkNames,
  repeatable: true,
  summary: 'leave a check out, besides those in spec.settings.ignoreChecks',
};

/** Of commands that look at hosts before they do anything. */
export const lookConnectionsOption: OptionSpec = {
  type: 'integer',
  name: 'connections',
  placeholder: 'N',
  default: 50,
  summary: 'hosts that are looked at at once',
};
