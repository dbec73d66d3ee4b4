// The base root file system that all hosts share as the lower layer: Debian by debootstrap, made once.
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cached } from '../cache.ts';
import { removeTree } from '../files.ts';
import { run, TestbedError } from '../run.ts';

const suite = 'bookworm';

/** What an ordinary server has, and what Kubernetes expects of one. */
const packages = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'openssh-server',
  'iproute2',
  'iptables',
  'nftables',
  'sudo',
  'ca-certificates',
  'kmod',
  'conntrack',
  'socat',
  'ethtool',
  'procps',
  'libseccomp2',
  'libstdc++6',
  'curl',
  'ebtables',
];

/** Units that make no sense in a host of the test bed, or that act by themselves while a test looks. */
const maskedUnits = [
  'systemd-udevd.service',
  'systemd-udevd-kernel.socket',
  'systemd-udevd-control.socket',
  'systemd-logind.service',
  'systemd-timesyncd.service',
  'systemd-networkd-wait-online.service',
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
  'fstrim.timer',
  'systemd-tmpfiles-clean.timer',
  'console-getty.service',
  'container-getty@.service',
  'getty.target',
];

const earlyUnit = `[Unit]
Description=Make this container a machine of its own
DefaultDependencies=no
Before=sysinit.target basic.target systemd-sysctl.service systemd-networkd.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/lib/testbed/early.sh
[Install]
WantedBy=sysinit.target
`;

/** Links that container software makes are not networkd's. */
const unmanagedLinks = `[Match]
Name=veth* cni* flannel* kube-* cali*
[Link]
Unmanaged=yes
`;

const sshdSettings = `PermitRootLogin yes
PasswordAuthentication yes
KbdInteractiveAuthentication no
UseDNS no
PrintMotd no
PrintLastLog no
`;

/** A plain Debian: what debootstrap makes, without caches. Images take tools from it too. */
export async function debianRoot(): Promise<string> {
  const entry = { kind: 'base', name: `debian-${suite}`, recipe: { suite, packages, recipeVersion: 1 } };
  return path.join(await cached(entry, (draft) => bootstrap(path.join(draft, 'root'))), 'root');
}

/** The lower layer of every host: the plain Debian with what makes a container a machine. */
export async function baseRoot(): Promise<string> {
  const debian = await debianRoot();
  const early = await readFile(path.join(import.meta.dirname, 'early.sh'), 'utf8');
  const settings = { maskedUnits, early, earlyUnit, unmanagedLinks, sshdSettings };
  const recipe = { debian: path.basename(path.dirname(debian)), settings, recipeVersion: 1 };
  const dir = await cached({ kind: 'base', name: 'host', recipe }, async (draft) => {
    await run(['cp', '-a', debian, draft], { timeout: 300 });
    await makeMachine(path.join(draft, 'root'), early);
  });
  return path.join(dir, 'root');
}

async function bootstrap(root: string): Promise<void> {
  await mkdir(root, { mode: 0o755 });
  const include = `--include=${packages.join(',')}`;
  await run(['debootstrap', '--variant=minbase', include, suite, root, await mirror()], { timeout: 900 });
  for (const name of ['var/cache/apt', 'var/lib/apt/lists']) {
    await removeTree(path.join(root, name));
    await mkdir(path.join(root, name), { mode: 0o755 });
  }
}

async function makeMachine(root: string, early: string): Promise<void> {
  await mkdir(path.join(root, 'usr/lib/testbed'), { mode: 0o755 });
  await writeFile(path.join(root, 'usr/lib/testbed/early.sh'), early, { mode: 0o755 });
  const systemd = path.join(root, 'etc/systemd');
  await writeFile(path.join(systemd, 'system/testbed-early.service'), earlyUnit, { mode: 0o644 });
  await writeFile(path.join(systemd, 'network/05-unmanaged.network'), unmanagedLinks, { mode: 0o644 });
  await writeFile(path.join(root, 'etc/ssh/sshd_config.d/testbed.conf'), sshdSettings, { mode: 0o644 });
  await run(['systemctl', `--root=${root}`, 'enable', 'testbed-early.service', 'systemd-networkd.service']);
  for (const unit of maskedUnits) await symlink('/dev/null', path.join(systemd, 'system', unit));
  await removeWhatIsOfOneHost(root);
}

/** Keys and identifiers that each host must have for itself. */
async function removeWhatIsOfOneHost(root: string): Promise<void> {
  for (const name of ['rsa', 'ecdsa', 'ed25519']) {
    await rm(path.join(root, `etc/ssh/ssh_host_${name}_key`), { force: true });
    await rm(path.join(root, `etc/ssh/ssh_host_${name}_key.pub`), { force: true });
  }
  for (const name of ['etc/hostname', 'etc/machine-id', 'var/lib/dbus/machine-id', 'etc/resolv.conf']) {
    await rm(path.join(root, name), { force: true });
  }
}

/** The mirror that this machine's own apt uses. */
async function mirror(): Promise<string> {
  const format = '$(SITE) $(CODENAME)';
  const { stdout } = await run(['apt-get', 'indextargets', '--format', format, 'Created-By: Packages']);
  const site = stdout
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, codename]) => codename === suite)?.[0];
  if (site === undefined) throw new TestbedError(`this machine's apt has no source for Debian ${suite}; add one`);
  return site;
}
