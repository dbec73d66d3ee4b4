// What `bke status` says is on disk.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { directorySize } from '../../../../src/tasks/services/status.ts';
import { FakeHost } from '../../../fakes/fake-host.ts';

let host: FakeHost;
beforeEach(async () => {
  host = await FakeHost.make();
});
afterEach(() => host.dispose());

it.each([
  ['all of it was read', { exitCode: 0, stdout: '4096\t/opt\n', stderr: '' }, 4096],
  [
    'files went while it was read',
    { exitCode: 1, stdout: '4096\t/opt\n', stderr: "du: cannot access '/opt/a': No such file or directory\n" },
    4096,
  ],
  [
    'a part of it may not be read',
    { exitCode: 1, stdout: '4096\t/opt\n', stderr: "du: cannot read directory '/opt/a': Permission denied\n" },
    undefined,
  ],
  ['du is not there', { exitCode: 127, stdout: '', stderr: 'du: not found\n' }, undefined],
])('is told where it is known: %s', async (_what, result, size) => {
  host.system.others.set('du', result);
  expect(await directorySize(host, '/opt')).toBe(size);
});
