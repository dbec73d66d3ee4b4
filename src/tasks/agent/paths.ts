// Where the agent of a host keeps what is its own.
import { defaultStateDir } from '../../host/ledger/ledger.ts';

const stateDir = `${defaultStateDir}/agent`;

export const agentUnit = 'bke-agent.service';
/** As its claim on the lock of the host has it. */
export const agentCommand = 'bke agent run';

export const agentPaths = {
  /** 0700; a zone: what the agent puts there goes with it. */
  stateDir,
  /** 0600, as all below. */
  config: `${stateDir}/config.json`,
  token: `${stateDir}/token`,
  /** Whether it speaks with the cluster, for `bke agent install` and people. */
  contact: `${stateDir}/contact.json`,
  /** The command that runs or ran last, whole. */
  command: `${stateDir}/command.json`,
  /** One line for each command that was ever taken. */
  taken: `${stateDir}/commands.jsonl`,
  /** Files of steps by digest; a zone of the node: it goes when the host leaves its cluster. */
  artifacts: `${defaultStateDir}/artifacts`,
} as const;
