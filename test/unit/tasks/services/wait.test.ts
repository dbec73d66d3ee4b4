import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultPorts } from '../../../../src/config/bootstrap.ts';
import { waitForService } from '../../../../src/tasks/services/wait.ts';
import { bootstrapSettings } from '../../../fakes/bootstrap-settings.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

const program = '/usr/local/libexec/bke/bke-0.1.0/bke';
// Nothing listens on port 1: every probe is refused at once.
const settings = bootstrapSettings({
  hostIP: '127.0.0.1',
  ports: { ...defaultPorts, files: 1 },
  dataDir: '/data',
});
let machine: TaskHost;

beforeEach(async () => {
  machine = await taskHost();
});
afterEach(() => machine.remove());

/** systemd says this of the unit, the nth time it is asked. */
function systemdSays(
  states: readonly { readonly active: string; readonly restarts: number }[],
  mainStatus: number,
): void {
  const run = machine.host.run.bind(machine.host);
  let asked = 0;
  vi.spyOn(machine.host, 'run').mockImplementation(async (argv, options) => {
    if (argv[0] !== 'systemctl' || argv[1] !== 'show') return run(argv, options);
    if (argv.some((word) => word.includes('ExecMainStatus'))) {
      const stdout = `ExecMainStatus=${mainStatus}\nExecStart={ path=${program} ; argv[]=${program} serve ; }\n`;
      return { exitCode: 0, stdout, stderr: '' };
    }
    const state = states[Math.min(asked, states.length - 1)];
    asked += 1;
    const stdout = `LoadState=loaded\nActiveState=${state?.active}\nResult=exit-code\nNRestarts=${state?.restarts}\n`;
    return { exitCode: 0, stdout, stderr: '' };
  });
}

const wait = (): Promise<string[]> =>
  machine.run((scope) => waitForService(scope, { settings, ca: '', service: 'files' }));

describe('waiting for a service', () => {
  it('ends at once where its program is gone', async () => {
    systemdSays([{ active: 'activating', restarts: 1 }], 203);
    await expect(wait()).rejects.toMatchObject({
      code: 'BKE_COMMAND_FAILED',
      message: `bke-files.service cannot start: ${program} is not there`,
      hint: 'bke init puts it back.',
    });
  });

  it('ends at once where its program cannot be run', async () => {
    await mkdir(dirname(join(machine.root, program)), { recursive: true });
    await writeFile(join(machine.root, program), '');
    systemdSays([{ active: 'activating', restarts: 1 }], 203);
    await expect(wait()).rejects.toMatchObject({ message: `bke-files.service cannot start: ${program} cannot be run` });
  });

  it('ends once systemd has started it again more than five times meanwhile', async () => {
    const states = [7, 10, 12, 13].map((restarts) => ({ active: 'active', restarts }));
    systemdSays(states, 1);
    await expect(wait()).rejects.toMatchObject({
      message: 'bke-files.service does not stay up: systemd started it again 6 times',
    });
  });
});
