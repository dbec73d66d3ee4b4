// What the agent keeps on its host of the commands it took: the last one whole, and the ids of those before, so that none ever runs again.
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { tryJson } from '../lib/try-json.ts';
import { agentPaths } from '../tasks/agent/paths.ts';
import { type CommandState, readCommandState } from './command-state.ts';

const line = z.object({ commandID: z.string(), leaseGeneration: z.int(), realm: z.string(), time: z.string() });
type Line = z.infer<typeof line>;

/** Older ones go when the file has twice as many. */
const kept = 1000;
const mostBytes = 4 << 20;
const rootOnly = { mode: 0o600, uid: 0, gid: 0 };

export class CommandStore {
  readonly #host: Host;
  readonly #now: () => Date;
  #lines: Line[];
  #current: CommandState | undefined;

  private constructor(host: Host, now: () => Date, lines: Line[], current: CommandState | undefined) {
    this.#host = host;
    this.#now = now;
    this.#lines = lines;
    this.#current = current;
  }

  static async open(host: Host, now: () => Date): Promise<CommandStore> {
    const text = (await host.files.read(agentPaths.taken, { maxBytes: mostBytes }))?.toString('utf8') ?? '';
    // A torn last line is a command whose state was written already.
    const lines = text.split('\n').flatMap((entry) => line.safeParse(tryJson(entry)).data ?? []);
    const state = await host.files.read(agentPaths.command, { maxBytes: mostBytes });
    const store = new CommandStore(host, now, lines, readCommandState(tryJson(state?.toString('utf8') ?? '')));
    if (text !== '' && !text.endsWith('\n')) await store.#rewrite();
    const current = store.#current;
    if (current !== undefined && !store.wasTaken(current.spec.commandID)) await store.#note(current);
    return store;
  }

  get current(): CommandState | undefined {
    return this.#current;
  }

  wasTaken(commandID: string): boolean {
    return this.#lines.some((taken) => taken.commandID === commandID);
  }

  /** Of the controller's lease, as far as this host has seen it; 0 where it has seen none. */
  highestGeneration(realm: string): number {
    return this.#lines.reduce(
      (highest, taken) => (taken.realm === realm ? Math.max(highest, taken.leaseGeneration) : highest),
      0,
    );
  }

  /** The state first: one that is there without its line is noted at the next start, a line without state would be a command that never ran. */
  async take(state: CommandState): Promise<void> {
    await this.save(state);
    await this.#note(state);
  }

  async save(state: CommandState): Promise<void> {
    await this.#host.files.write(agentPaths.command, `${JSON.stringify(state)}\n`, rootOnly);
    this.#current = state;
  }

  async #note({ spec: { commandID, leaseGeneration }, realm }: CommandState): Promise<void> {
    const entry: Line = { commandID, leaseGeneration, realm, time: this.#now().toISOString() };
    await this.#host.files.append(agentPaths.taken, `${JSON.stringify(entry)}\n`);
    this.#lines.push(entry);
    if (this.#lines.length >= 2 * kept) await this.#rewrite();
  }

  async #rewrite(): Promise<void> {
    this.#lines = this.#lines.slice(-kept);
    await this.#host.files.write(
      agentPaths.taken,
      this.#lines.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
      rootOnly,
    );
  }
}
