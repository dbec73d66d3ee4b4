// Files of this machine: exact attributes under any umask, whole or not there, never through a link.
import { execFile } from 'node:child_process';
import real, { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { draftPrefix } from '../../../../src/host/drafts.ts';
import { errnoOf } from '../../../../src/host/errno.ts';
import { LocalFiles } from '../../../../src/host/local/local-files.ts';
import { openLocalHost } from '../../../../src/host/local/local-host.ts';
import { digestOf } from '../../../../src/lib/digest.ts';

const me = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const files = new LocalFiles();
let top: string;

beforeEach(async () => {
  top = await mkdtemp('/tmp/bke-files-');
});

afterEach(async () => {
  await rm(top, { recursive: true, force: true });
});

async function modeOf(path: string): Promise<number> {
  return (await lstat(path)).mode & 0o7777;
}

describe('attributes', () => {
  test.each([0o022, 0o077, 0o000])('are exact under umask %o', async (umask) => {
    const script = `
      process.umask(${umask});
      const { LocalFiles } = await import('${new URL('../../../../src/host/local/local-files.ts', import.meta.url).href}');
      const files = new LocalFiles();
      const ids = { uid: ${me.uid}, gid: ${me.gid} };
      await files.makeDirectory('${top}/d', { mode: 0o755, ...ids });
      await files.write('${top}/d/unit', 'x', { mode: 0o644, ...ids });
      await files.write('${top}/d/secret', 'x', { mode: 0o600, ...ids });
      await files.write('${top}/d/binary', 'x', { mode: 0o4755, ...ids });
      await files.append('${top}/d/log', 'x');`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    const modes = await Promise.all(
      ['', '/unit', '/secret', '/binary', '/log'].map((name) => modeOf(`${top}/d${name}`)),
    );
    expect(modes).toEqual([0o755, 0o644, 0o600, 0o4755, 0o600]);
  });

  test('a modification time is restored to the nanosecond', async () => {
    await files.write(`${top}/f`, 'x', { mode: 0o644, ...me, mtimeNs: '1700000000123456789' });
    expect((await files.stat(`${top}/f`))?.mtimeNs).toBe('1700000000123456789');
  });

  test('of a link are its own: what it leads to is not touched', async () => {
    await writeFile(`${top}/target`, 'x', { mode: 0o600 });
    await symlink('target', `${top}/link`);
    await files.setAttributes(`${top}/link`, { mode: 0o777, ...me });
    expect(await modeOf(`${top}/target`)).toBe(0o600);
  });
});

describe('writing', () => {
  test('replaces a link, not what it leads to', async () => {
    await writeFile(`${top}/target`, 'theirs');
    await symlink('target', `${top}/f`);
    await files.write(`${top}/f`, 'ours', { mode: 0o644, ...me });
    expect([await readFile(`${top}/target`, 'utf8'), await readFile(`${top}/f`, 'utf8')]).toEqual(['theirs', 'ours']);
  });

  test('that fails in the middle leaves the old file and nothing beside it', async () => {
    await writeFile(`${top}/f`, 'old');
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('new');
      throw new Error('the source broke');
    }
    await expect(files.write(`${top}/f`, Readable.from(broken()), { mode: 0o644, ...me })).rejects.toThrow(
      'the source broke',
    );
    expect([await readdir(top), await readFile(`${top}/f`, 'utf8')]).toEqual([['f'], 'old']);
  });

  test('puts its temporary file in the same directory, where the right security label is given', async () => {
    const seen: string[] = [];
    async function* watching(): AsyncGenerator<Buffer> {
      seen.push(...(await readdir(top)));
      yield Buffer.from('x');
    }
    await files.write(`${top}/f`, Readable.from(watching()), { mode: 0o644, ...me });
    expect(seen).toEqual([expect.stringMatching(new RegExp(`^\\${draftPrefix('f')}[0-9a-f]{12}$`))]);
  });

  test('says the path and the reason when the system refuses', async () => {
    const refused = files.write(`${top}/missing/f`, 'x', { mode: 0o644, ...me });
    await expect(refused).rejects.toMatchObject({
      code: 'BKE_SYSTEM',
      message: `writing ${top}/missing/f: no such file or directory (ENOENT)`,
    });
    expect(errnoOf(await refused.catch((thrown: unknown) => thrown))).toBe('ENOENT');
  });

  test('of a directory never replaces one that is there', async () => {
    await mkdir(`${top}/d`);
    const making = files.makeDirectory(`${top}/d`, { mode: 0o755, ...me });
    expect(errnoOf(await making.catch((thrown: unknown) => thrown))).toBe('EEXIST');
    expect(await readdir(top)).toEqual(['d']);
  });
});

