// Debian packages that the test bed needs on this machine, installed only when missing.
import { exists } from './files.ts';
import { say } from './log.ts';
import { run } from './run.ts';

/** Package -> a file that only it brings; the file decides whether the package is there. */
const packages: Record<string, string> = {
  debootstrap: '/usr/sbin/debootstrap',
  'debian-archive-keyring': '/usr/share/keyrings/debian-archive-keyring.gpg',
  'systemd-container': '/usr/bin/systemd-nspawn',
  skopeo: '/usr/bin/skopeo',
  zstd: '/usr/bin/zstd',
  gcc: '/usr/bin/gcc',
  'libc6-dev': '/usr/include/features.h',
  'libseccomp-dev': '/usr/include/seccomp.h',
  'pkg-config': '/usr/bin/pkg-config',
  nftables: '/usr/sbin/nft',
  iproute2: '/usr/sbin/ip',
  'openssh-client': '/usr/bin/ssh-keygen',
  // These three start a program for arm64 here.
  'qemu-user-static': '/usr/bin/qemu-aarch64-static',
  'libc6-arm64-cross': '/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1',
  'libstdc++6-arm64-cross': '/usr/aarch64-linux-gnu/lib/libstdc++.so.6',
};

const installLimit = 600;

/** apt-get, one at a time: processes of test runs wait for each other instead of failing on its locks. */
export const aptGet = ['flock', '--timeout', String(installLimit), '/run/lock/bke-test-packages', 'apt-get'] as const;

/** Installs what is missing with apt-get; needs root only then. */
export async function ensurePackages(): Promise<void> {
  const missing: string[] = [];
  for (const [name, file] of Object.entries(packages)) {
    if (!(await exists(file))) missing.push(name);
  }
  if (missing.length === 0) return;
  say(`installing ${missing.join(' ')}`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run([...aptGet, 'update'], { env, timeout: installLimit });
  await run([...aptGet, 'install', '-y', '--no-install-recommends', ...missing], { env, timeout: installLimit });
}
