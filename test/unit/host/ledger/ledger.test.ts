// The ledger file: what is written when, what a crash or damage does to it, who may write, and how it goes away again.
import { appendFile, chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Change } from '../../../../src/host/changes/change.ts';
import { encodeLine } from '../../../../src/host/ledger/entries.ts';
import { type Ledger, openLedger, readLedger } from '../../../../src/host/ledger/ledger.ts';
import { lockOwner } from '../../../../src/host/ledger/lock.ts';
import { FakeHost } from '../../../fakes/fake-host.ts';
import { snapshot } from '../../../fakes/snapshot.ts';

let host: FakeHost;

beforeEach(async () => {
  host = await FakeHost.make();
});

afterEach(async () => {
  await host.dispose();
});

const ledgerFile = '/var/lib/bke/ledger/ledger.jsonl';

function open(operation = 'op-1'): Promise<Ledger> {
  return openLedger(host, { operation, command: 'bke init' });
}

async function within<T>(act: (ledger: Ledger) => Promise<T>, operation?: string): Promise<T> {
  const ledger = await open(operation);
  try {
    return await act(ledger);
  } finally {
    await ledger.close();
  }
}

function file(path: string, text: string): Change {
  return { kind: 'file', path, mode: 0o644, content: { text } };
}

async function entries(): Promise<Record<string, unknown>[]> {
  const lines = (await readFile(host.at(ledgerFile), 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line.slice(17)));
}

async function content(path: string): Promise<string | undefined> {
  return (await host.files.read(path))?.toString();
}

describe('what is written', () => {
  test('the first line names format, machine and the temporary path of the binary, then each change twice', async () => {
    const ledger = await openLedger(host, {
      operation: 'op-1',
      command: 'bke agent install',
      binary: '/tmp/bke-4711/bke',
    });
    await ledger.apply('enrol', file('/etc/a', 'x'));
    await ledger.finish();
    await ledger.close();
    expect((await entries()).map((entry) => entry['type'])).toEqual(['ledger', 'run', 'intent', 'applied', 'finished']);
    expect((await entries())[0]).toMatchObject({
      format: 1,
      machineId: '0123456789abcdef0123456789abcdef',
      binary: '/tmp/bke-4711/bke',
    });
    expect((await readLedger(host)).binaries).toEqual(['/tmp/bke-4711/bke']);
  });

  test('never the content of a file or unit, whether secret or not', async () => {
    await writeFile(host.at('/etc/secret'), 'CANARY-old', { mode: 0o644 });
    await within(async (ledger) => {
      await ledger.apply('services', {
        kind: 'file',
        path: '/etc/secret',
        mode: 0o600,
        content: { text: 'CANARY-7391' },
      });
      await ledger.apply('services', {
        kind: 'unit',
        name: 'a.service',
        text: '# CANARY-7391\n',
        enabled: false,
        running: false,
      });
    });
    expect(await readFile(host.at(ledgerFile), 'utf8')).not.toContain('CANARY');
    const found = await snapshot(host.at('/var/lib/bke/ledger'));
    expect(Object.values(found).every((text) => /^(file 600|directory 700) 0:0/.test(text))).toBe(true);
    expect((await stat(host.at('/var/lib/bke'))).mode & 0o777).toBe(0o755);
  });

  test('nothing at all where nothing is changed: a clean host stays clean', async () => {
    const was = await snapshot(host.root);
    await writeFile(host.at('/etc/a'), 'x');
    await chmod(host.at('/etc/a'), 0o644);
    await within(async (ledger) => {
      expect(await ledger.apply('services', file('/etc/a', 'x'))).toEqual({ changed: false });
      await ledger.finish();
    });
    const is = await snapshot(host.root, { without: ['/etc/a'] });
    expect(is).toEqual(was);
    expect((await readLedger(host)).exists).toBe(false);
  });

  test('what was there and right before us is not ours, and stays when all is undone', async () => {
    await writeFile(host.at('/etc/a'), 'x', { mode: 0o644 });
    await within((ledger) => ledger.apply('services', file('/etc/a', 'x')));
    await within(async (ledger) => {
      expect(ledger.resources()).toEqual([]);
    });
    expect(await content('/etc/a')).toBe('x');
  });

  test('a change that does not take effect is an error that tells why', async () => {
    host.system.broken.add('a.service');
    const unit: Change = { kind: 'unit', name: 'a.service', text: '[Service]\n', enabled: false, running: true };
    await expect(within((ledger) => ledger.apply('services', unit))).rejects.toMatchObject({
      code: 'BKE_COMMAND_FAILED',
      message: 'a.service does not start',
      details: expect.arrayContaining(['a last line of the log']),
    });
  });
});

