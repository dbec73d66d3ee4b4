// What a command is for, told by its id: so that what became of it is known by looking at it alone, whoever wrote it.
import { randomBytes } from 'node:crypto';
import type { HostCommandSpec } from '../../api/kinds/host-command.ts';
import { digestOf, hexOf } from '../../lib/digest.ts';

export type Purpose = 'prepare' | 'bootstrap' | 'reset';

export type CommandSteps = HostCommandSpec['steps'];

/** What a command is to bring about. */
export interface Order {
  readonly purpose: Purpose;
  /** Claim id of the host that it is for; '' where no machine has the host. What was done for an earlier claim is not done for this one. */
  readonly claim: string;
  readonly steps: CommandSteps;
}

export interface CommandName {
  readonly purpose: string;
  /** The same for the same order. */
  readonly content: string;
  /** From 1. */
  readonly attempt: number;
}

/** An id of its own for each attempt: an agent never runs the same one twice. */
export function newCommandID(order: Order, attempt: number): string {
  return `${order.purpose}-${contentOf(order)}-${attempt}-${randomBytes(4).toString('hex')}`;
}

/** undefined: somebody else's. */
export function readCommandID(id: string): CommandName | undefined {
  const [, purpose, content, attempt] = /^([a-z]+)-([0-9a-f]{16})-(\d{1,6})-[0-9a-f]{8}$/.exec(id) ?? [];
  if (purpose === undefined || content === undefined) return undefined;
  return { purpose, content, attempt: Number(attempt) };
}

export function contentOf({ claim, steps }: Pick<Order, 'claim' | 'steps'>): string {
  return hexOf(digestOf(JSON.stringify([claim, steps]))).slice(0, 16);
}
