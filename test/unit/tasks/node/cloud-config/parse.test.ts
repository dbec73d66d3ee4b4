import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BkeError } from '../../../../../src/lib/errors.ts';
import { readBootstrapData } from '../../../../../src/tasks/node/cloud-config/parse.ts';

const metadata = { hostname: 'cp1', address: '10.0.0.11', instanceID: 'claim-1' };
const read = (data: string) => readBootstrapData(data, metadata);
const plain = (yaml: string) => read(`#cloud-config\n${yaml}`);

/** Made by the writers of Cluster API v1.14.2 (bootstrap/kubeadm/pkg/cloudinit). */
const written = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, 'cluster-api', `${name}.yaml`), 'utf8');

function problems(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(BkeError);
    if (thrown instanceof BkeError) {
      expect(thrown.code).toBe('BKE_BOOTSTRAP_DATA_INVALID');
      return thrown.details;
    }
  }
  return [];
}

describe('bootstrap data', () => {
  it.each(['control-plane-init', 'control-plane-join', 'worker-full'])(
    'of Cluster API is read whole: %s',
    async (name) => {
      const { text: _, files, ...rest } = read(await written(name));
      const shown = files.map(({ content, mode, ...file }) => ({
        ...file,
        mode: mode.toString(8),
        content: content.toString('utf8'),
      }));
      const golden = join(import.meta.dirname, 'golden', `${name}.json`);
      await expect(`${JSON.stringify({ files: shown, ...rest }, undefined, 2)}\n`).toMatchFileSnapshot(golden);
    },
  );

  it('with disks is refused, with each reason', async () => {
    const data = await written('worker-disks');
    expect(problems(() => read(data))).toEqual([
      expect.stringMatching(/^line 18: disk_setup: bke does not partition disks/),
      expect.stringMatching(/^line 21: fs_setup: bke does not make file systems/),
      expect.stringMatching(/^line 27: mounts: bke does not mount disks/),
    ]);
  });

  it('tells everything that is wrong at once, each with its line', () => {
    const data = `
write_file: []
packages: [curl]
write_files:
  - path: etc/x
    permissions: 644
    owner: a:b:c
    encoding: rot13
    defer: true
  - content: x
  - path: /proc/sys/kernel/panic
  - path: /var/lib/bke/ledger/ledger.jsonl
  - path: /etc/../root/x
runcmd: echo
bootcmd: [[], {a: b}]
users:
  - default
  - name: Root
    passwd: plain
    inactive: true
ntp:
  servers: [a]
  pools: [x]
`;
    expect(problems(() => plain(data))).toEqual([
      'line 3: write_file: bke does not know this field; did you mean write_files?',
      'line 4: packages: bke does not know this field',
      'line 6: write_files[0].path: must be an absolute path without . and ..',
      "line 7: write_files[0].permissions: must be in quotes, such as '0644'",
      'line 8: write_files[0].owner: must be USER or USER:GROUP',
      expect.stringMatching(/^line 9: write_files\[0\]\.encoding: must be one of text\/plain, b64, base64/),
      'line 10: write_files[0].defer: bke does not know this field',
      'line 11: write_files[1].path: is missing',
      'line 12: write_files[2].path: bke writes no files there',
      'line 13: write_files[3].path: bke writes no files there',
      'line 14: write_files[4].path: must be an absolute path without . and ..',
      'line 15: runcmd: must be a list',
      'line 16: bootcmd[0]: must not be empty',
      'line 16: bootcmd[1]: must be a text or a list of texts',
      'line 18: users[0]: must be a mapping',
      'line 19: users[1].name: must be a name of lower case letters, digits, - and _',
      'line 20: users[1].passwd: must be the hash of a password, as mkpasswd makes it',
      'line 21: users[1].inactive: cloud-init does nothing for true; lock_passwd locks the password',
      'line 24: ntp.pools: bke does not know this field',
    ]);
  });

  it.each([
    ['', 'it does not begin with #cloud-config'],
    ['runcmd: [a]', 'it does not begin with #cloud-config'],
    ['{"ignition": {"version": "2.3.0"}}', 'this looks like Ignition'],
    ['#!/bin/sh\necho', 'it does not begin with #cloud-config'],
    ['## template: basic\n#cloud-config\n', 'templates of jinja only'],
    ['## template: jinja\nruncmd: [a]', 'it does not begin with #cloud-config'],
    ['## template: jinja\n#cloud-config\nruncmd: [{{ x }}]', 'line 3, column 10: {{ x }}: bke has values below'],
    ['#cloud-config\nruncmd: [a]\n---\nruncmd: [b]', 'a second document begins here'],
    ['#cloud-config\nruncmd: [a]\nruncmd: [b]', 'Map keys must be unique'],
    ['#cloud-config\nwrite_files: [{path: /x, content: !!binary aGk=}]', 'line 2'],
    ['#cloud-config\nwrite_files: [{path: /x, encoding: b64, content: "aGk"}]', 'content: is not base64'],
    ['#cloud-config\nwrite_files: [{path: /x, encoding: gz+b64, content: "aGVsbG8K"}]', 'content: is not gzip'],
    ['#cloud-config\nntp: {enabled: true}', 'ntp: names no servers'],
    ['#cloud-config\n- a', 'the data must be a mapping'],
  ])('is refused: %j', (data, message) => {
    expect(problems(() => read(data)).join('\n')).toContain(message);
  });

  it('has at most what a Secret can hold', () => {
    expect(problems(() => plain(`# ${'x'.repeat(1 << 20)}`)).join('')).toContain('bke reads at most 1048576');
  });

  it('is not rendered without the header of a template', () => {
    expect(plain('runcmd: ["echo {{ x }} {% y %}"]').runcmd).toEqual(['echo {{ x }} {% y %}']);
  });

  it('has numbers and booleans as they were written where a text belongs', () => {
    const { files, users, runcmd } = plain(
      'write_files: [{path: /x, permissions: 0600, append: yes, owner: 1000:1000, content: 0o17}]\n' +
        'users: [{name: ops, gecos: 1.30, lock_passwd: no, sudo: false}]\nruncmd: [[sleep, 010], true]\n',
    );
    expect(files).toEqual([
      {
        path: '/x',
        mode: 0o600,
        append: true,
        owner: { user: 1000, group: 1000 },
        content: Buffer.from('0o17'),
      },
    ]);
    expect(users).toMatchObject([{ gecos: '1.30', lockPassword: false, sudo: [] }]);
    expect(runcmd).toEqual([['sleep', '010'], 'true']);
  });

  it('does not unpack without bounds', () => {
    const bomb = gzipSync(Buffer.alloc(64 << 20)).toString('base64');
    expect(problems(() => plain(`write_files: [{path: /x, encoding: gz+b64, content: ${bomb}}]`)).join('')).toContain(
      'too large (at most 16 MiB)',
    );
  });

  it('never tells a value in an error, wherever it slipped to', () => {
    const secret = 'MIIEpAIBAAKCAQEAsecret';
    const key = fc.constantFrom(
      'write_files',
      'path',
      'content',
      'encoding',
      'owner',
      'users',
      'passwd',
      'ntp',
      'runcmd',
      'x',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(secret, `${secret}\n`, `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n`, null, true, 7),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.oneof(key, fc.constant(secret)), tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(problems(() => plain(JSON.stringify(value))).join('\n')).not.toContain('MIIE');
      }),
      { numRuns: 500 },
    );
  });

  it('never fails otherwise, and never takes a field it does not know', () => {
    const known = ['write_files', 'bootcmd', 'runcmd', 'users', 'ntp'];
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 12 }), fc.json({ maxDepth: 3 }), (name, value) => {
        const found = problems(() => plain(`${JSON.stringify(name)}: ${value}\n`));
        if (!known.includes(name)) expect(found).not.toEqual([]);
      }),
    );
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => void problems(() => plain(text))));
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => void problems(() => read(text))));
  });
});
