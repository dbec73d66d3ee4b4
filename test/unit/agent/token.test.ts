import { mkdir, utimes } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentToken, lifeOf } from '../../../src/agent/token.ts';
import { writeToken } from '../../../src/tasks/agent/configuration.ts';
import { agentPaths } from '../../../src/tasks/agent/paths.ts';
import { testAgentConfig } from '../../fakes/agent-config.ts';
import { FakeHost } from '../../fakes/fake-host.ts';

const day = 24 * 3600;

function tokenOf(seconds: number, issued = 1_000_000): string {
  const claims = Buffer.from(JSON.stringify({ iat: issued, exp: issued + seconds })).toString('base64url');
  return `e30.${claims}.c2ln`;
}

describe('the token of an agent', () => {
  let host: FakeHost;
  const now = new Date();
  beforeEach(async () => {
    host = await FakeHost.make();
    await mkdir(host.at(agentPaths.stateDir), { recursive: true });
  });
  afterEach(() => host.dispose());

  const loaded = async (token: string, ageDays: number): Promise<AgentToken> => {
    await writeToken(host, token);
    const at = new Date(now.getTime() - ageDays * day * 1000);
    await utimes(host.at(agentPaths.token), at, at);
    const read = new AgentToken(host, () => now);
    await read.load();
    return read;
  };

  it('is due at a third of its life, by the clock that saw it come', async () => {
    expect((await loaded(tokenOf(30 * day), 1)).dueInMs() / day / 1000).toBeCloseTo(9, 3);
    expect((await loaded(tokenOf(30 * day), 11)).dueInMs()).toBe(0);
    expect((await loaded(tokenOf(day), 0)).dueInMs() / 3_600_000).toBeCloseTo(8, 3);
  });

  it('is due at once where it only brought the agent up, or nobody knows how old it is', async () => {
    expect((await loaded(tokenOf(3600), 0)).dueInMs()).toBe(0);
    expect((await loaded(tokenOf(30 * day), -2)).dueInMs()).toBe(0);
  });

  it('is written before it is used, and not exchanged again at once where the cluster gives short ones', async () => {
    const token = await loaded(tokenOf(600), 0);
    const fresh = tokenOf(600, 2_000_000);
    const asked: unknown[] = [];
    const request = async (...words: unknown[]): Promise<unknown> => {
      asked.push(words);
      return { status: { token: fresh } };
    };
    await token.renew({ request }, testAgentConfig);
    expect(asked).toMatchObject([
      [
        'POST',
        '/api/v1/namespaces/bke/serviceaccounts/agent-w1/token',
        { body: { spec: { expirationSeconds: 30 * day } } },
      ],
    ]);
    expect((await host.files.read(agentPaths.token))?.toString()).toBe(fresh);
    expect((await host.files.stat(agentPaths.token))?.mode).toBe(0o600);
    expect(await token.current()).toBe(fresh);
    expect(token.dueInMs()).toBe(200_000);
  });

  it('says nothing of its life where it is no JWT', () => {
    expect(lifeOf('opaque')).toBe(30 * day);
    expect(lifeOf(tokenOf(-5))).toBe(30 * day);
  });
});
