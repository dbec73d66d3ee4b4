// Whether the operating system can carry bke at all.
import { type Check, error, type Finding } from './check.ts';
import { cgroupFindings } from './kubernetes-checks.ts';
import type { Machine } from './machine.ts';

/** What the program that is built into bke (Node 24) needs: glibc 2.28 and the libstdc++ of GCC 8. */
const GLIBC = '2.28';
const GLIBCXX = '3.4.25';
/** The first systemd with every sandbox setting that the services depend on; the newer settings of their units it only warns about. */
const SYSTEMD = 239;

export const rootCheck: Check = {
  name: 'root',
  title: 'bke runs as root',
  inspect: ({ machine }) =>
    machine.root ? [] : [error('bke does not run as root', 'Run the same command with sudo.')],
};

export const platformCheck: Check = {
  name: 'platform',
  title: 'A processor of amd64 or arm64',
  inspect: ({ machine: { architecture } }) =>
    ['amd64', 'arm64'].includes(architecture)
      ? []
      : [error(`the processor is ${architecture}; bke has programs for amd64 and arm64`)],
};

export const librariesCheck: Check = {
  name: 'libraries',
  title: `glibc ${GLIBC} and libstdc++ with GLIBCXX_${GLIBCXX} or newer`,
  inspect: ({ machine }) => [...glibcFindings(machine.glibc), ...libstdcxxFindings(machine.glibcxx)],
};

function glibcFindings({ kind, version }: Machine['glibc']): Finding[] {
  if (kind === 'other') return [error('the C library is not glibc, which bke needs')];
  if (version === undefined || !older(version, GLIBC)) return [];
  return [error(`glibc is ${version}, bke needs ${GLIBC} or newer`, 'Use a newer release of this system.')];
}

function libstdcxxFindings(version: string | undefined): Finding[] {
  if (version === undefined)
    return [error('libstdc++ is not installed', 'Install it: the package is libstdc++6 or libstdc++.')];
  if (!older(version, GLIBCXX)) return [];
  const message = `libstdc++ has symbols up to GLIBCXX_${version}, bke needs GLIBCXX_${GLIBCXX} (GCC 8)`;
  return [error(message, 'Use a newer release of this system.')];
}

export const systemdCheck: Check = {
  name: 'systemd',
  title: 'systemd runs this host',
  inspect: ({ machine: { systemd } }) => {
    if (!systemd.running)
      return [
        error(
          'systemd is not running as the first process',
          'bke needs a host (or container) that was booted with systemd.',
        ),
      ];
    if (systemd.version !== undefined && systemd.version < SYSTEMD) {
      return [error(`systemd is ${systemd.version}, bke needs ${SYSTEMD} or newer`)];
    }
    return [];
  },
};

export const cgroupCheck: Check = {
  name: 'cgroup',
  title: 'Control groups are there, of a version that Kubernetes takes',
  inspect: cgroupFindings,
};

export const toolsCheck: Check = {
  name: 'tools',
  title: 'Programs of the operating system that bke calls',
  inspect: ({ machine: { missingTools } }) =>
    missingTools.length === 0
      ? []
      : [error(`missing: ${missingTools.join(', ')}`, 'Install the packages that have them.')],
};

/** Compares dotted numbers. */
function older(found: string, wanted: string): boolean {
  const [have, need] = [found, wanted].map((version) => version.split('.').map(Number));
  for (let index = 0; index < (need?.length ?? 0); index += 1) {
    const difference = (have?.[index] ?? 0) - (need?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
