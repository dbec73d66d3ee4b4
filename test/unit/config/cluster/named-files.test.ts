import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readNamedFiles } from '../../../../src/config/cluster/named-files.ts';
import { configOf, clusterText } from './cluster-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bke-files-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(name: string, text: string, mode = 0o600): Promise<void> {
  await writeFile(join(folder, name), text);
  await chmod(join(folder, name), mode);
}

describe('the files that a cluster.yaml names', () => {
  it('are read once each, a password without the line end that an editor added', async () => {
    await Promise.all([write('pw', ' a b \r\n'), write('key', 'KEY\n'), write('ca', 'CA\n', 0o644)]);
    const ssh = { passwordFile: 'pw', bastion: { address: 'b', privateKeyFile: '~/key' } };
    const raw = {
      spec: { registry: { caFile: 'ca' }, hosts: [{ ssh }, { ssh }], addons: [{ values: { caFile: 'x' } }] },
    };
    const files = await readNamedFiles(raw, { path: join(folder, 'c.yaml'), home: folder });
    expect(Object.fromEntries(files)).toEqual({ pw: ' a b ', '~/key': 'KEY\n', ca: 'CA\n' });
  });

  it('are refused where others may read them', async () => {
    await write('pw', 'x', 0o640);
    const raw = { spec: { hosts: [{ ssh: { passwordFile: 'pw' } }] } };
    await expect(readNamedFiles(raw, { path: join(folder, 'c.yaml'), home: undefined })).rejects.toThrow('0640');
  });
});

describe('defaults of hosts', () => {
  it('are merged into each; a way to log in, sudo and bastion are taken as a whole', () => {
    const { hosts } = configOf(
      clusterText(
        '  defaults:\n    ssh: {user: ops, privateKeyFile: k, passphraseFile: p, sudo: {password: a}, bastion: {address: b, user: j}}\n    labels: {a: "1", b: "1"}\n    taints: [{key: x, effect: NoSchedule}, {key: y, effect: NoSchedule}]\n',
        [
          '{name: m1, address: 10.0.0.1, roles: [control-plane]}',
          '{name: w1, address: 10.0.0.2, roles: [worker], labels: {b: "2"}, taints: [{key: x, value: z, effect: NoSchedule}], ssh: {user: me, password: pw, sudo: {}, bastion: {address: c}}}',
        ],
      ),
    );
    const common = { port: 22, hostKeys: [], retain: true };
    expect(hosts[0]).toMatchObject({ labels: { a: '1', b: '1' }, nodeIP: '10.0.0.1' });
    expect(hosts[0]?.ssh).toEqual({
      ...common,
      user: 'ops',
      privateKeyFile: 'k',
      passphraseFile: 'p',
      sudo: { password: 'a' },
      bastion: { address: 'b', user: 'j', port: 22, hostKeys: [] },
    });
    expect(hosts[1]?.labels).toEqual({ a: '1', b: '2' });
    expect(hosts[1]?.taints).toEqual([
      { key: 'x', value: 'z', effect: 'NoSchedule' },
      { key: 'y', effect: 'NoSchedule' },
    ]);
    expect(hosts[1]?.ssh).toEqual({
      ...common,
      user: 'me',
      password: 'pw',
      sudo: {},
      bastion: { address: 'c', user: 'root', port: 22, hostKeys: [] },
    });
  });
});
