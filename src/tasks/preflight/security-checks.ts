// Whether what guards the host lets a cluster live: SELinux and firewalls. AppArmor asks for nothing: containerd uses it where it is complete.
import { type Check, type CheckSubject, error, type Finding, type PortNeed, warning } from './check.ts';

export const selinuxCheck: Check = {
  name: 'selinux',
  title: 'SELinux has the policy of containers where it enforces one',
  appliesTo: ({ runtime }) => runtime,
  inspect: ({ machine: { selinux } }) =>
    selinux.mode === 'enforcing' && selinux.policyPackage === undefined
      ? [
          error(
            'SELinux is enforcing, and the package container-selinux is not installed',
            'Install it: dnf install container-selinux (from the media of the system, where there is no internet).',
          ),
        ]
      : [],
};

export const firewallCheck: Check = {
  name: 'firewall',
  title: 'A firewall lets other hosts in',
  inspect: (subject) => {
    const { firewalls, dropsInput } = subject.machine;
    const named = firewalls.map((name) => `${name} is active`);
    const found =
      named.length === 0 && dropsInput ? ['the firewall drops what no rule of it takes (chain INPUT)'] : named;
    return found.map((message) => openPorts(message, subject));
  },
};

function openPorts(message: string, { needs }: CheckSubject): Finding {
  const open = needs.ports.filter(({ fixed, open: opened }) => fixed !== true || opened === true).map(portText);
  const pods = needs.kubernetes?.nodeIP === undefined ? '' : ', and all from the addresses of pods';
  return warning(
    message,
    `Other hosts must reach ${open.join(', ')}${pods}: open them there; bke changes no rules of a firewall.`,
  );
}

function portText({ port, use, protocol }: PortNeed): string {
  return `${port}/${protocol ?? 'tcp'} (${use})`;
}
