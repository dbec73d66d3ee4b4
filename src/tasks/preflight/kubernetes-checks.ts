// Whether a host can carry a cluster: what Kubernetes itself refuses or what it would stumble over later.
import semver from 'semver';
import { formatBytes } from '../../lib/bytes.ts';
import { plural } from '../../lib/text.ts';
import {
  type Check,
  type CheckSubject,
  error,
  type Finding,
  type HostNeeds,
  type KubernetesNeeds,
  warning,
} from './check.ts';

/** kubeadm's preflight refuses less on a control plane (cmd/kubeadm/app/constants: ControlPlaneNumCPU, ControlPlaneMem); K3s asks for as much, but starts with less. */
const minimum = {
  controlPlane: { cpus: 2, memoryBytes: 1700 * 1024 * 1024 },
  worker: { cpus: 1, memoryBytes: 900 * 1024 * 1024 },
};

function partOf({ controlPlane }: KubernetesNeeds): {
  readonly what: string;
  readonly least: (typeof minimum)['worker'];
} {
  return controlPlane
    ? { what: 'control plane', least: minimum.controlPlane }
    : { what: 'worker', least: minimum.worker };
}

/** Where less means slow, and not broken. */
function tooLittle({ kind, controlPlane }: KubernetesNeeds, message: string, mend: string): Finding {
  return kind === 'kubeadm' && controlPlane ? error(message, 'Give the machine more.') : warning(message, mend);
}

export function forCluster(
  inspect: (subject: CheckSubject, kubernetes: KubernetesNeeds) => Finding[],
): Check['inspect'] {
  return (subject) => (subject.needs.kubernetes === undefined ? [] : inspect(subject, subject.needs.kubernetes));
}

function isCluster({ kubernetes }: HostNeeds): boolean {
  return kubernetes !== undefined;
}

export const cpuCheck: Check = {
  name: 'cpu',
  title: `${minimum.controlPlane.cpus} processors for a control plane`,
  appliesTo: isCluster,
  inspect: forCluster(({ machine: { cpus } }, kubernetes) => {
    const { what, least } = partOf(kubernetes);
    if (cpus >= least.cpus) return [];
    const message = `this host has ${plural(cpus, 'processor')}, and a ${what} needs ${least.cpus}`;
    return [tooLittle(kubernetes, message, 'It will be slow.')];
  }),
};

export const memoryCheck: Check = {
  name: 'memory',
  title: `${formatBytes(minimum.controlPlane.memoryBytes)} of memory for a control plane, ${formatBytes(minimum.worker.memoryBytes)} for a worker`,
  appliesTo: isCluster,
  inspect: forCluster(({ machine: { memoryBytes } }, kubernetes) => {
    const { what, least } = partOf(kubernetes);
    if (memoryBytes >= least.memoryBytes) return [];
    const message = `this host has ${formatBytes(memoryBytes)} of memory, and a ${what} needs ${formatBytes(least.memoryBytes)}`;
    return [tooLittle(kubernetes, message, 'Pods may be killed.')];
  }),
};

export const swapCheck: Check = {
  name: 'swap',
  title: 'Swap space',
  appliesTo: isCluster,
  inspect: forCluster(({ machine: { swap } }) =>
    swap.length === 0
      ? []
      : [
          warning(
            `swap is on (${swap.join(', ')}): bke leaves it so, the kubelet starts with it, and pods get none of it`,
            'Whoever wants none turns it off (swapoff -a, and its line in /etc/fstab).',
          ),
        ],
  ),
};

/** Controllers without which the kubelet does not start (pkg/kubelet/cm/container_manager_linux.go), of any version. */
const controllers = ['cpu', 'cpuset', 'memory', 'pids'];
/** Modules that may be there as something else: in the kernel itself, or not needed where the newer one is. */
const netfilter = ['nf_tables', 'ip_tables'];

export const kernelCheck: Check = {
  name: 'kernel',
  title: 'The kernel has what containers and their network need',
  appliesTo: isCluster,
  inspect: forCluster(({ machine: { modules, controllers: found, cgroup } }, { vxlan }) => {
    // Where the list of modules is not there (containers, own kernels), nobody can tell before they are used.
    const lacks = (name: string): boolean => modules[name] === 'missing';
    const needed = ['overlay', 'br_netfilter', 'nf_conntrack', ...(vxlan ? ['vxlan'] : [])];
    const missing = [...needed.filter(lacks), ...(netfilter.every(lacks) ? [netfilter.join(' or ')] : [])];
    const without = cgroup === 'none' ? [] : controllers.filter((name) => !found.includes(name));
    return [
      ...missing.map((name) =>
        error(
          `the kernel has no module ${name}`,
          'Install the package with the rest of its modules (linux-modules-extra, kernel-modules-extra), or another kernel; after an update of the kernel: reboot.',
        ),
      ),
      ...without.map((name) =>
        error(
          `control groups have no controller ${name}`,
          `Take what switches it off (cgroup_disable) from the kernel's command line, and reboot${name === 'memory' ? '; some kernels want cgroup_enable=memory' : ''}.`,
        ),
      ),
    ];
  }),
};

/** The kubelet refuses cgroup v1 by default from 1.35 on (KEP-5573). */
export function cgroupFindings({ machine: { cgroup }, needs: { kubernetes } }: CheckSubject): Finding[] {
  if (cgroup === 'none') return [error('no control groups are mounted below /sys/fs/cgroup')];
  if (cgroup === '2') return [];
  const found = `control groups are ${cgroup === 'hybrid' ? 'v1 with a v2 tree beside it' : 'v1'}`;
  const boot = 'Boot with systemd.unified_cgroup_hierarchy=1';
  if (kubernetes === undefined) {
    const message = `${found}: a kubelet of 1.35 or later refuses that unless its failCgroupV1 is false; nothing else minds`;
    return [
      warning(message, `${boot}, or set settings.kubelet.failCgroupV1: false for the cluster this host will be in.`),
    ];
  }
  const { version, failCgroupV1, file } = kubernetes;
  if (semver.lt(semver.coerce(version) ?? '1.35.0', '1.35.0')) return [];
  if (failCgroupV1 === false) return [warning(`${found}: the kubelet's support for that ends soon`, `${boot}.`)];
  const message = `${found}: kubelet ${version} refuses that unless failCgroupV1 is false`;
  return [error(message, `${boot}, or set spec.settings.kubelet.failCgroupV1: false in ${file}.`)];
}
