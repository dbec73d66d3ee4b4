// A command on a whole host in a folder: what a cancel in the middle of something leaves behind.
import { mkdir, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type CommandState, newCommand } from '../../../src/agent/command-state.ts';
import { CommandStore } from '../../../src/agent/command-store.ts';
import { executeCommand } from '../../../src/agent/execute.ts';
import { agentSettings } from '../../../src/api/agent-config.ts';
import { lockDirectory } from '../../../src/host/ledger/lock.ts';
import { defaultStateDir } from '../../../src/host/ledger/ledger.ts';
import { testAgentConfig } from '../../fakes/agent-config.ts';
import { FakeHost } from '../../fakes/fake-host.ts';
import { silentLog } from '../../fakes/log.ts';

const locks = lockDirectory(defaultStateDir);

it('gives up a lock that it gets after the command was cancelled', async () => {
  const host = await FakeHost.make();
  onTestFinished(() => host.dispose());
  await mkdir(host.at(`${defaultStateDir}/agent`), { recursive: true });
  const cancel = new AbortController();
  const write = host.files.write.bind(host.files);
  const claims: string[] = [];
  vi.spyOn(host.files, 'write').mockImplementation(async (path, ...rest) => {
    if (dirname(path) === locks) {
      claims.push(path);
      cancel.abort();
    }
    return write(path, ...rest);
  });
  const told: CommandState[] = [];
  const { token: _, ...settings } = testAgentConfig;
  const state = newCommand(
    { commandID: 'command-1', leaseGeneration: 1, steps: [{ id: 'reset', task: 'reset' }] },
    'realm',
  );
  await executeCommand(
    {
      host,
      settings: agentSettings.parse(settings),
      store: await CommandStore.open(host, () => new Date()),
      log: silentLog,
      now: () => new Date(),
      operationsDirectory: undefined,
      artifactsDir: `${defaultStateDir}/artifacts`,
      readInbox: async () => new Map(),
      report: (now) => told.push(now),
    },
    state,
    { cancel: cancel.signal, stop: new AbortController().signal },
  );
  expect(told.at(-1)?.steps).toMatchObject([{ id: 'reset', state: 'Cancelled' }]);
  expect(claims).toHaveLength(1);
  await vi.waitFor(async () => expect(await readdir(host.at(defaultStateDir))).toEqual(['agent']));
});
