import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compare } from 'bcryptjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensurePushLogin } from '../../../../src/tasks/services/push-login.ts';
import { type TaskHost, taskHost } from '../../../fakes/task-host.ts';

let machine: TaskHost;
beforeEach(async () => {
  machine = await taskHost();
});
afterEach(() => machine.remove());

const text = (path: string): Promise<string> => readFile(join(machine.root, path), 'utf8');

describe('the login for pushes', () => {
  it('is random, 0600, and hashed for the registry', async () => {
    await machine.run(async (scope) => void (await ensurePushLogin(scope)));
    const password = (await text('var/lib/bke/pki/registry-push.password')).trim();
    expect(password).toMatch(/^[\w-]{32}$/);
    const [user, hash = ''] = (await text('etc/bke/services/htpasswd')).trim().split(':');
    expect(user).toBe('bke');
    expect(await compare(password, hash)).toBe(true);
    for (const path of ['var/lib/bke/pki/registry-push.password', 'etc/bke/services/htpasswd']) {
      expect((await stat(join(machine.root, path))).mode & 0o777).toBe(0o600);
    }
  });

  it('stays what it is on the next run', async () => {
    await machine.run(async (scope) => void (await ensurePushLogin(scope)));
    const before = await text('etc/bke/services/htpasswd');
    expect(await machine.run(async (scope) => void (await ensurePushLogin(scope)))).toEqual([]);
    expect(await text('etc/bke/services/htpasswd')).toBe(before);
  });

  it('is nowhere in the ledger', async () => {
    await machine.run(async (scope) => void (await ensurePushLogin(scope)));
    const password = (await text('var/lib/bke/pki/registry-push.password')).trim();
    const ledger = join(machine.root, 'var/lib/bke/ledger');
    const files = (await readdir(ledger, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(await readFile(join(file.parentPath, file.name), 'utf8')).not.toContain(password);
  });
});
