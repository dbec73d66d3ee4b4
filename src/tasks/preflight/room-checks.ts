// Whether there is room for what comes: ports, disk, directories, and no other container runtime.
import { formatBytes } from '../../lib/bytes.ts';
import { type Check, type CheckSubject, error, type Finding } from './check.ts';
import type { Listener } from './machine.ts';

export const portsCheck: Check = {
  name: 'ports',
  title: 'The ports that will be listened on are free',
  inspect: ({ machine, needs }) =>
    needs.ports.flatMap(({ port, use, fixed, protocol }) => {
      if (protocol === 'udp') return [];
      const others = machine.listeners.filter((listener) => listener.port === port && !listener.ours);
      return distinct(others.map(owner)).map((who) =>
        error(
          `port ${port} (${use}) is in use by ${who}`,
          fixed === true ? 'Stop that program.' : 'Stop that program, or choose another port.',
        ),
      );
    }),
};

function owner({ pid, program, address, port }: Listener): string {
  if (pid === undefined) return `an unknown program on ${address}:${port}`;
  return `${program ?? 'a program'} (pid ${pid})`;
}

export const diskCheck: Check = {
  name: 'disk-space',
  title: 'There is room for what will be written',
  inspect: ({ machine, needs }) => {
    const place =
      needs.reachable.length > 0 ? ', or name another disk with --data-dir' : ', or mount a larger disk there';
    const wanted = needs.space.flatMap((need) => {
      const free = machine.free.get(need.path);
      return free === undefined ? [] : [{ ...need, free }];
    });
    const readOnly = wanted.filter(({ free }) => free.readOnly);
    if (readOnly.length > 0) {
      return readOnly.map(({ path, free }) =>
        error(`${path} cannot be written: ${free.fileSystem} is mounted read-only`, 'Mount it writable.'),
      );
    }
    // What is wanted on one file system is wanted together.
    return [...Map.groupBy(wanted, ({ free }) => free.fileSystem).values()].flatMap((group) => {
      const bytes = group.reduce((sum, need) => sum + need.bytes, 0);
      const free = group[0]?.free.bytes ?? 0;
      if (free >= bytes) return [];
      const parts = group.map(({ use, path }) => `${use} in ${path}`).join(', ');
      const message = `${group[0]?.free.fileSystem} has ${formatBytes(free)} free, and ${formatBytes(bytes)} (${bytes} bytes) are needed: ${parts}`;
      return [error(message, `Free some space there${place}.`)];
    });
  },
};

export const reachableCheck: Check = {
  name: 'data-dir',
  title: "The services' user can reach the data directory",
  appliesTo: ({ reachable }) => reachable.length > 0,
  inspect: ({ machine }) =>
    machine.directories.flatMap(({ path, mode, type }) => {
      if (type !== 'directory')
        return [error(`${path} is no directory but a ${type}`, 'Name the real path with --data-dir.')];
      if ((mode & 0o001) !== 0) return [];
      return [
        error(
          `${path} (mode ${mode.toString(8).padStart(4, '0')}) lets nobody but its owner through`,
          `chmod o+x ${path}, or choose another place with --data-dir.`,
        ),
      ];
    }),
};

export const runtimeCheck: Check = {
  name: 'container-runtime',
  title: 'No other container runtime or Kubernetes',
  appliesTo: ({ runtime }) => runtime,
  inspect: (subject) => (subject.needs.runtime ? foreignRuntimes(subject) : []),
};

function foreignRuntimes({ machine }: CheckSubject): Finding[] {
  const foreign = machine.runtimes.filter(({ ours }) => !ours);
  return foreign.map(({ what }) =>
    error(
      `${what} is not of bke`,
      'bke never stops or removes what others installed: use a host without it, or remove it yourself (leftovers of a failed cluster: bke reset --all).',
    ),
  );
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
