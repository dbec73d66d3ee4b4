// Counts what each client has open, and forgets who has nothing open any more.

export class PerClient {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** false, and not counted, where the client has as much as it may have. */
  enter(client: string): boolean {
    const open = this.#open.get(client) ?? 0;
    if (open >= this.#most) return false;
    this.#open.set(client, open + 1);
    return true;
  }

  /** For each `enter` that was let in. */
  leave(client: string): void {
    const left = (this.#open.get(client) ?? 1) - 1;
    if (left > 0) this.#open.set(client, left);
    else this.#open.delete(client);
  }
}
