import { chmod, copyFile, mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { digestOf, hexOf } from '../../../src/lib/digest.ts';
import { isChartVersion, normalVersion } from '../../../src/release/repository/chart-archive.ts';
import { renderIndex } from '../../../src/release/repository/charts.ts';
import { type FileRepository, openFileRepository } from '../../../src/release/repository/store.ts';
import { makeChart, temporaryFolder } from '../../fakes/release.ts';

let dir: string;
let repository: FileRepository;
const made: string[] = [];

beforeEach(async () => {
  dir = await temporaryFolder();
  made.push(dir);
  repository = await openFileRepository(dir);
});
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true });
});

function chart(name: string, version: string, more = ''): Promise<Buffer> {
  return makeChart(`apiVersion: v2\nname: ${name}\nversion: ${version}\n${more}`);
}

function add(path: string, bytes: Buffer, force = false): Promise<boolean> {
  const content = { path, digest: digestOf(bytes), size: bytes.length };
  return repository.add('charts', content, () => Readable.from([bytes]), { force });
}

const indexFile = z.object({
  entries: z.record(
    z.string(),
    z.array(z.object({ version: z.string(), urls: z.array(z.string()), digest: z.string() })),
  ),
});

async function indexed(): Promise<z.infer<typeof indexFile>['entries']> {
  return indexFile.parse(parse(renderIndex(await repository.charts(), 'charts/').toString())).entries;
}

describe('the chart index', () => {
  it('takes name and version from Chart.yaml, whatever the file is called', async () => {
    await writeFile(join(dir, 'charts/a-1.0.0-12.tgz'), await chart('a', '1.0.0-12'));
    await writeFile(join(dir, 'charts/a-b-1.0.0+x.tgz'), await chart('a-b', '1.0.0+x'));
    await writeFile(join(dir, 'charts/some-name.tgz'), await chart('other', '2.0.0'));
    const entries = await indexed();
    expect(Object.keys(entries)).toEqual(['a', 'a-b', 'other']);
    expect(entries['a']).toMatchObject([{ version: '1.0.0-12', urls: ['charts/a-1.0.0-12.tgz'] }]);
    expect(entries['a-b']).toMatchObject([{ version: '1.0.0+x', urls: ['charts/a-b-1.0.0%2Bx.tgz'] }]);
    expect(entries['other']).toMatchObject([{ version: '2.0.0', urls: ['charts/some-name.tgz'] }]);
  });

  it('lists what is bad as bad and hides no good chart', async () => {
    const good = await chart('good', '1.0.0');
    await writeFile(join(dir, 'charts/good-1.0.0.tgz'), good);
    await writeFile(join(dir, 'charts/half.tgz'), good.subarray(0, good.length - 20));
    await writeFile(join(dir, 'charts/zeros.tgz'), '');
    await writeFile(join(dir, 'charts/odd-1.0.0-0123.tgz'), await chart('odd', '1.0.0-0123'));
    await writeFile(join(dir, 'charts/number.tgz'), await chart('number', '1.2.3', 'appVersion: 1.0\n'));
    await writeFile(join(dir, 'charts/none.tgz'), await makeChart('x', 'a/b'));
    await writeFile(join(dir, 'charts/noname.tgz'), await makeChart('version: 1.0.0\n'));
    const { charts, bad } = await repository.charts();
    expect(charts.map(({ metadata }) => metadata.name)).toEqual(['good']);
    expect(bad).toEqual([
      { file: 'half.tgz', reason: 'half.tgz is no whole chart archive: unexpected end of file' },
      {
        file: 'noname.tgz',
        reason: 'noname.tgz: its Chart.yaml is not valid: name: must be text',
      },
      { file: 'none.tgz', reason: 'none.tgz has no <chart>/Chart.yaml' },
      {
        file: 'number.tgz',
        reason: 'number.tgz: its Chart.yaml is not valid: appVersion: must be text',
      },
      {
        file: 'odd-1.0.0-0123.tgz',
        reason: 'odd-1.0.0-0123.tgz: its Chart.yaml is not valid: version: is no semantic version',
      },
      { file: 'zeros.tgz', reason: 'zeros.tgz is no whole chart archive: unexpected end of file' },
    ]);
    const text = renderIndex({ charts, bad }, 'charts/').toString();
    expect(text).toContain('# not listed: half.tgz is no whole chart archive');
    expect(Object.keys(indexFile.parse(parse(text)).entries)).toEqual(['good']);
  });

  it('sorts versions as versions, newest first, and is the same bytes for the same charts', async () => {
    for (const version of ['1.2.0', '1.10.0', '1.9.0', '2.0.0-rc.1', '2.0.0', '2.0.0-rc.2']) {
      await add(`a-${version}.tgz`, await chart('a', version));
    }
    expect((await indexed())['a']?.map(({ version }) => version)).toEqual([
      '2.0.0',
      '2.0.0-rc.2',
      '2.0.0-rc.1',
      '1.10.0',
      '1.9.0',
      '1.2.0',
    ]);
    const first = renderIndex(await repository.charts(), '');
    await utimes(join(dir, 'charts/a-2.0.0.tgz'), new Date(), new Date());
    const other = await openFileRepository(dir);
    expect(renderIndex(await other.charts(), '').equals(first)).toBe(true);
    expect(first.toString()).toContain('created: 2026-03-01T12:00:00.000Z');
  });

  it('shows a file copied in by hand, and drops one that was removed by hand', async () => {
    await add('a-1.0.0.tgz', await chart('a', '1.0.0'));
    await writeFile(join(dir, 'copied'), await chart('b', '1.0.0'));
    await copyFile(join(dir, 'copied'), join(dir, 'charts/b-1.0.0.tgz'));
    expect(Object.keys(await indexed())).toEqual(['a', 'b']);
    await rm(join(dir, 'charts/a-1.0.0.tgz'));
    expect(Object.keys(await indexed())).toEqual(['b']);
  });

  it('removes exactly the one chart', async () => {
    for (const version of ['1.0.0', '1.0.0-1', '1.0.1']) await add(`a-${version}.tgz`, await chart('a', version));
    expect(await repository.remove('charts', 'a-1.0.0.tgz')).toBe(true);
    expect((await indexed())['a']?.map(({ version }) => version)).toEqual(['1.0.1', '1.0.0-1']);
    expect(await repository.remove('charts', 'a-1.0.0.tgz')).toBe(false);
  });

  it('of two files with one name and version lists the rightly named one', async () => {
    const right = await chart('a', '1.0.0');
    await writeFile(join(dir, 'charts/1.tgz'), await chart('a', '1.0.0', 'description: another\n'));
    await writeFile(join(dir, 'charts/a-1.0.0.tgz'), right);
    expect((await indexed())['a']).toMatchObject([{ digest: hexOf(digestOf(right)), urls: ['charts/a-1.0.0.tgz'] }]);
    expect((await repository.charts()).bad).toEqual([
      { file: '1.tgz', reason: '1.tgz is a 1.0.0 with other content than a-1.0.0.tgz' },
    ]);
  });
});

