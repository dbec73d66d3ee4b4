import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { bootstrapFile } from '../../../src/config/bootstrap.ts';
import { problemLines } from '../../../src/config/problem.ts';
import { readYaml } from '../../../src/config/read-yaml.ts';
import { releaseManifest } from '../../../src/release/manifest.ts';
import { runCli } from '../../fakes/cli.ts';

let folder: string;
beforeEach(async () => {
  vi.spyOn(process, 'getuid').mockReturnValue(0);
  folder = await mkdtemp(join(tmpdir(), 'bke-yaml-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const keyLine = key.split('\n')[1] ?? '';

const commands = [
  ['bundle build', (file: string) => ['bundle', 'build', '-f', file, '-o', 'out.tar']],
  ['init', (file: string) => ['init', '--config', file]],
] as const;

async function run(words: readonly string[]) {
  return runCli(words, { cwd: folder, operationsDirectory: join(folder, 'ops') });
}

describe.each(commands)('a file that bke %s gets as YAML', (_name, words) => {
  it.each([
    ['key.pem', key],
    ['bag.pem', `Bag Attributes\n    friendlyName: site\n${key}`],
    ['line.txt', `${keyLine}\n`],
    ['one.yaml', `password: ${keyLine}\n`],
    ['nested.yaml', `kind: Bootstrap\nspec:\n  settings: ${JSON.stringify(key)}\n  ports: {secret: ${keyLine}}\n`],
    ['tag.yaml', `password: !${keyLine}\n`],
    ['alias.yaml', `password: *${keyLine}\n`],
    ['directive.yaml', `%${keyLine}\n---\na: b\n`],
    ['broken.yaml', `password: [${keyLine}\n${keyLine}: }\n`],
    ['escape.yaml', `password: "\\q${keyLine}"\n`],
    ['after.yaml', `password: "a"${keyLine}\n`],
    ['block.yaml', `password: |${keyLine}\n  x\n`],
  ])('is never shown: %s', async (name, text) => {
    await writeFile(join(folder, name), text);
    const { code, stdout, stderr } = await run(words(name));
    expect(code).toBe(3);
    expect(stderr).toContain(name);
    expect(stdout + stderr).not.toContain(keyLine.slice(0, 12));
    expect(stdout + stderr).not.toContain(keyLine.slice(-12));
  });

  it('is told to be a key where it is one', async () => {
    await writeFile(join(folder, 'key.pem'), key);
    expect((await run(words('key.pem'))).stderr).toContain(
      ']: key.pem: this is no YAML settings file (it looks like a PEM key)\n',
    );
  });

  it.each([
    ['zeros.tar', Buffer.alloc(3 * 1024 * 1024), 'is no YAML file (binary, 3.0 MiB)\n'],
    ['latin1.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xe4, 0x0a]), 'is no YAML file (binary, 5 B)\n'],
    ['large.yaml', `a: ${'ä'.repeat(600_000)}\n`, 'it has more than 1.0 MiB, 1.1 MiB\n'],
  ])('is refused before it is parsed: %s', async (name, content, told) => {
    await writeFile(join(folder, name), content);
    const { code, stderr } = await run(words(name));
    expect([code, stderr.length < 500]).toEqual([3, true]);
    expect(stderr).toContain(told);
  });

  it('has a hint where it is not there, or is a directory', async () => {
    const missing = await run(words('nope.yaml'));
    expect(missing.stderr).toMatch(/cannot read the .* nope\.yaml: there is no such file\nhint: Name a /);
    expect((await run(words('.'))).stderr).toContain('it is a directory\n');
  });
});

describe('a YAML file that is more than anyone writes', () => {
  function lines(text: string): string[] {
    const began = performance.now();
    const result = readYaml(text, 'f', releaseManifest);
    expect(performance.now() - began).toBeLessThan(15_000);
    return 'problems' in result ? problemLines(result.problems) : [];
  }
  const head = 'apiVersion: bke.io/v1alpha1\nkind: Release\nmetadata: {name: a, version: 1}\n';

  it.each([
    ['lists in lists', '['.repeat(100_000)],
    ['lists in lists that end', `a: ${'['.repeat(100)}${']'.repeat(100)}`],
    ['mappings in mappings', Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['a large list repeated', `a: &a [${'x,'.repeat(5_000)}]\nb: [${'*a,'.repeat(150)}]`],
    ['a list of itself', 'a: &a [*a, *a]'],
  ])('is refused in a few words: %s', (_name, text) => {
    const found = lines(text);
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(21);
  });

  it('shows twenty mistakes and how many more there are', () => {
    const found = lines(
      `${head}spec:\n  platforms: []\n  kubernetesVersions: []\n  artifacts:\n${'  - a\n'.repeat(500)}`,
    );
    expect(found).toHaveLength(21);
    expect(found.at(-1)).toBe('… and 481 more');
  });

  it('is read in seconds with thousands of names and numbers', () => {
    const names = Array.from({ length: 8_000 }, (_, i) => `n${i}: 1\n`).join('');
    expect(lines(head + names)).toHaveLength(21);
    const numbers = '  - {kind: file, version: 1}\n'.repeat(5_000);
    expect(lines(`${head}spec:\n  artifacts:\n${numbers}`)).toHaveLength(21);
  });
});

describe('what a value may hold', () => {
  const head = 'apiVersion: bke.io/v1alpha1\nkind: Bootstrap\nspec:\n';
  const problems = (text: string): string[] => {
    const result = readYaml(head + text, 'b.yaml', bootstrapFile);
    return 'problems' in result ? problemLines(result.problems) : [];
  };

  it('is no control character', () => {
    expect(problems('  dataDir: "/x\\x00y"\n  bundle: "a\\eb"\n')).toEqual([
      'b.yaml:4:12: spec.dataDir: has a control character',
      'b.yaml:5:11: spec.bundle: has a control character',
    ]);
    expect(problems('  settings: {containerd: {a: "one\\ttwo\\nthree"}}\n')).toEqual([]);
  });

  it('is told cut, and not at all where its name says that it is secret', () => {
    expect(problems(`  ports: {files: ${'x'.repeat(90)}}\n`)).toEqual([
      `b.yaml:4:18: spec.ports.files: must be a number, but is the text "${'x'.repeat(39)}…"`,
    ]);
    expect(problems('  ports: secret-text\n')).toEqual([
      'b.yaml:4:10: spec.ports: must be a mapping, but is the text "secret-text"',
    ]);
    const keyed = readYaml('token: abc\n', 'f', z.object({ token: z.number() }));
    expect('problems' in keyed && problemLines(keyed.problems)).toEqual([
      'f:1:8: token: must be a number, but is text',
    ]);
  });
});
