// Whether clocks are right: of one host by itself, and of all of them and this machine against each other.
import { formatDuration } from '../../lib/duration.ts';
import { listedShort, plural } from '../../lib/text.ts';
import { type Check, error, type HostFinding, type NamedSubject, warning } from './check.ts';

/** A clock before this was never set: certificates made now would not be valid for others. */
const EARLIEST = new Date('2026-01-01T00:00:00Z');
/** Leases, certificates and etcd bear less than this. */
const mostApartMs = 5000;

export const clockCheck: Check = {
  name: 'clock',
  title: `The clock was set, and the clocks of all hosts and of this machine are within ${mostApartMs / 1000} s`,
  inspect: ({ machine: { now } }) =>
    now >= EARLIEST
      ? []
      : [
          error(
            `the clock says ${now.toISOString()}: it was never set`,
            'Set it (date -s, or a time server), because certificates begin and end by it.',
          ),
        ],
  compare: (subjects) => apart(subjects),
};

interface Clock {
  /** undefined: this machine. */
  readonly host: string | undefined;
  /** Against this machine. */
  readonly offsetMs: number;
  readonly uncertaintyMs: number;
}

/** Those that agree with more than half of all are right, and the others are told; without such a majority nobody can say who is wrong. */
function apart(subjects: readonly NamedSubject[]): HostFinding[] {
  // Clocks that were never set are told by themselves, and must not outvote the others.
  const set = subjects.filter(({ machine }) => machine.now >= EARLIEST);
  const clocks: Clock[] = [
    { host: undefined, offsetMs: 0, uncertaintyMs: 0 },
    ...set.map(({ host, machine: { clock } }) => ({ host, ...clock })),
  ];
  const right = largestAgreement(clocks);
  const middle = medianOf(right.map(({ offsetMs }) => offsetMs));
  const odd = clocks.filter(({ offsetMs, uncertaintyMs }) => Math.abs(offsetMs - middle) - uncertaintyMs > mostApartMs);
  if (odd.length === 0) return [];
  if (right.length * 2 <= clocks.length) return [disagreement(clocks)];
  return odd.map(({ host, offsetMs }) => ({
    ...error(`the clock is ${difference(offsetMs - middle)} ${thoseOf(right)}`, hint),
    host,
  }));
}

const hint = 'Set it (date -s), or let a time service keep it; bke sets clocks only where spec.ntp asks for it.';

function thoseOf(clocks: readonly Clock[]): string {
  const hosts = clocks.filter(({ host }) => host !== undefined).length;
  const told = plural(hosts, 'host');
  return hosts === clocks.length ? `those of ${told}, which agree` : `those of this machine and ${told}, which agree`;
}

/** 10m00s behind; to the second, so that hosts that are equally wrong are told together. */
function difference(ms: number): string {
  return `${formatDuration(Math.max(1, Math.round(Math.abs(ms) / 1000)) * 1000)} ${ms < 0 ? 'behind' : 'ahead of'}`;
}

function disagreement(clocks: readonly Clock[]): HostFinding {
  const told = clocks
    .filter(({ host }) => host !== undefined)
    .map(({ host, offsetMs }) =>
      Math.abs(offsetMs) < 1000 ? `${host} agrees` : `${host} is ${difference(offsetMs)} it`,
    );
  return {
    ...error(
      `the clocks do not agree, and it cannot be told which is right. Against this machine: ${listedShort(told, 8)}`,
      hint,
    ),
    host: undefined,
  };
}

/** The most clocks of which no two are further apart than may be. */
function largestAgreement(clocks: readonly Clock[]): readonly Clock[] {
  const sorted = clocks.toSorted((a, b) => a.offsetMs - b.offsetMs);
  let best: readonly Clock[] = [];
  let first = 0;
  sorted.forEach((clock, last) => {
    while (lowest(clock) - highest(sorted[first] ?? clock) > mostApartMs) first += 1;
    if (last - first + 1 > best.length) best = sorted.slice(first, last + 1);
  });
  return best;
}

function lowest({ offsetMs, uncertaintyMs }: Clock): number {
  return offsetMs - uncertaintyMs;
}

function highest({ offsetMs, uncertaintyMs }: Clock): number {
  return offsetMs + uncertaintyMs;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;
}

export const timeServiceCheck: Check = {
  name: 'time-service',
  title: 'Something keeps the clock right',
  appliesTo: ({ kubernetes }) => kubernetes !== undefined,
  // The clock of a container is that of the machine it runs on.
  inspect: ({ machine: { container, timeServices, clockSynchronized }, needs: { setsTime } }) => {
    if (setsTime === true) return settable.some((name) => timeServices.includes(name)) ? [] : [nothingToSet];
    if (container || timeServices.length > 0 || clockSynchronized === true) return [];
    const hint = 'Start chrony or systemd-timesyncd with a time server of your site.';
    return [warning('no time service runs: the clock will drift', hint)];
  },
};

/** Those that bke gives time servers to. */
const settable = ['systemd-timesyncd', 'chronyd', 'chrony'];

const nothingToSet = error(
  'time servers are given, and neither chrony nor systemd-timesyncd runs, which they are for',
  'Install and start one of them, or leave spec.ntp out.',
);
