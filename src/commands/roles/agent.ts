// bke agent run and install: a host's agent as a process, and how it gets there; systemd and the controller type these, people do not.
import type { Command } from '../context.ts';

export const agentRun: Command = {
  path: ['agent', 'run'],
  group: 'roles',
  hidden: true,
  summary: "Run this host's agent",
  description:
    'Carries out what the HostCommand of this host says, step by step, and tells how far it is. What was begun goes on after a restart of the agent or of the host. One JSON line per event goes to standard output.',
  examples: [{ command: 'bke agent run', says: 'as bke-agent.service does' }],
  options: [],
  output: [],
  run: async (context) => {
    const { runAgentRole } = await import('./agent-handler.ts');
    return runAgentRole(context);
  },
};

export const agentInstall: Command = {
  path: ['agent', 'install'],
  group: 'roles',
  hidden: true,
  summary: "Install this host's agent",
  description:
    'Reads as JSON on standard input which cluster the agent is of and by which token it is known there. Leaves this bke, its unit bke-agent.service, the name and the CA of the site; waits until the cluster has heard the agent. Done again with the same input it changes nothing.',
  examples: [
    { command: 'bke agent install', says: 'with what it is told on standard input, as the controller does over SSH' },
  ],
  options: [{ type: 'flag', name: 'dry-run', summary: 'show what would be done, and do nothing' }],
  output: [],
  run: async (context, input) => {
    const { installAgent } = await import('./agent-install-handler.ts');
    return installAgent(context, input);
  },
};
