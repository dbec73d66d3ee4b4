// Whether a host can carry a cluster: what Kubernetes itself refuses or what it would stumble over later.
import semver from 'semver';
import { formatBytes } from '../../lib/bytes.ts';
import { overlaps, parseCidr } from '../../lib/cidr.ts';
import { type Check, type CheckSubject, error, type Finding, type KubernetesNeeds, warning } from './check.ts';

/** kubeadm's preflight refuses less (cmd/kubeadm/app/constants: ControlPlaneNumCPU, ControlPlaneMem); K3s asks for as much, but starts with less. */
const minimum = { cpus: 2, memoryBytes: 1700 * 1024 * 1024 };

function forCluster(inspect: (subject: CheckSubject, kubernetes: KubernetesNeeds) => Finding[]): Check['inspect'] {
  return (subject) => (subject.needs.kubernetes === undefined ? [] : inspect(subject, subject.needs.kubernetes));
}

export const cpuCheck: Check = {
  name: 'cpu',
  title: `${minimum.cpus} processors for a cluster`,
  inspect: forCluster(({ machine: { cpus } }, { kind }) => {
    if (cpus >= minimum.cpus) return [];
    const message = `this host has ${cpus} processor, and a control plane needs ${minimum.cpus}`;
    return [kind === 'kubeadm' ? error(message, 'Give the machine more.') : warning(message, 'It will be slow.')];
  }),
};

export const memoryCheck: Check = {
  name: 'memory',
  title: `${formatBytes(minimum.memoryBytes)} of memory for a cluster`,
  inspect: forCluster(({ machine: { memoryBytes } }, { kind }) => {
    if (memoryBytes >= minimum.memoryBytes) return [];
    const message = `this host has ${formatBytes(memoryBytes)} of memory, and a control plane needs ${formatBytes(minimum.memoryBytes)}`;
    return [kind === 'kubeadm' ? error(message, 'Give the machine more.') : warning(message, 'Pods may be killed.')];
  }),
};

export const swapCheck: Check = {
  name: 'swap',
  title: 'Swap space',
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

export const defaultRouteCheck: Check = {
  name: 'default-route',
  title: 'A default route, for K3s',
  inspect: forCluster(({ machine: { defaultRoute } }, { kind }) =>
    kind !== 'k3s' || defaultRoute
      ? []
      : [
          error(
            'this host has no default route, and K3s does not start without one',
            'It may lead nowhere: ip link add dummy0 type dummy; ip link set dummy0 up; ip route add default dev dummy0 metric 1000.',
          ),
        ],
  ),
};

export const networksCheck: Check = {
  name: 'networks',
  title: "Addresses of pods and services are nobody else's here",
  inspect: forCluster(({ machine }, { networks }) =>
    networks.flatMap(({ cidr, use, given }) => {
      const block = parseCidr(cidr);
      if (block === undefined) return [];
      const others = machine.networks.filter((network) => {
        const other = parseCidr(network.cidr);
        return other !== undefined && overlaps(block, other);
      });
      return others.map(({ cidr: other, what }) =>
        error(
          `${cidr} for ${use} (${given}) overlaps with ${other}, ${what}`,
          'Choose another block in spec.network of bootstrap.yaml.',
        ),
      );
    }),
  ),
};

/** The kubelet refuses cgroup v1 by default from 1.35 on (KEP-5573). */
export function cgroupFindings({ machine: { cgroup }, needs: { kubernetes } }: CheckSubject): Finding[] {
  if (cgroup === 'none') return [error('no control groups are mounted below /sys/fs/cgroup')];
  if (cgroup === '2') return [];
  const found = `control groups are ${cgroup === 'hybrid' ? 'v1 with a v2 tree beside it' : 'v1'}`;
  const boot = 'Boot with systemd.unified_cgroup_hierarchy=1';
  const refuses = kubernetes === undefined || semver.gte(semver.coerce(kubernetes.version) ?? '1.35.0', '1.35.0');
  if (!refuses) return [];
  const version = kubernetes === undefined ? '1.35 and later' : kubernetes.version;
  if (kubernetes?.failCgroupV1 === false)
    return [warning(`${found}: the kubelet's support for that ends soon`, `${boot}.`)];
  const message = `${found}: kubelet ${version} refuses that unless failCgroupV1 is false`;
  const hint = `${boot}, or set spec.settings.kubelet.failCgroupV1: false in bootstrap.yaml.`;
  return [kubernetes === undefined ? warning(message, hint) : error(message, hint)];
}
