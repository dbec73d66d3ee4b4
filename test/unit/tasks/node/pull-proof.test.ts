import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pullProofTask } from '../../../../src/tasks/node/container-runtime.ts';
import { missingFiles } from '../../../../src/tasks/services/missing.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

const image = 'registry.k8s.io/pause:3.10.2';
let machine: TaskHost;

beforeEach(async () => {
  machine = await taskHost();
  await mkdir(join(machine.root, 'usr/local/bin'), { recursive: true });
  await writeFile(join(machine.root, 'usr/local/bin/crictl'), '');
});
afterEach(() => machine.remove());

const prove = (missing: readonly string[]): Promise<string[]> =>
  machine.run((scope) =>
    pullProofTask.run(scope, { image, registryHost: 'deploy.bke.internal:40443', missingParts: async () => missing }),
  );

describe('the proof by a pull', () => {
  it('fails where the registry lacks the image, although containerd has it', async () => {
    await expect(prove(['the manifest 3.10.2 is missing'])).rejects.toMatchObject({
      code: 'BKE_PULL_FAILED',
      message: expect.stringContaining('the manifest 3.10.2 is missing'),
    });
  });

  it('holds, with nothing changed, where the registry has it too', async () => {
    expect(await prove([])).toEqual([]);
  });
});

describe('files of an earlier load', () => {
  const wanted = [
    { area: 'files', path: 'a/b', digest: `sha256:${'0'.repeat(64)}`, size: 3 },
    { area: 'charts', path: 'c.tgz', digest: `sha256:${'1'.repeat(64)}`, size: 2 },
  ] as const;

  it('are told where they are gone or have another size', async () => {
    await mkdir(join(machine.root, 'data/charts'), { recursive: true });
    await writeFile(join(machine.root, 'data/charts/c.tgz'), 'x');
    expect(await missingFiles(machine.host, '/data', [...wanted])).toEqual([
      'files/a/b is missing',
      'charts/c.tgz has 1 of 2 bytes',
    ]);
    await mkdir(join(machine.root, 'data/files/a'), { recursive: true });
    await writeFile(join(machine.root, 'data/files/a/b'), 'abc');
    await writeFile(join(machine.root, 'data/charts/c.tgz'), 'xy');
    expect(await missingFiles(machine.host, '/data', [...wanted])).toEqual([]);
  });
});
