// What the probe prints of a host, with the least that every host tells.
import { parseFacts } from '../../../../src/host/facts/parse.ts';
import type { HostFacts } from '../../../../src/host/facts/schema.ts';

export const least = [
  'timeStart:1000000000',
  'hostname:w1',
  'arch:x86_64',
  'kernel:5.10.0',
  'uid:0',
  'cpus:4',
  'memory:MemTotal: 1024 kB',
  'timeEnd:1500000000',
];

export function facts(...lines: string[]): HostFacts {
  return parseFacts(JSON.stringify([...lines, ...least, 'end:']), { before: 900_000_000n, after: 1_600_000_000n });
}
