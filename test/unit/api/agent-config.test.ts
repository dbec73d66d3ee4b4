import { describe, expect, it } from 'vitest';
import { agentConfig, agentObjects } from '../../../src/api/agent-config.ts';
import { testAgentConfig } from '../../fakes/agent-config.ts';

describe('what an agent is told', () => {
  it('is taken as it is', () => {
    expect(agentConfig.parse(testAgentConfig)).toEqual(testAgentConfig);
  });

  it('is refused with all its problems, of which none repeats a value', () => {
    const wrong = {
      ...testAgentConfig,
      host: 'W 1',
      servers: ['http://10.0.0.5', 'https://user:canary@10.0.0.5'],
      token: 'canary with spaces',
      site: { ...testAgentConfig.site, hostIP: 'nowhere', ports: { registry: 0 } },
      password: 'canary',
    };
    const { error } = agentConfig.safeParse(wrong);
    const paths = error?.issues.map(({ path }) => path.join('.'));
    expect(paths).toEqual(
      expect.arrayContaining([
        'host',
        'servers.0',
        'servers.1',
        'token',
        'site.hostIP',
        'site.ports.registry',
        'site.ports.files',
        '',
      ]),
    );
    expect(JSON.stringify(error?.issues)).not.toContain('canary');
  });

  it('names the objects of a host after it', () => {
    expect(agentObjects('w1')).toEqual({ account: 'agent-w1', hostCommand: 'w1', inbox: 'inbox-w1' });
  });
});
