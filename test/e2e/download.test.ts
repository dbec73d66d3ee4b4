// The way of a host that is cleaned up by hand: download.sh, init, reset, and the removal of the program leave the host as it was.
import { appendFile, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeRelease } from '../../scripts/release-files.ts';
import { bkeVersion } from '../../src/lib/version.ts';
import { diffScans, scanMachine, stopHosts } from '../testbed/index.ts';
import { type BkeHost, bkeHost, initOptions, outcome } from './helpers/bke-host.ts';

const dist = join(import.meta.dirname, '../../dist');
let host: BkeHost;
let work: string;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'bke-e2e-download-'));
  host = await bkeHost('download1');
  await host.output('rm /usr/local/bin/bke');
  await release('one');
  await release('two');
});
afterAll(async () => {
  await stopHosts();
  await rm(work, { recursive: true });
});

/** Of the built program; `two` has the same version and other bytes. */
async function release(name: 'one' | 'two'): Promise<void> {
  const from = join(work, name);
  await mkdir(from);
  for (const file of ['bke-linux-amd64', 'NOTICE']) await copyFile(join(dist, file), join(from, file));
  if (name === 'two') await appendFile(join(from, 'bke-linux-amd64'), '\n');
  await writeRelease({ dist: from, out: join(from, 'release'), version: await bkeVersion() });
  await host.copyIn(join(from, 'release'), `/srv/${name}`);
}

async function download(name: 'one' | 'two'): Promise<string> {
  const result = await host.exec(`cat /srv/${name}/download.sh | BKE_DOWNLOAD_URL=/srv/${name} sh`);
  expect(result.exitCode, outcome(result)).toBe(0);
  return result.stderr;
}

async function bke(words: string): Promise<void> {
  const result = await host.bke(words);
  expect(result.exitCode, outcome(result)).toBe(0);
}

it('leaves nothing of bke on the host', async () => {
  const before = await scanMachine(host);
  expect(await download('one')).toMatch(/is in \/usr\/local\/bin\/bke\.$/);
  await bke(`init ${initOptions} --yes`);
  // What serves now runs from a folder of its own, so the program may be replaced under it.
  expect(await download('two')).toContain('is /usr/local/bin/bke.old');
  expect(await host.output('which bke; cd /usr/local/bin; ls bke*')).toBe('/usr/local/bin/bke\nbke\nbke.old');
  await bke('reset --all --mount --yes');
  await host.output('which bke | xargs rm -rf');
  await host.exec('systemctl stop systemd-timedated');
  expect(diffScans(before, await scanMachine(host))).toEqual([]);
});
