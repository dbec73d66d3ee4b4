// A host that a cluster has is refused as a bootstrap node before anything of it is changed.
import { mkdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { refuseClaimedHost } from '../../../../src/commands/init/preflight.ts';
import { writeConfiguration } from '../../../../src/tasks/agent/configuration.ts';
import { agentPaths } from '../../../../src/tasks/agent/paths.ts';
import { testAgentConfig } from '../../../fakes/agent-config.ts';
import { FakeHost } from '../../../fakes/fake-host.ts';

let host: FakeHost;
beforeEach(async () => {
  host = await FakeHost.make();
});
afterEach(() => host.dispose());

it('is refused with the cluster that has it', async () => {
  await expect(refuseClaimedHost(host)).resolves.toBeUndefined();
  await mkdir(`${host.root}${agentPaths.stateDir}`, { recursive: true });
  await writeConfiguration(host, testAgentConfig);
  await expect(refuseClaimedHost(host)).rejects.toMatchObject({
    code: 'BKE_KUBERNETES_FOUND',
    message: expect.stringContaining('of the management cluster at https://10.0.0.5:6443'),
  });
});
