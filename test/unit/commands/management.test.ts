// Where a command looks for the management cluster that nobody named, and what it says where there is none.
import { mkdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeConfiguration } from '../../../src/tasks/agent/configuration.ts';
import { agentPaths } from '../../../src/tasks/agent/paths.ts';
import { testAgentConfig } from '../../fakes/agent-config.ts';
import { runCli } from '../../fakes/cli.ts';
import { FakeHost } from '../../fakes/fake-host.ts';

let host: FakeHost;
beforeEach(async () => {
  host = await FakeHost.make();
});
afterEach(() => host.dispose());

it.each(['cluster list', 'host list'])(
  'bke %s says on a host of a cluster whose it is, and where to ask',
  async (words) => {
    const run = async (): Promise<string> =>
      (await runCli(words.split(' '), { openLocalHost: async () => host })).stderr;
    expect(await run()).toContain("no management cluster is known on this host\nhint: 'bke init' makes");
    await mkdir(`${host.root}${agentPaths.stateDir}`, { recursive: true });
    await writeConfiguration(host, testAgentConfig);
    const told = await run();
    expect(told).toContain(
      'of the management cluster at https://10.0.0.5:6443\nhint: Run the command on the bootstrap node',
    );
    expect(told).not.toContain('bke init');
  },
);
