// Random change lists over a small set of paths, so that versions, parents and leftovers meet; and random states of a host before them.
import { chmod, chown, lutimes, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as fc from 'fast-check';
import type { Change } from '../../../../src/host/changes/change.ts';
import type { FakeHost } from '../../../fakes/fake-host.ts';

const text = fc.constantFrom('', 'a\n', 'b', 'first line\nsecond line\n', 'ü\u0000\n');
const mode = fc.constantFrom(0o600, 0o644, 0o755);
const owner = fc.constantFrom({ user: 0, group: 0 }, { user: 'daemon', group: 'daemon' }, { user: 12, group: 34 });

const filePaths = [
  '/etc/a.conf',
  '/etc/bke/b.conf',
  '/opt/one/two/three/c',
  '/etc/with space/ü\n\\x',
  '/usr/lib/z/secret',
];
const linkPaths = ['/usr/local/bin/x', '/opt/one/current', '/etc/links/deep/l'];
const directoryPaths = ['/opt/one', '/opt/one/two', '/var/lib/data', '/etc/bke'];
const zonePaths = ['/etc/kubernetes', '/opt/cni/bin'];

function unitText(line: string, wanted: boolean): string {
  return `[Service]\nExecStart=/bin/${line}\n${wanted ? '[Install]\nWantedBy=multi-user.target\n' : ''}`;
}

export const changeArbitrary: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant('file' as const),
    path: fc.constantFrom(...filePaths),
    mode,
    owner,
    content: fc.record({ text }),
    secret: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('link' as const),
    path: fc.constantFrom(...linkPaths),
    target: fc.constantFrom('/a', '../b'),
  }),
  fc.record({ kind: fc.constant('directory' as const), path: fc.constantFrom(...directoryPaths), mode, owner }),
  fc.record({
    kind: fc.constant('unit' as const),
    name: fc.constantFrom('one.service', 'two.service'),
    text: fc.constantFrom(unitText('a', true), unitText('b', true)),
    enabled: fc.boolean(),
    running: fc.boolean(),
    restartKey: fc.constantFrom('k1', 'k2'),
  }),
  fc.record({ kind: fc.constant('user' as const), name: fc.constantFrom('etcd', 'registry') }),
  fc.record({
    kind: fc.constant('sysctl' as const),
    name: fc.constantFrom('net.ipv4.ip_forward', 'fs.inotify.max_user_instances'),
    value: fc.constantFrom('0', '1', '8192'),
  }),
  fc.record({ kind: fc.constant('module' as const), name: fc.constantFrom('br_netfilter', 'overlay', 'llc') }),
  fc.record({
    kind: fc.constant('hosts-entry' as const),
    address: fc.constantFrom('10.0.0.5', '10.0.0.6'),
    names: fc.constantFrom(['registry.site'], ['api.site', 'api']),
  }),
  fc.record({ kind: fc.constant('zone' as const), path: fc.constantFrom(...zonePaths) }),
);

/** What is on the host before bke comes. */
export interface Before {
  readonly path: string;
  readonly put: 'file' | 'link' | 'directory';
  readonly content: string;
  readonly mode: number;
  readonly mtimeMs: number;
}

export const beforeArbitrary: fc.Arbitrary<Before[]> = fc.uniqueArray(
  fc.record({
    path: fc.constantFrom(
      ...filePaths,
      ...linkPaths,
      ...directoryPaths,
      '/etc/kubernetes/pki/user.crt',
      '/opt/cni/bin/vendor',
      '/etc/systemd/system/one.service',
      '/usr/lib/systemd/system/two.service',
    ),
    put: fc.constantFrom('file' as const, 'file' as const, 'link' as const, 'directory' as const),
    content: fc.constantFrom('', 'original\n', 'a\n', unitText('a', true), unitText('vendor', true)),
    mode,
    mtimeMs: fc.integer({ min: 1, max: 2_000_000_000_000 }),
  }),
  { selector: (before) => before.path, maxLength: 6 },
);

async function putOne(host: FakeHost, before: Before): Promise<void> {
  const path = host.at(before.path);
  await mkdir(dirname(path), { recursive: true });
  const time = before.mtimeMs / 1000;
  if (before.put === 'directory') await mkdir(path, { recursive: true });
  else if (before.put === 'link') {
    await symlink('/somewhere', path);
    await lutimes(path, time, time);
  } else {
    await writeFile(path, before.content);
    await utimes(path, time, time);
  }
  if (before.put === 'link') return;
  await chmod(path, before.mode | 0o700);
  await chown(path, 5, 6);
}

/** A path below another that is no directory can't be made: that one is left out. */
export async function put(host: FakeHost, befores: readonly Before[]): Promise<void> {
  for (const before of befores) await putOne(host, before).catch(() => undefined);
}
