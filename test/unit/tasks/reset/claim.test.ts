// What a reset says of the cluster that goes on counting on the host.
import { mkdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeConfiguration } from '../../../../src/tasks/agent/configuration.ts';
import { agentPaths } from '../../../../src/tasks/agent/paths.ts';
import { claimNotes, readClaim } from '../../../../src/tasks/reset/claim.ts';
import { testAgentConfig } from '../../../fakes/agent-config.ts';
import { FakeHost } from '../../../fakes/fake-host.ts';

const flags = { all: true, mount: true, purgeVolumes: false };

describe('what a reset says of the cluster of the host', () => {
  let host: FakeHost;
  beforeEach(async () => {
    host = await FakeHost.make();
  });
  afterEach(() => host.dispose());

  const enrol = async (): Promise<void> => {
    await mkdir(`${host.root}${agentPaths.stateDir}`, { recursive: true });
    await writeConfiguration(host, testAgentConfig);
  };
  const notes = async (all: boolean): Promise<string[]> => claimNotes(await readClaim(host), { ...flags, all });

  it('is nothing on a host that no cluster knows', async () => {
    expect(await notes(true)).toEqual([]);
  });

  it('is nothing of a host that stays enrolled and that no machine has', async () => {
    await enrol();
    expect(await notes(false)).toEqual([]);
  });

  it('is the machine whose node the host was, and where to delete it', async () => {
    await enrol();
    const unit = 'ExecStart=/x/kubelet --node-ip=10.0.0.21 --provider-id=bke://bke/w1/c1a2 --node-labels=a=b\n';
    await writeFile(`${host.root}/etc/systemd/system/kubelet.service`, unit);
    const [machine, ...more] = await notes(false);
    expect(machine).toContain('(bke://bke/w1/c1a2), and the cluster at https://10.0.0.5:6443 goes on counting on it');
    expect(more).toEqual([]);
  });

  it('is how the host gets out of its cluster, where its agent goes', async () => {
    await enrol();
    const [enrolled] = await notes(true);
    expect(enrolled).toContain('knows this host as bke/w1 and does not take it again by itself');
    expect(enrolled).toContain('kubectl --kubeconfig FILE -n bke delete bkehost w1');
  });
});
