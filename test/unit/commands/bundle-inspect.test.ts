// What bke bundle inspect says of a signature whose key was not named.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openBundle } from '../../../src/release/bundle/open.ts';
import { contentOf } from '../../../src/tasks/services/content.ts';
import { servicePaths } from '../../../src/tasks/services/layout.ts';
import { contentText } from '../../../src/tasks/services/records.ts';
import { runCli } from '../../fakes/cli.ts';
import { FakeHost } from '../../fakes/fake-host.ts';
import { makeGoodBundle, signingKeys } from '../../fakes/release.ts';

const keys = signingKeys();
let folder: string;
let host: FakeHost;
beforeEach(async () => {
  ({ folder } = await makeGoodBundle(keys));
  host = await FakeHost.make();
});
afterEach(async () => {
  await host.dispose();
  await rm(folder, { recursive: true });
});

async function signatureLine(): Promise<string | undefined> {
  const argv = ['bundle', 'inspect', 'good.tar'];
  const { code, stdout, stderr } = await runCli(argv, { cwd: folder, openLocalHost: async () => host });
  expect(code, stderr).toBe(0);
  return stdout.split('\n').find((line) => line.startsWith('Signature:'));
}

async function record(text: string): Promise<void> {
  const path = join(host.root, servicePaths.content);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** @param change what is other in the record of the last load */
async function recordOfInit(change: { readonly digest?: `sha256:${string}` } = {}): Promise<void> {
  await using bundle = await openBundle(join(folder, 'good.tar'), { trustKeys: [keys.publicKey] });
  const content = contentOf(bundle);
  await record(contentText({ ...content, bundle: { ...content.bundle, ...change } }));
}

it('names the way to prove it where nothing is known of the bundle', async () => {
  expect(await signatureLine()).toMatch(/untrusted: .*--trust-key FILE \(signed by SHA256:/);
});

it('is trusted where bke init loaded this very bundle with its key', async () => {
  await recordOfInit();
  expect(await signatureLine()).toContain('trusted by the bke init that loaded it here (signed by SHA256:');
});

it('is not trusted for another bundle that was loaded, nor by a record that cannot be read', async () => {
  await recordOfInit({ digest: `sha256:${'0'.repeat(64)}` });
  expect(await signatureLine()).toContain('untrusted: ');
  await record('{');
  expect(await signatureLine()).toContain('untrusted: ');
});
