// What an agent is told, complete and plain.
import type { AgentConfig } from '../../src/api/agent-config.ts';

const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

export const testAgentConfig: AgentConfig = {
  host: 'w1',
  namespace: 'bke',
  servers: ['https://10.0.0.5:6443'],
  ca: certificate,
  token: 'canary-token-of-the-agent',
  site: {
    domain: 'bke.local',
    hostIP: '10.0.0.5',
    ports: { registry: 40_443, files: 40_080, charts: 38_080 },
    ca: certificate,
  },
};
