import { appendFile, mkdir, stat, symlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { UserToMake } from '../../../../../src/tasks/node/cloud-config/parse.ts';
import { makeUsers } from '../../../../../src/tasks/node/cloud-config/users.ts';
import { undoAll } from '../../../../fakes/ledger.ts';
import { type TaskHost, taskHost } from '../../../../fakes/task-host.ts';

const ops: UserToMake = {
  name: 'ops',
  gecos: 'Site operator',
  groups: ['adm', 'daemon'],
  shell: '/bin/bash',
  lockPassword: true,
  sudo: ['ALL=(ALL) NOPASSWD:ALL'],
  authorizedKeys: ['ssh-ed25519 AAAA a', 'ssh-ed25519 BBBB b'],
};
const hash = '$6$salt$hash-of-the-test';

let machine: TaskHost;
/** What programs were told on their stdin. */
let told: { readonly program: string; readonly input: unknown }[];
/** Exit code. */
let visudo: number;

beforeEach(async () => {
  machine = await taskHost();
  told = [];
  visudo = 0;
  const { host } = machine;
  const real = host.run.bind(host);
  vi.spyOn(host, 'run').mockImplementation(async (argv, options) => {
    if (options?.input !== undefined) told.push({ program: argv[0], input: options.input });
    if (argv[0] === 'chpasswd') return { exitCode: 0, stdout: '', stderr: '' };
    if (argv[0] === 'visudo') return { exitCode: visudo, stdout: '', stderr: 'stdin: syntax error\n' };
    return real(argv, options);
  });
  await machine.put('/etc/skel/.profile', 'umask 027\n');
});
afterEach(() => machine.remove());

const run = (users: readonly UserToMake[]): Promise<string[]> => machine.run((scope) => makeUsers(scope, users));

async function tables(): Promise<string[]> {
  return Promise.all(['passwd', 'group', 'shadow', 'gshadow'].map((name) => machine.text(`/etc/${name}`)));
}

describe('users of bootstrap data', () => {
  it('get an account, a home, keys and rules, once, and all of it goes again', async () => {
    const before = await tables();
    expect(await run([ops])).toEqual([
      'user ops',
      'directory /home/ops',
      'file /home/ops/.profile',
      'directory /home/ops/.ssh',
      'file /home/ops/.ssh/authorized_keys',
      'file /etc/sudoers.d/90-bke-ops',
    ]);
    const [passwd, group] = await tables();
    expect(passwd).toMatch(/^ops:x:\d+:\d+:Site operator:\/home\/ops:\/bin\/bash$/m);
    expect(group).toMatch(/^adm:x:\d+:ops$/m);
    expect(group).toMatch(/^daemon:x:1:ops$/m);
    expect(await machine.text('/home/ops/.ssh/authorized_keys')).toBe('ssh-ed25519 AAAA a\nssh-ed25519 BBBB b\n');
    expect((await stat(machine.at('/home/ops/.ssh'))).mode & 0o777).toBe(0o700);
    expect(await machine.text('/etc/sudoers.d/90-bke-ops')).toBe('# Written by bke.\nops ALL=(ALL) NOPASSWD:ALL\n');
    expect(await run([ops])).toEqual([]);

    await undoAll(machine.host);
    expect(await tables()).toEqual(before);
    await expect(stat(machine.at('/home/ops'))).rejects.toThrow('ENOENT');
  });

  it('leave what they made themselves behind, open to root alone', async () => {
    await run([ops]);
    await machine.put('/home/ops/.bash_history', 'ls\n');
    expect((await undoAll(machine.host))['directory:/home/ops']).toEqual({
      result: 'kept',
      why: 'it holds what its user made: .bash_history',
    });
    expect((await stat(machine.at('/home/ops'))).mode & 0o777).toBe(0o700);
  });

  it('that were there before keep their account, and only get keys and rules', async () => {
    await appendFile(machine.at('/etc/passwd'), 'old:x:0:0::/home/old:/bin/sh\n');
    await machine.put('/home/old/.ssh/authorized_keys', 'ssh-ed25519 CCCC c');
    await run([{ ...ops, name: 'old', passwordHash: hash }]);
    expect(await machine.text('/etc/passwd')).toContain('old:x:0:0::/home/old:/bin/sh\n');
    expect(await machine.text('/home/old/.ssh/authorized_keys')).toBe(
      'ssh-ed25519 CCCC c\nssh-ed25519 AAAA a\nssh-ed25519 BBBB b\n',
    );
    expect(told.map(({ program }) => program)).toEqual(['visudo']);
    await undoAll(machine.host);
    expect(await machine.text('/home/old/.ssh/authorized_keys')).toBe('ssh-ed25519 CCCC c');
  });

  it('lead bke nowhere through a link in their home', async () => {
    await appendFile(machine.at('/etc/passwd'), 'old:x:0:0::/home/old:/bin/sh\n');
    await mkdir(machine.at('/home/old'), { recursive: true });
    await symlink('/etc', machine.at('/home/old/.ssh'));
    await expect(run([{ ...ops, name: 'old' }])).rejects.toThrow('/home/old/.ssh is no directory of the user');
  });

  it('get their password by stdin, and the ledger does not know it', async () => {
    await run([{ ...ops, sudo: [], passwordHash: hash }]);
    expect(told).toEqual([{ program: 'chpasswd', input: `ops:${hash}\n` }]);
    expect(await machine.text('/var/lib/bke/ledger/ledger.jsonl')).not.toContain('hash-of-the-test');
  });

  it('with a rule that sudo does not take are not made', async () => {
    visudo = 1;
    await expect(run([ops])).rejects.toMatchObject({
      code: 'BKE_BOOTSTRAP_DATA_INVALID',
      details: ['stdin: syntax error'],
    });
    expect(await machine.text('/etc/passwd')).not.toContain('ops');
  });
});
