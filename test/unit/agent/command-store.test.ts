import { appendFile, readFile, writeFile, mkdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newCommand, withStep } from '../../../src/agent/command-state.ts';
import { CommandStore } from '../../../src/agent/command-store.ts';
import { agentPaths } from '../../../src/tasks/agent/paths.ts';
import { FakeHost } from '../../fakes/fake-host.ts';

const now = (): Date => new Date('2026-11-30T10:00:00Z');
const command = (commandID: string, leaseGeneration = 1) =>
  newCommand({ commandID, leaseGeneration, steps: [{ id: 'a', task: 'ping' }] }, 'here');

describe('the commands of a host', () => {
  let host: FakeHost;
  beforeEach(async () => {
    host = await FakeHost.make();
    await mkdir(host.at(agentPaths.stateDir), { recursive: true });
  });
  afterEach(() => host.dispose());
  const open = (): Promise<CommandStore> => CommandStore.open(host, now);

  it('outlive the agent, with how far the last one is', async () => {
    const store = await open();
    await store.take(command('command-1', 3));
    await store.take(command('command-2', 4));
    await store.save(withStep(command('command-2', 4), 'a', { state: 'Running', attempt: 1 }));
    const again = await open();
    expect(again.current?.steps).toEqual([{ id: 'a', state: 'Running', attempt: 1 }]);
    expect(again.wasTaken('command-1')).toBe(true);
    expect(again.wasTaken('command-3')).toBe(false);
    expect(again.highestGeneration('here')).toBe(4);
    expect(again.highestGeneration('another cluster')).toBe(0);
  });

  it('are known at every moment the agent can die at', async () => {
    for (let dieAt = 1; dieAt < 200; dieAt += 1) {
      await host.revive(dieAt);
      const died = await open()
        .then((store) => store.take(command(`command-${dieAt}`)))
        .then(
          () => false,
          () => true,
        );
      await host.revive();
      const again = await open();
      // Either nothing of it is there, and it is taken when it is seen again; or it goes on.
      const isCurrent = again.current?.spec.commandID === `command-${dieAt}`;
      expect(again.wasTaken(`command-${dieAt}`)).toBe(isCurrent);
      if (!died) return;
    }
    throw new Error('it died each time');
  });

  it('are read past a torn line and a damaged state', async () => {
    const store = await open();
    await store.take(command('command-1'));
    await appendFile(host.at(agentPaths.taken), '{"commandID":"command-9');
    await writeFile(host.at(agentPaths.command), '{"spec"');
    const again = await open();
    expect(again.current).toBeUndefined();
    expect(again.wasTaken('command-1')).toBe(true);
    await again.take(command('command-2'));
    expect((await readFile(host.at(agentPaths.taken), 'utf8')).trim().split('\n')).toHaveLength(2);
  });

  it('do not fill the disk', async () => {
    const line = (index: number): string =>
      `${JSON.stringify({ commandID: `old-${index}`, leaseGeneration: 1, realm: 'here', time: '' })}\n`;
    await writeFile(host.at(agentPaths.taken), Array.from({ length: 1999 }, (_, index) => line(index)).join(''));
    const store = await open();
    await store.take(command('command-1'));
    expect((await readFile(host.at(agentPaths.taken), 'utf8')).trim().split('\n')).toHaveLength(1000);
    expect([store.wasTaken('command-1'), store.wasTaken('old-1998'), store.wasTaken('old-0')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