describe('pushing a chart', () => {
  it('of the same version with other content is refused unless forced', async () => {
    const first = await chart('a', '1.0.0');
    const second = await chart('a', '1.0.0', 'description: changed\n');
    expect(await add('a-1.0.0.tgz', first)).toBe(true);
    expect(await add('a-1.0.0.tgz', first)).toBe(false);
    const refusal = {
      code: 'BKE_CHART_CONFLICT',
      message: `chart a 1.0.0 is in the repository with other content (a-1.0.0.tgz, ${digestOf(first)})`,
    };
    await expect(add('a-1.0.0.tgz', second)).rejects.toMatchObject(refusal);
    await expect(add('other.tgz', second)).rejects.toMatchObject(refusal);
    expect(await readdir(join(dir, 'charts'))).toEqual(['a-1.0.0.tgz']);
    expect(await add('other.tgz', second, true)).toBe(true);
    expect(await readdir(join(dir, 'charts'))).toEqual(['other.tgz']);
    expect((await indexed())['a']).toMatchObject([{ digest: hexOf(digestOf(second)) }]);
  });

  it('that is none leaves nothing behind', async () => {
    await expect(add('x.tgz', Buffer.from('no chart'))).rejects.toMatchObject({ code: 'BKE_CHART_INVALID' });
    await expect(add('../x.tgz', await chart('a', '1.0.0'))).rejects.toMatchObject({ code: 'BKE_ARTIFACT_UNUSABLE' });
    expect(await readdir(join(dir, 'charts'))).toEqual([]);
  });
});

