// Whether agents are alive: by when this process saw their leases change. Clocks of hosts are never compared with one's own.
import { agentAnnotations, heartbeatSeconds } from '../../api/agent-config.ts';
import type { KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';

export interface Heartbeat {
  /** none: no agent ever wrote one; unproven: there was one before this process looked, and it is too early to say. */
  readonly state: 'none' | 'unproven' | 'fresh' | 'lost';
  readonly version?: string | undefined;
  /** As the agent's own clock has it. */
  readonly lastSeen?: string | undefined;
  /** After this time it is lost, where nothing comes. */
  readonly leftMs?: number;
  /** Since when nothing came, by this process' clock. */
  readonly silentMs?: number;
}

interface Seen {
  readonly renewed: string | undefined;
  readonly version: string | undefined;
  /** Monotonic. */
  readonly at: number;
  /** It changed while this process looked. */
  readonly proven: boolean;
}

const validMs = heartbeatSeconds.valid * 1000;

export class Heartbeats {
  readonly #seen = new Map<string, Seen>();
  readonly #clock: () => number;

  /** @param clock monotonic, in ms */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** @returns whether the host's agent is there, or of another version, where before it was not */
  observe(key: string, lease: KubeObject): boolean {
    const renewed = textAt(lease, 'spec', 'renewTime');
    const version = lease.metadata.annotations?.[agentAnnotations.version];
    const before = this.#seen.get(key);
    if (before !== undefined && before.renewed === renewed) return false;
    const was = this.of(key).state;
    const proven = before !== undefined && renewed !== undefined;
    this.#seen.set(key, { renewed, version, at: this.#clock(), proven });
    return this.of(key).state !== was || before?.version !== version;
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }

  of(key: string): Heartbeat {
    const seen = this.#seen.get(key);
    if (seen?.renewed === undefined) return { state: 'none' };
    const silentMs = this.#clock() - seen.at;
    const about = { version: seen.version, lastSeen: seen.renewed, silentMs };
    if (silentMs > validMs) return { ...about, state: 'lost' };
    return { ...about, state: seen.proven ? 'fresh' : 'unproven', leftMs: validMs - silentMs };
  }
}
