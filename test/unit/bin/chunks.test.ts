import { Script } from 'node:vm';
import { expect, it } from 'vitest';
import { createRequire, type Require } from '../../../bin/chunks.ts';

const parameters = 'exports, require, module, BKE_BINARY';

/** Scripts of one chunk each, by name, and `first` with several; tells which were read. */
function loader(chunks: Record<string, string>, first: Record<string, string> = { 'first.js': '' }) {
  const read: string[] = [];
  const table = (entries: [string, string][]): string =>
    `({${entries.map(([name, body]) => `${JSON.stringify(name)}: function (${parameters}) {${body}\n}`).join(',')}})`;
  const load: Require = createRequire((name) => {
    read.push(name);
    const body = chunks[name];
    if (name === 'first.js') return new Script(table(Object.entries(first)));
    if (body === undefined) throw new Error(`no asset ${name}`);
    return new Script(table([[name, body]]));
  }, 'first.js');
  return { load, read };
}

it('reads a chunk when it is first required, and runs it once', () => {
  const { load, read } = loader({
    'a.js': `exports.b = require('./b.js');`,
    'b.js': 'module.exports = { runs: (globalThis.runs = (globalThis.runs ?? 0) + 1) };',
  });
  expect(read).toEqual(['first.js']);
  const a = load('./a.js');
  expect(a).toMatchObject({ b: { runs: 1 } });
  expect(load('./a.js')).toBe(a);
  expect(load('./b.js')).toEqual({ runs: 1 });
  expect(read).toEqual(['first.js', 'a.js', 'b.js']);
});

it('takes all chunks of the first script from it', () => {
  const { load, read } = loader({}, { 'first.js': `exports.x = require('./x.js').x;`, 'x.js': 'exports.x = 1;' });
  expect(load('./first.js')).toEqual({ x: 1 });
  expect(read).toEqual(['first.js']);
});

it('lets chunks require each other in a circle', () => {
  const { load } = loader({
    'a.js': `exports.name = () => 'a'; exports.both = require('./b.js').name;`,
    'b.js': `const a = require('./a.js'); exports.name = () => a.name() + 'b'; exports.result = () => a.both();`,
    'c.js': `require('./a.js'); exports.name = require('./b.js').result();`,
  });
  expect(load('./c.js')).toEqual({ name: 'ab' });
});

it('runs a chunk again that has thrown', () => {
  const { load } = loader({
    'state.js': 'exports.tries = 0;',
    'a.js': `if ((require('./state.js').tries += 1) === 1) throw new Error('not yet'); exports.x = 1;`,
  });
  expect(() => load('./a.js')).toThrow('not yet');
  expect(load('./a.js')).toEqual({ x: 1 });
});

it('knows the modules of Node and nothing else by other names', () => {
  const { load } = loader({ 'a.js': '', 'lost.js': 'x' });
  expect(load('node:fs')).toBe(process.getBuiltinModule('node:fs'));
  expect(load('fs')).toBe(load('node:fs'));
  for (const name of ['cpu-features', '/etc/passwd', '../a.js', 'node:nothing']) {
    expect(() => load(name)).toThrow(`Cannot find module '${name}'`);
  }
  expect(() => load('./missing.js')).toThrow('no asset missing.js');
});

it('gives chunks the binary for the names of a file', () => {
  const { load } = loader({ 'a.js': 'exports.file = BKE_BINARY;' });
  const path = process.execPath;
  const directory = path.slice(0, path.lastIndexOf('/'));
  expect(load('./a.js')).toEqual({ file: { path, directory, url: `file://${path}` } });
});
