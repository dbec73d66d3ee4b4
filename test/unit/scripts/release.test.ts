import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeRelease } from '../../../scripts/release-files.ts';

let directory: string;
let dist: string;
let out: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bke-release-'));
  dist = join(directory, 'dist');
  out = join(dist, 'release');
  mkdirSync(dist);
  for (const arch of ['amd64', 'arm64']) writeFileSync(join(dist, `bke-linux-${arch}`), arch, { mode: 0o755 });
  writeFileSync(join(dist, 'NOTICE'), 'licences');
  writeFileSync(join(dist, 'bke-linux-amd64.new'), 'half');
});
afterEach(() => rmSync(directory, { recursive: true }));

test('has the layout that download.sh asks for, with sums that sha256sum takes', async () => {
  const folder = await writeRelease({ dist, out, version: '0.2.0', url: 'https://files.example.com/bke' });
  expect(folder).toBe(join(out, 'v0.2.0'));
  expect(readdirSync(out).sort()).toEqual(['download.sh', 'latest', 'v0.2.0']);
  expect(readdirSync(folder).sort()).toEqual([
    'NOTICE',
    'bke-linux-amd64',
    'bke-linux-arm64',
    'download.sh',
    'sha256sums.txt',
  ]);
  expect(readFileSync(join(out, 'latest'), 'utf8')).toBe('v0.2.0\n');
  const checked = execFileSync('sha256sum', ['-c', 'sha256sums.txt'], { cwd: folder, encoding: 'utf8' });
  expect(checked).toBe('bke-linux-amd64: OK\nbke-linux-arm64: OK\n');
  expect(statSync(join(folder, 'bke-linux-amd64')).mode & 0o777).toBe(0o755);
});

test('each download.sh knows the server, and the one of a version that version', async () => {
  const folder = await writeRelease({ dist, out, version: '0.2.0', url: 'https://files.example.com/bke' });
  expect(readFileSync(join(folder, 'download.sh'), 'utf8')).toMatch(
    /^default_url='https:\/\/files\.example\.com\/bke'\ndefault_version='v0\.2\.0'$/m,
  );
  expect(readFileSync(join(out, 'download.sh'), 'utf8')).toContain("default_version=''\n");
});

test('again is the same, a newer one stands beside it, and text that a shell would run is refused', async () => {
  await writeRelease({ dist, out, version: '0.2.0' });
  await writeRelease({ dist, out, version: '0.2.0' });
  await writeRelease({ dist, out, version: '0.3.0' });
  expect(readdirSync(out).sort()).toEqual(['download.sh', 'latest', 'v0.2.0', 'v0.3.0']);
  expect(readFileSync(join(out, 'latest'), 'utf8')).toBe('v0.3.0\n');
  for (const url of ["https://x/'; reboot; '", 'http://files.example.com', 'https://x/$(id)'])
    await expect(writeRelease({ dist, out, version: '0.2.0', url })).rejects.toThrow('is no https address');
  rmSync(join(dist, 'bke-linux-amd64'));
  rmSync(join(dist, 'bke-linux-arm64'));
  await expect(writeRelease({ dist, out, version: '0.2.0' })).rejects.toThrow('npm run build');
});
