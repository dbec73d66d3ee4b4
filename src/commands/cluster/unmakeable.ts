// What no controller could make of a cluster.yaml that is right as a file: told before anything is touched.
import { bkeClusterSpec } from '../../cluster/render/cluster.ts';
import { unsupportedIn } from '../../cluster/unsupported.ts';
import type { ClusterConfig, LoginConfig } from '../../config/cluster/config.ts';
import { BkeError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';

/** @throws BkeError BKE_SETTING_UNSUPPORTED with each field, BKE_SSH_AGENT_ONLY with each host */
export function refuseUnmakeable(config: ClusterConfig): void {
  const found = unsupportedIn(bkeClusterSpec(config));
  if (found.length > 0) {
    throw new BkeError('BKE_SETTING_UNSUPPORTED', 'the file asks for what this bke does not do', {
      details: found.map(({ field, message }) => `${field}: ${message}`),
      hint: 'Nothing was touched. Change these fields and run the same command again.',
    });
  }
  refuseAgentLogins(config);
}

/** Hosts that only a person's SSH agent can log in to cannot be brought up by a controller. */
function refuseAgentLogins({ hosts }: Pick<ClusterConfig, 'hosts'>): void {
  const details = hosts.flatMap(({ name, ssh }) => agentFields(ssh, 'ssh').map((field) => `${name}: ${field}.agent`));
  if (details.length === 0) return;
  const count = new Set(details.map((line) => line.split(':')[0])).size;
  throw new BkeError(
    'BKE_SSH_AGENT_ONLY',
    `${plural(count, 'host')} can be logged in to with an SSH agent only, and the controller has none`,
    { details, hint: 'Name a key or a password there: privateKeyFile or passwordFile.' },
  );
}

function agentFields({ agent, bastion }: LoginConfig, field: string): string[] {
  const below = bastion === undefined ? [] : agentFields(bastion, `${field}.bastion`);
  return agent === true ? [field, ...below] : below;
}
