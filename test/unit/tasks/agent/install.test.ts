import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentConfig } from '../../../../src/api/agent-config.ts';
import { readSettings } from '../../../../src/tasks/agent/configuration.ts';
import { writeContact } from '../../../../src/tasks/agent/contact.ts';
import { agentPhases } from '../../../../src/tasks/agent/install.ts';
import { agentPaths } from '../../../../src/tasks/agent/paths.ts';
import { testAgentConfig } from '../../../fakes/agent-config.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

describe('installing the agent', () => {
  let machine: TaskHost;
  beforeEach(async () => {
    machine = await taskHost();
    await writeFile(`${machine.root}/tmp/bke`, 'program');
  });
  afterEach(() => machine.remove());

  /** As if the agent had been heard at once. */
  const install = async (config: AgentConfig = testAgentConfig): Promise<string[]> => {
    const bke = {
      name: 'bke',
      version: '1.0.0',
      type: 'binary' as const,
      source: '/tmp/bke',
      digest: await machine.host.files.digest('/tmp/bke'),
    };
    const steps = agentPhases({ config, bke }).flatMap(({ chains }) => chains.flatMap((chain) => chain.steps));
    return machine.run(async (scope) => {
      for (const step of steps) {
        if (step.name === 'agent/contact')
          await writeContact(machine.host, { pid: 4242, since: '2026-11-30T10:00:00Z' });
        await step.run(scope);
      }
    });
  };

  it('leaves site name and CA, its own program, what it is told, and a running unit', async () => {
    expect(await install()).toEqual([
      'hosts-entry',
      'file /etc/bke/site-ca.crt',
      'directory /var/lib/bke/agent',
      'zone /var/lib/bke/agent',
      'file /usr/local/libexec/bke/bke-1.0.0/bke',
      'link /usr/local/bin/bke',
      'unit bke-agent.service',
    ]);
    expect(await readSettings(machine.host)).toMatchObject({ host: 'w1', servers: ['https://10.0.0.5:6443'] });
    expect((await machine.host.files.stat(agentPaths.token))?.mode).toBe(0o600);
    expect(await readFile(`${machine.root}/etc/systemd/system/bke-agent.service`, 'utf8')).toContain(
      'ExecStart=/usr/local/libexec/bke/bke-1.0.0/bke agent run\n',
    );
  });

  it('keeps the token out of everything but its own file', async () => {
    await install();
    const { token, ...rest } = testAgentConfig;
    const places = [agentPaths.config, '/var/lib/bke/ledger/ledger.jsonl', '/etc/systemd/system/bke-agent.service'];
    for (const path of places) expect(await readFile(`${machine.root}${path}`, 'utf8')).not.toContain(token);
    expect(await readFile(`${machine.root}${agentPaths.config}`, 'utf8')).toContain(rest.host);
  });

  it('changes nothing the second time, and brings no used token back', async () => {
    await install();
    await writeFile(`${machine.root}${agentPaths.token}`, 'renewed');
    machine.systemctlCalls();
    expect(await install()).toEqual([]);
    expect(machine.systemctlCalls()).toEqual([]);
    expect(await readFile(`${machine.root}${agentPaths.token}`, 'utf8')).toBe('renewed');
  });

  it('is refused on a machine that is another host, before anything is changed', async () => {
    await install();
    await expect(install({ ...testAgentConfig, host: 'w9' })).rejects.toMatchObject({
      code: 'BKE_HOST_TAKEN',
      message: expect.stringContaining('this machine is host w1 in namespace'),
    });
    expect(await readSettings(machine.host)).toMatchObject({ host: 'w1' });
  });

  it('starts the agent anew with another configuration or another token', async () => {
    await install();
    machine.systemctlCalls();
    expect(await install({ ...testAgentConfig, servers: ['https://10.0.0.6:6443'] })).toEqual([
      'unit bke-agent.service',
    ]);
    expect(machine.systemctlCalls()).toContain('restart bke-agent.service');
    expect(await install({ ...testAgentConfig, token: 'another-token-of-it' })).toEqual(['unit bke-agent.service']);
    expect(await readFile(`${machine.root}${agentPaths.token}`, 'utf8')).toBe('another-token-of-it');
  });

  it('removes the copy that was brought', async () => {
    await install({ ...testAgentConfig, broughtTo: '/tmp/bke' });
    expect(await machine.host.files.stat('/tmp/bke')).toBeUndefined();
  });

  it('does not take a damaged configuration for one', async () => {
    await install();
    await appendFile(`${machine.root}${agentPaths.config}`, 'x');
    await expect(readSettings(machine.host)).rejects.toMatchObject({ code: 'BKE_AGENT_NOT_INSTALLED' });
  });
});
