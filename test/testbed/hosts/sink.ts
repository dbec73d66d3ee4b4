// The egress sink: what hosts of the bed sent to addresses outside its network. The table on the bridge counts it from `up` on.
import { z } from 'zod';
import { run } from '../run.ts';
import type { Bed } from './bed.ts';
import { readRecord } from './record.ts';

/** Packets from one host to one address outside. */
export interface EgressAttempt {
  /** Name of the host, or its address when it is no host's (a pod, an IPv6 address). */
  from: string;
  to: string;
  /** `tcp`, `udp`, `icmp`, … */
  protocol: string;
  /** Destination port of TCP and UDP. */
  port?: number;
  packets: number;
}

/** Records from its making on. */
export interface EgressSink {
  attempts(): Promise<EgressAttempt[]>;
}

const sets = ['flows4', 'others4', 'others6'];

const element = z.object({
  elem: z.object({
    val: z.object({ concat: z.array(z.union([z.string(), z.number()])) }),
    counter: z.object({ packets: z.int() }),
  }),
});

const listing = z.object({
  nftables: z.array(z.object({ set: z.object({ elem: z.array(element).optional() }).optional() })),
});

/** Forgets what was counted so far and gives what comes after. */
export async function openSink(bed: Bed): Promise<EgressSink> {
  for (const set of sets) await run(['nft', 'flush', 'set', 'inet', bed.table, set]);
  return { attempts: () => readAttempts(bed) };
}

async function readAttempts(bed: Bed): Promise<EgressAttempt[]> {
  const { hosts } = await readRecord(bed);
  const names = new Map(hosts.map(({ address, name }) => [address, name]));
  const attempts: EgressAttempt[] = [];
  for (const set of sets) {
    const { stdout } = await run(['nft', '-j', 'list', 'set', 'inet', bed.table, set]);
    const { nftables } = listing.parse(JSON.parse(stdout));
    for (const { elem } of nftables.flatMap((item) => item.set?.elem ?? [])) {
      const [source, target, protocol, port] = elem.val.concat;
      const from = String(source);
      attempts.push({
        from: names.get(from) ?? from,
        to: String(target),
        protocol: String(protocol),
        ...(port === undefined ? {} : { port: Number(port) }),
        packets: elem.counter.packets,
      });
    }
  }
  return attempts;
}