describe('after a crash or damage', () => {
  const torn = encodeLine({ type: 'finished', operation: 'x', time: 't' }, 1).slice(0, 30);

  test('a torn last line is no damage, and is cut off before the next line is written', async () => {
    await within((ledger) => ledger.apply('services', file('/etc/a', 'x')));
    await appendFile(host.at(ledgerFile), torn);
    expect(await readLedger(host)).toMatchObject({ damaged: [], exists: true });
    await within((ledger) => ledger.apply('services', file('/etc/b', 'y')));
    expect((await entries()).map((entry) => entry['type'])).toEqual([
      'ledger',
      'run',
      'intent',
      'applied',
      'run',
      'intent',
      'applied',
    ]);
  });

  test('a torn first line: the ledger begins anew', async () => {
    await mkdir(host.at('/var/lib/bke/ledger'), { recursive: true });
    await writeFile(host.at(ledgerFile), torn);
    await within((ledger) => ledger.apply('services', file('/etc/a', 'x')));
    expect((await entries()).map((entry) => entry['type'])).toEqual(['ledger', 'run', 'intent', 'applied']);
  });

  test('a damaged line in the middle is reported, and the others still count', async () => {
    await within(async (ledger) => {
      await ledger.apply('services', file('/etc/a', 'x'));
      await ledger.apply('services', file('/etc/b', 'y'));
    });
    const lines = (await readFile(host.at(ledgerFile), 'utf8')).split('\n');
    lines[2] = (lines[2] ?? '').replace('/etc/a', '/etc/A');
    await writeFile(host.at(ledgerFile), lines.join('\n'));
    const view = await readLedger(host);
    expect(view.damaged).toEqual([{ line: 3, why: 'its checksum does not fit' }]);
    expect(view.resources().map((resource) => resource.key)).toEqual(['file:/etc/b']);
  });

  test.each([
    ['empty', () => '', 1],
    ['NUL bytes', () => '\0'.repeat(300), 1],
    ['without its first line', (text: string) => text.replace(/^.*\n/, ''), 1],
    ['without a line in its middle', (text: string) => text.replace(/^(.*\n.*\n).*\n/, '$1'), 3],
    ['followed by NUL bytes', (text: string) => `${text}\0\0`, 5],
    ['followed by what is no line', (text: string) => `${text}hello`, 5],
  ])('a ledger that is %s is damaged', async (_name, harm, line) => {
    await within((ledger) => ledger.apply('services', file('/etc/a', 'x')));
    await writeFile(host.at(ledgerFile), harm(await readFile(host.at(ledgerFile), 'utf8')));
    const { damaged } = await readLedger(host);
    expect(damaged[0]?.line).toBe(line);
  });

  test('an original that is lost is told, and what we put there stays', async () => {
    await writeFile(host.at('/etc/a'), 'original');
    await within((ledger) => ledger.apply('services', file('/etc/a', 'x')));
    for (const name of await host.files.list('/var/lib/bke/ledger/originals'))
      await host.files.remove(`/var/lib/bke/ledger/originals/${name}`);
    const outcome = await within(async (ledger) =>
      Promise.all(ledger.resources().map((resource) => ledger.undo(resource))),
    );
    expect(outcome).toEqual([
      { result: 'left', why: expect.stringMatching(/^the original of \/etc\/a is not in the ledger's store/) },
    ]);
    expect(await content('/etc/a')).toBe('x');
  });

  test('the ledger of a newer bke is not touched', async () => {
    await mkdir(host.at('/var/lib/bke/ledger'), { recursive: true });
    await writeFile(host.at(ledgerFile), encodeLine({ type: 'ledger', format: 2, machineId: '', time: '' }, 1));
    await expect(open()).rejects.toMatchObject({ code: 'BKE_LEDGER_NEWER', exitCode: 7 });
    expect(await lockOwner(host, '/var/lib/bke/lock')).toBeUndefined();
  });

  test('a ledger that was copied with its machine says so', async () => {
    await within((ledger) => ledger.apply('services', file('/etc/a', 'x')));
    expect((await readLedger(host)).otherMachine).toBe(false);
    await writeFile(host.at('/etc/machine-id'), 'another\n');
    expect((await readLedger(host)).otherMachine).toBe(true);
  });
});

describe('what undoing would do', () => {
  test('is told as it is: what was there before comes back, the rest goes', async () => {
    await writeFile(host.at('/etc/a'), 'original');
    await within(async (ledger) => {
      await ledger.apply('node', file('/etc/a', 'x'));
      await ledger.apply('node', file('/etc/b', 'x'));
      await ledger.apply('node', { kind: 'link', path: '/opt/l', target: '/etc/a' });
      await ledger.apply('node', { kind: 'sysctl', name: 'net.ipv4.ip_forward', value: '1' });
      await ledger.apply('node', { kind: 'directory', path: '/opt', mode: 0o700 });
      await ledger.apply('node', { kind: 'unit', name: 'u.service', text: '[Unit]\n', enabled: false, running: false });
      expect(ledger.resources().map(({ undo }) => `${undo.action} ${undo.what}`)).toEqual([
        'remove unit u.service',
        'change mode and owner of directory /opt back to what they were',
        'change kernel value net.ipv4.ip_forward back to 0',
        'remove link /opt/l',
        'remove file /etc/b',
        'change file /etc/a back to what it was',
      ]);
    });
  });
});

describe('scopes and versions', () => {
  test('the first original wins over all versions between', async () => {
    await writeFile(host.at('/etc/a'), 'original');
    for (const text of ['1', '2', '3']) await within((ledger) => ledger.apply('services', file('/etc/a', text)));
    await within(async (ledger) => {
      const [resource] = ledger.resources(['services']);
      expect(resource?.description).toBe('file /etc/a');
      if (resource !== undefined) expect(await ledger.undo(resource)).toEqual({ result: 'undone' });
    });
    expect(await content('/etc/a')).toBe('original');
  });

  test('an upgrade over an edited file keeps a copy of what it replaces', async () => {
    await within((ledger) => ledger.apply('services', file('/etc/a', '1')));
    await writeFile(host.at('/etc/a'), 'edited');
    const result = await within((ledger) => ledger.apply('services', file('/etc/a', '2')));
    expect(result).toEqual({ changed: true, keptAt: expect.stringMatching(/^\/var\/lib\/bke-kept\/.*-op-1\/etc\/a$/) });
    expect(await content(result.keptAt ?? '')).toBe('edited');
    expect(await content('/etc/a')).toBe('2');
  });

  test('what two scopes need goes with the last of them', async () => {
    await within(async (ledger) => {
      await ledger.apply('services', file('/opt/deep/a', 'x'));
      expect(await ledger.apply('node', file('/opt/deep/a', 'x'))).toEqual({ changed: false });
    });
    await within(async (ledger) => {
      expect(ledger.scopes).toEqual(['node', 'services']);
      for (const resource of ledger.resources(['services'])) {
        expect(resource.sharedWith).toEqual(['node']);
        expect(await ledger.undo(resource)).toEqual({ result: 'already', why: 'still needed by node' });
      }
      expect(ledger.scopes).toEqual(['node']);
    });
    expect(await content('/opt/deep/a')).toBe('x');
    await within(async (ledger) => {
      for (const resource of ledger.resources(['node'])) expect((await ledger.undo(resource)).result).toBe('undone');
    });
    expect(await host.files.stat('/opt/deep')).toBeUndefined();
  });

  test('undo goes from the last made to the first', async () => {
    await within(async (ledger) => {
      await ledger.apply('services', file('/opt/deep/a', 'x'));
      await ledger.apply('services', file('/opt/b', 'x'));
      await ledger.apply('services', file('/opt/deep/a', 'y'));
      expect(ledger.resources().map(({ key }) => key)).toEqual([
        'file:/opt/b',
        'file:/opt/deep/a',
        'directory:/opt/deep',
      ]);
    });
  });

  test('what was undone is known while the ledger lasts', async () => {
    await writeFile(host.at('/etc/a'), 'original');
    await within(async (ledger) => {
      await ledger.apply('bootstrap-cluster', file('/etc/a', 'x'));
      await ledger.apply('services', file('/etc/b', 'x'));
      for (const resource of ledger.resources(['bootstrap-cluster'])) await ledger.undo(resource);
      expect(ledger.ended).toMatchObject([{ last: { path: '/etc/a' } }]);
    });
    expect((await readLedger(host)).ended).toMatchObject([{ last: { kind: 'file', path: '/etc/a' } }]);
  });

  test('a plan observes and keeps nothing', async () => {
    await writeFile(host.at('/etc/a'), 'original');
    const was = await snapshot(host.root);
    const view = await readLedger(host);
    expect(await view.observe(file('/etc/a', 'x'))).toMatchObject({ satisfied: false, action: 'change' });
    expect(await view.observe(file('/etc/new/b', 'x'))).toMatchObject({ satisfied: false, action: 'create' });
    expect(await view.observe({ kind: 'zone', path: '/etc/systemd' })).toMatchObject({
      satisfied: false,
      action: 'create',
    });
    expect(await snapshot(host.root)).toEqual(was);
  });
});

describe('the end of the ledger', () => {
  test('it stays while something of ours does', async () => {
    await within(async (ledger) => {
      await ledger.apply('services', file('/opt/deep/a', 'x'));
      const { removed, left } = await ledger.remove();
      expect([removed, left.length]).toEqual([false, 2]);
    });
    expect((await readLedger(host)).resources()).toHaveLength(2);
  });

  test('it goes last, with the folders it is told; what is not ours stays and is named', async () => {
    await within(async (ledger) => {
      await ledger.apply('services', file('/etc/a', 'x'));
      for (const resource of ledger.resources()) await ledger.undo(resource);
      await mkdir(host.at('/var/lib/bke/operations/op-1'), { recursive: true });
      await writeFile(host.at('/var/lib/bke/theirs'), '');
      const { removed, left } = await ledger.remove(['operations']);
      expect([removed, left]).toEqual([true, [{ path: '/var/lib/bke/theirs', why: 'not part of the ledger' }]]);
    });
    expect(await host.files.list('/var/lib/bke')).toEqual(['theirs']);
  });

  test('a directory that holds only what is to stay is let go of, any other is not', async () => {
    await within(async (ledger) => {
      await ledger.apply('services', file('/opt/deep/er/a', 'x'));
      await ledger.apply('services', file('/opt/mixed/a', 'x'));
      for (const folder of ['deep/er/volumes/v1', 'mixed/volumes/v1', 'mixed/theirs'])
        await mkdir(host.at(`/opt/${folder}`), { recursive: true });
      const keep = ['/opt/deep/er/volumes', '/opt/mixed/volumes'];
      const outcomes: string[] = [];
      for (const resource of ledger.resources()) {
        const { result, why = '' } = await ledger.undo(resource, keep);
        outcomes.push(`${resource.key} ${result} ${why}`.trim());
      }
      expect(outcomes).toEqual([
        'file:/opt/mixed/a undone',
        'directory:/opt/mixed left not empty: theirs, volumes',
        'file:/opt/deep/er/a undone',
        'directory:/opt/deep/er kept only what stays is in it',
        'directory:/opt/deep kept only what stays is in it',
      ]);
      expect(ledger.resources().map(({ key }) => key)).toEqual(['directory:/opt/mixed']);
    });
    expect(await host.files.stat('/opt/deep/er/volumes/v1')).toBeDefined();
  });

  test('after its close nothing is changed or undone: the lock is not ours any more', async () => {
    const ledger = await openLedger(host, { operation: 'op', command: 'bke init' });
    await ledger.apply('services', file('/etc/a', 'x'));
    await ledger.close();
    await expect(ledger.apply('services', file('/etc/b', 'x'))).rejects.toMatchObject({ code: 'BKE_CANCELLED' });
    for (const resource of ledger.resources())
      await expect(ledger.undo(resource)).rejects.toMatchObject({ code: 'BKE_CANCELLED' });
    expect(await host.files.stat('/etc/a')).toBeDefined();
    expect(await host.files.stat('/etc/b')).toBeUndefined();
  });
});
