// A whole Linux host in a temporary directory: real files below a root, faked system programs, and a bke that can die between any two effects.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Host, HostFiles, RunOptions, RunResult, UploadTarget } from '../../src/host/host.ts';
import { LocalFiles } from '../../src/host/local/local-files.ts';
import { uploadTo } from '../../src/host/local/local-host.ts';
import { dyingFileSystem, Fate } from './dying-file-system.ts';
import { FakeSystem } from './fake-system.ts';

export { FakeCrash } from './dying-file-system.ts';

/** Files every host has. Values of /proc/sys are plain files. */
const base: Readonly<Record<string, string>> = {
  'etc/machine-id': '0123456789abcdef0123456789abcdef\n',
  'etc/hosts': '127.0.0.1 localhost\n::1 localhost ip6-localhost\n',
  'etc/passwd': 'root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n',
  'etc/group': 'root:x:0:\ndaemon:x:1:\n',
  'etc/shadow': 'root:*:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n',
  'etc/gshadow': 'root:*::\ndaemon:*::\n',
  'proc/modules': 'llc 4096 0 - Live 0x0\n',
  'lib/modules/6.1.0-fake/modules.builtin': 'kernel/fs/ext4/ext4.ko\n',
  'lib/modules/6.1.0-fake/modules.dep': [
    'kernel/net/bridge/br_netfilter.ko.xz: kernel/net/bridge/bridge.ko.xz kernel/net/802/stp.ko.xz kernel/net/llc/llc.ko.xz',
    'kernel/net/bridge/bridge.ko.xz: kernel/net/802/stp.ko.xz kernel/net/llc/llc.ko.xz',
    'kernel/net/802/stp.ko.xz: kernel/net/llc/llc.ko.xz',
    'kernel/fs/overlayfs/overlay.ko.xz:',
    '',
  ].join('\n'),
  'proc/sys/kernel/osrelease': '6.1.0-fake\n',
  'proc/sys/net/ipv4/ip_forward': '0\n',
  'proc/sys/net/ipv4/ip_local_port_range': '32768\t60999\n',
  'proc/sys/net/ipv4/ip_local_reserved_ports': '\n',
  'proc/sys/fs/inotify/max_user_instances': '128\n',
};
const folders = [
  'etc/systemd/system/multi-user.target.wants',
  'var/lib',
  'usr/local/libexec',
  'usr/lib/systemd/system',
  'opt',
  'run',
  'tmp',
];

export class FakeHost implements Host {
  readonly name = 'fake';
  readonly root: string;
  readonly fate = new Fate();
  readonly system: FakeSystem;
  readonly files: HostFiles;

  private constructor(root: string) {
    this.root = root;
    this.system = new FakeSystem(root, this.fate);
    this.files = new LocalFiles({ root, fs: dyingFileSystem(this.fate), privateView: false });
  }

  /** On a file system in memory: a test syncs thousands of times. */
  static async make(): Promise<FakeHost> {
    const root = await mkdtemp('/dev/shm/bke-fake-host-');
    for (const folder of folders) await mkdir(join(root, folder), { recursive: true });
    for (const [path, content] of Object.entries(base)) {
      await mkdir(join(root, path, '..'), { recursive: true });
      await writeFile(join(root, path), content);
    }
    return new FakeHost(root);
  }

  /** One that another process made: its files are there, its units and what else only memory holds are not. */
  static open(root: string): FakeHost {
    return new FakeHost(root);
  }

  run(argv: readonly [string, ...string[]], options?: RunOptions): Promise<RunResult> {
    return this.system.run(argv, options);
  }

  upload(source: Readable, path: string, target: UploadTarget): Promise<void> {
    return uploadTo(this.files, source, path, target);
  }

  async close(): Promise<void> {
    // Nothing is held open; `dispose` removes the files.
  }

  /** Where a path of the host really is. */
  at(path: string): string {
    return join(this.root, path);
  }

  /** A new process of bke starts; the one that died left its lock with a pid that is another program's now. */
  async revive(dieAt?: number): Promise<void> {
    const locks = this.at('/var/lib/bke/lock');
    for (const name of await readdir(locks).catch(() => [])) {
      if (name.startsWith('.')) continue;
      const owner: Record<string, unknown> = JSON.parse(await readFile(join(locks, name), 'utf8'));
      await writeFile(join(locks, name), JSON.stringify({ ...owner, startTicks: '1' }));
    }
    this.fate.start(dieAt);
  }

  async dispose(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