describe('chart versions', () => {
  it.each(['1', '1.2', '1.2.3', 'v1.2.3', '1.2.3-rc.1', '1.2.3+build.07', '1.0-alpha'])('%s is one', (version) => {
    expect(isChartVersion(version)).toBe(true);
  });
  it.each(['', 'x', '1.2.3.4', '1.0.0-0123', '01.2.3', '1.2.3-', '1..2'])('%j is none', (version) => {
    expect(isChartVersion(version)).toBe(false);
  });
  it('are compared with all three numbers', () => {
    expect(normalVersion('v1.2-rc.1')).toBe('1.2.0-rc.1');
  });
});

describe('the file repository', () => {
  const bytes = Buffer.from('content');
  const file = { path: 'a/b/c', digest: digestOf(bytes), size: bytes.length };
  const source = () => Readable.from([bytes]);

  it('has exact modes whatever the umask', async () => {
    const { stat } = await import('node:fs/promises');
    const before = process.umask(0o077);
    try {
      await repository.add('files', file, source);
    } finally {
      process.umask(before);
    }
    const modes = await Promise.all(
      ['files', 'files/a', 'files/a/b/c'].map(async (path) => (await stat(join(dir, path))).mode & 0o777),
    );
    expect(modes).toEqual([0o755, 0o755, 0o644]);
  });

  it('refuses bytes that are not what they should be and keeps what was there', async () => {
    await repository.add('files', file, source);
    const wanted = { ...file, digest: digestOf(Buffer.from('new')), size: 3 };
    await expect(repository.add('files', wanted, () => Readable.from([Buffer.from('neu')]))).rejects.toMatchObject({
      code: 'BKE_DIGEST_MISMATCH',
      message: `a/b/c should be ${wanted.digest} but what came is ${digestOf(Buffer.from('neu'))} (3 bytes)`,
    });
    expect(await repository.find('files', 'a/b/c')).toMatchObject(file);
    expect(await readdir(join(dir, 'files/a/b'))).toEqual(['c']);
  });

  it('removes what a killed run left of a file, and nothing of a living one', async () => {
    await mkdir(join(dir, 'files/a/b'), { recursive: true });
    const living = `.c.${process.pid}-01234567.tmp`;
    await writeFile(join(dir, 'files/a/b/.c.4194300-01234567.tmp'), 'left');
    await writeFile(join(dir, 'files/a/b', living), 'being written');
    await repository.add('files', file, source);
    expect(await readdir(join(dir, 'files/a/b'))).toEqual([living, 'c']);
    expect((await repository.list('files')).map(({ path }) => path)).toEqual(['a/b/c']);
  });

  it('leads nowhere else', async () => {
    await writeFile(join(dir, 'secret'), 'x');
    await symlink(join(dir, 'secret'), join(dir, 'files/link'));
    await symlink(dir, join(dir, 'files/out'));
    for (const path of [
      '../secret',
      'link',
      'out/secret',
      '/etc/passwd',
      'a/../../secret',
      '.digests',
      'x\u0000y',
      '',
    ]) {
      expect(await repository.find('files', path)).toBeUndefined();
      expect(await repository.remove('files', path)).toBe(false);
    }
    expect(await repository.entries('files', 'out')).toBeUndefined();
  });

  it('hashes a changed file again, and an unchanged one never', async () => {
    await writeFile(join(dir, 'files/x'), 'one');
    expect((await repository.find('files', 'x'))?.digest).toBe(digestOf('one'));
    await writeFile(join(dir, 'files/x'), 'two!');
    expect((await repository.find('files', 'x'))?.digest).toBe(digestOf('two!'));
    const record = join(dir, '.digests/files/x.json');
    const { readFile } = await import('node:fs/promises');
    const kept = (await readFile(record, 'utf8')).replace(hexOf(digestOf('two!')), 'f'.repeat(64));
    await writeFile(record, kept);
    expect((await (await openFileRepository(dir)).find('files', 'x'))?.digest).toBe(`sha256:${'f'.repeat(64)}`);
    await writeFile(record, 'damaged');
    await chmod(record, 0o400);
    expect((await (await openFileRepository(dir)).find('files', 'x'))?.digest).toBe(digestOf('two!'));
  });
});
