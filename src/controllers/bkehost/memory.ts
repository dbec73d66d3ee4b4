// What this process knows of a host beyond its object: found out again where it is lost.
import { type HostFacts, hostFactsSchema } from '../../host/facts/schema.ts';
import { fieldAt, textAt } from '../../kube/fields.ts';
import type { HostView } from './host.ts';

export interface FoundFacts {
  readonly facts: HostFacts;
  readonly at: Date;
  /** They are of the machine that had this address. */
  readonly address: string;
}

export interface HostMemory {
  /** Whether the last login worked. */
  reached?: boolean;
  facts?: FoundFacts;
  /** Monotonic: when its checks were last looked at over SSH, … */
  lookedAt?: number;
  /** For whom: another one who asks has the host looked at again. */
  lookedFor?: string | undefined;
  /** Who had asked for it when its agent was heard last, or when this process saw it first: whoever asks after that asks anew. */
  heardFor?: { readonly asked: string | undefined };
  /** Its agent was there once, and nothing of it is any more; undefined: this process has not looked. */
  wasReset?: boolean;
  /** … and when its agent was last installed. */
  installedAt?: number;
  /** Version of the object with which there was nothing left to do. */
  settled?: string | undefined;
}

/** As they stand in the status. */
export function factsField({ facts, at, address }: FoundFacts): object {
  return { ...facts, probedAt: at.toISOString(), probedAddress: address };
}

/** Those of the status, where this process has not looked itself; undefined where another bke wrote them, or the address is another one. */
export function storedFacts({ object, spec }: HostView): FoundFacts | undefined {
  const field = fieldAt(object, 'status', 'facts');
  const [at, address] = [textAt(field, 'probedAt'), textAt(field, 'probedAddress')];
  if (typeof field !== 'object' || field === null || at === undefined || address !== spec.address) return undefined;
  const { probedAt: _at, probedAddress: _address, ...facts } = { probedAt: at, probedAddress: address, ...field };
  const parsed = hostFactsSchema.safeParse(facts);
  return parsed.success ? { facts: parsed.data, at: new Date(at), address } : undefined;
}
