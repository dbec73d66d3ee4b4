// A bke with one command that only sleeps and writes files, as a program of its own: signals and terminals are tried on it.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { main } from '../../src/cli/main.ts';
import type { Command } from '../../src/commands/context.ts';
import { BkeError } from '../../src/lib/errors.ts';
import { readInput } from '../../src/lib/input.ts';
import { runLocalOperation, throwUnlessDone } from '../../src/operations/local-operation.ts';
import type { StepBinding } from '../../src/operations/operation.ts';
import { pause, step } from './operation.ts';

/** Writes as bke does: a temporary file, then a rename. */
async function writeWhole(directory: string, name: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const temporary = join(directory, `.${name}.tmp`);
  await writeFile(temporary, JSON.stringify({ name, filler: 'x'.repeat(200_000) }));
  await rename(temporary, join(directory, name));
}

const work: Command = {
  path: ['work'],
  group: 'help',
  summary: 'Sleep and write files',
  examples: [],
  options: [
    { type: 'integer', name: 'hosts', placeholder: 'N', default: 3, summary: 'how many hosts' },
    { type: 'integer', name: 'steps', placeholder: 'N', default: 4, summary: 'steps of each in each of two phases' },
    { type: 'integer', name: 'ms', placeholder: 'N', default: 200, summary: 'length of a step' },
    { type: 'integer', name: 'concurrency', placeholder: 'N', default: 10, summary: 'hosts at once' },
    { type: 'text', name: 'fail', placeholder: 'HOST', summary: 'a host that fails in its second step' },
    { type: 'text', name: 'wait', placeholder: 'HOST', summary: 'a host that waits in its second step' },
    { type: 'flag', name: 'deaf', summary: 'steps that do not heed a cancel' },
    { type: 'path', name: 'directory', placeholder: 'DIR', required: true, summary: 'where the files are written' },
  ],
  run: async (context, input) => {
    const given = readInput(input);
    const directory = given.requiredText('directory');
    const hosts = Array.from({ length: given.requiredNumber('hosts') }, (_, i) => `h${i + 1}`);
    const act = async (scope: StepBinding, host: string, i: number): Promise<void> => {
      if (host === given.text('fail') && i === 1) throw new BkeError('BKE_COMMAND_FAILED', 'it was told to fail');
      if (host === given.text('wait') && i === 1) {
        scope.emit({
          type: 'step.waiting',
          for: 'the moon',
          since: context.now().toISOString(),
          cause: 'it is day',
          next: 'look up',
        });
      }
      await pause(given.requiredNumber('ms') * (0.5 + Math.random()), given.flag('deaf') ? undefined : scope.signal);
      await writeWhole(directory, `${host}-${i}.json`);
      scope.changed();
    };
    const chains = hosts.map((host) => ({
      host,
      steps: Array.from({ length: given.requiredNumber('steps') }, (_, i) =>
        step(`s${i}`, async (scope) => act(scope, host, i), 60_000),
      ),
    }));
    const result = await runLocalOperation<StepBinding>(context, {
      action: 'host.check',
      target: `${hosts.length} hosts`,
      dryRun: false,
      concurrency: given.requiredNumber('concurrency'),
      createScope: (binding) => binding,
      phases: [
        { id: 'one', title: 'Do one thing', chains },
        { id: 'two', title: 'Do another', chains },
      ],
    });
    throwUnlessDone(result);
    return { kind: 'none' };
  },
};

const operationsDirectory = process.env['TEST_OPERATIONS'];
process.exitCode = await main(process.argv.slice(2), {
  commands: [work],
  ...(operationsDirectory === undefined ? {} : { operationsDirectory }),
});
