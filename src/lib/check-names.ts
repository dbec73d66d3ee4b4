// Names of the preflight checks (src/tasks/preflight/run.ts), for those that must know a name without loading the checks: options, configuration files.
import { nearest } from './suggest.ts';

/** In the order in which they are told. */
export const checkNames = [
  'root',
  'platform',
  'libraries',
  'systemd',
  'hostname',
  'machine-id',
  'same-machine',
  'clock',
  'time-service',
  'kernel',
  'cgroup',
  'cpu',
  'memory',
  'swap',
  'tools',
  'ports',
  'disk-space',
  'data-dir',
  'container-runtime',
  'node-address',
  'default-route',
  'networks',
  'resolver',
  'selinux',
  'firewall',
] as const;

export type CheckName = (typeof checkNames)[number];

/** What is wrong with a name that should be one of a check; undefined: nothing. */
export function checkNameProblem(name: string): string | undefined {
  if (checkNames.some((known) => known === name)) return undefined;
  const meant = nearest(name, [...checkNames]);
  return `there is no check named ${name}${meant === undefined ? '' : `: did you mean ${meant}?`}`;
}
