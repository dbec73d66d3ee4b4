// Whether hosts are who they are said to be, and nobody twice.
import { isHostName, suggestHostName } from '../../lib/dns-name.ts';
import { listedShort } from '../../lib/text.ts';
import { type Check, error, type Finding, type HostFinding, type NamedSubject } from './check.ts';

/** Hosts that a message names. */
const mostNamed = 8;

export const hostnameCheck: Check = {
  name: 'hostname',
  title: 'The host name is one that a Kubernetes node can have, and no two hosts have the same',
  inspect: ({ machine: { hostname }, needs }) => {
    if (isHostName(hostname)) return [];
    const message = `the host name ${JSON.stringify(hostname)} is no valid node name`;
    return [error(message, renameHint(needs.kubernetes?.nodeName ?? suggestHostName(hostname)))];
  },
  // Names that are none are told by themselves.
  compare: (subjects) =>
    alike(subjects, ({ machine: { hostname } }) => (isHostName(hostname) ? hostname : undefined), machineKey).flatMap(
      (group) =>
        everyOf(group, () =>
          error(
            `the host name ${group[0]?.machine.hostname} is that of several hosts: ${namesOf(group)}`,
            'Give each its own, e.g. that of its node: hostnamectl set-hostname NAME',
          ),
        ),
    ),
};

function renameHint(name: string): string {
  return `Set another, e.g.: hostnamectl set-hostname ${name}`;
}

export const machineIdCheck: Check = {
  name: 'machine-id',
  title: 'The machine has an identity of its own, and is no clone that kept that of another',
  appliesTo: ({ kubernetes }) => kubernetes !== undefined,
  inspect: ({ machine: { machineId } }) =>
    machineId !== undefined && /^[0-9a-f]{32}$/.test(machineId)
      ? []
      : [error('/etc/machine-id is missing or empty', 'Make one: systemd-machine-id-setup')],
  compare: (subjects) =>
    alike(subjects, ({ machine }) => machine.machineId, machineKey).flatMap((group) =>
      everyOf(group, () =>
        error(
          `/etc/machine-id is the same on ${namesOf(group)}: cloned?`,
          'On each clone: rm -f /etc/machine-id /var/lib/dbus/machine-id; systemd-machine-id-setup; then reboot it.',
        ),
      ),
    ),
};

export const sameMachineCheck: Check = {
  name: 'same-machine',
  title: 'No two entries lead to the same machine',
  inspect: () => [],
  compare: (subjects) => {
    const machines = Map.groupBy(subjects, machineKey);
    return [...machines].flatMap(([key, group]) =>
      key === undefined || group.length < 2
        ? []
        : everyOf(group, () =>
            error(
              `${namesOf(group)} are one and the same machine`,
              'Leave one of them in the file, or mend an address.',
            ),
          ),
    );
  },
};

/** Boots have ids of their own; containers share that of the kernel they run on, but not the id of the machine. undefined: not known. */
function machineKey({ machine: { machineId, bootId } }: NamedSubject): string | undefined {
  return machineId === undefined || bootId === undefined ? undefined : `${machineId} ${bootId}`;
}

/**
 * Groups of more than one host with the same key.
 * @param machineOf hosts that are one machine count as one: that they are alike goes without saying.
 */
function alike(
  subjects: readonly NamedSubject[],
  keyOf: (subject: NamedSubject) => string | undefined,
  machineOf: (subject: NamedSubject) => string | undefined,
): NamedSubject[][] {
  const groups = Map.groupBy(subjects, keyOf);
  return [...groups].flatMap(([key, group]) => {
    const machines = new Set(group.map((subject) => machineOf(subject) ?? subject.host));
    return key === undefined || machines.size < 2 ? [] : [group];
  });
}

function everyOf(group: readonly NamedSubject[], finding: () => Finding): HostFinding[] {
  return group.map(({ host }) => ({ ...finding(), host }));
}

function namesOf(group: readonly NamedSubject[]): string {
  return listedShort(
    group.map(({ host }) => host),
    mostNamed,
  );
}