describe('reading', () => {
  test('has a bound, does not follow links and is not held up by a pipe', async () => {
    await writeFile(`${top}/big`, Buffer.alloc(100));
    await symlink('big', `${top}/link`);
    await promisify(execFile)('mkfifo', [`${top}/pipe`]);
    await expect(files.read(`${top}/big`, { maxBytes: 99 })).rejects.toMatchObject({ code: 'BKE_FILE_TOO_LARGE' });
    await expect(files.read(`${top}/link`)).rejects.toMatchObject({ code: 'BKE_SYSTEM' });
    await expect(files.digest(`${top}/pipe`)).rejects.toMatchObject({ code: 'BKE_SYSTEM' });
    expect(await files.read(`${top}/none`)).toBeUndefined();
    expect(await files.read(`${top}/big/below`)).toBeUndefined();
  });

  test('a tree names everything once, also what is no UTF-8', async () => {
    await mkdir(`${top}/a`);
    await writeFile(Buffer.concat([Buffer.from(`${top}/a/`), Buffer.from([0xff, 0x41])]), 'x');
    await writeFile(`${top}/a/ü`, 'y');
    await symlink('nowhere', `${top}/l`);
    const seen: (string | undefined)[][] = [];
    for await (const entry of files.walk(top, { digestUpTo: 10 }))
      seen.push([entry.path, entry.type, entry.digest ?? entry.target]);
    expect(seen).toEqual([
      ['', 'directory', undefined],
      ['a', 'directory', undefined],
      ['a/ü', 'file', digestOf('y')],
      ['a/\\xffA', 'file', digestOf('x')],
      ['l', 'link', 'nowhere'],
    ]);
  });
});

test('a tree with names that are no UTF-8, without right to read, and deep goes as a whole', async () => {
  await writeFile(Buffer.concat([Buffer.from(`${top}/`), Buffer.from([0xfe])]), 'x');
  await mkdir(join(top, ...Array.from({ length: 60 }, () => 'deep')), { recursive: true });
  await mkdir(`${top}/closed/inner`, { recursive: true });
  await chmod(`${top}/closed`, 0o500);
  if (me.uid !== 0) await chmod(`${top}/closed`, 0o700);
  const inPlace = new LocalFiles({ privateView: false });
  expect(await inPlace.removeTree(top)).toEqual({ removed: 64, left: [] });
  await mkdir(top);
});

test('an upload that is not what was meant never reaches its place', async () => {
  const host = await openLocalHost();
  const target = { digest: digestOf('good'), mode: 0o755 };
  await expect(host.upload(Readable.from([Buffer.from('bad')]), `${top}/bke`, target)).rejects.toMatchObject({
    code: 'BKE_DIGEST_MISMATCH',
  });
  expect(await readdir(top)).toEqual([]);
  if (me.uid !== 0) return;
  await host.upload(Readable.from([Buffer.from('good')]), `${top}/bke`, target);
  expect([await readFile(`${top}/bke`, 'utf8'), await modeOf(`${top}/bke`)]).toEqual(['good', 0o755]);
});

describe('what is put in place', () => {
  // A file made elsewhere keeps the label of that place (SELinux), and another file system takes no rename.
  test('is made in the directory it will be in, and never moved from another', async () => {
    const moved: [string, string][] = [];
    const watched = new LocalFiles({
      fs: {
        ...real,
        rename: async (from, to) => {
          moved.push([String(from), String(to)]);
          await real.rename(from, to);
        },
      },
    });
    await watched.makeDirectory(join(top, 'd'), { mode: 0o755, ...me });
    await watched.write(join(top, 'd/program'), Readable.from(['x']), { mode: 0o755, ...me });
    await watched.write(join(top, 'd/program'), 'y', { mode: 0o755, ...me });
    expect(moved).toHaveLength(3);
    expect(moved.map(([from, to]) => [dirname(from), to.startsWith(`${dirname(from)}/`)])).toEqual(
      moved.map(([, to]) => [dirname(to), true]),
    );
  });
});
