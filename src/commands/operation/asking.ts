// A question that whoever watches an operation has asked again and again, beside the watching.

/** One question at a time, and none sooner than `everyMs` after the one before: a cluster that does not answer is to hold nobody up. */
export class Asking {
  readonly #everyMs: number;
  #askedAt: number | undefined;
  #isAsking = false;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Asks where it is time. What throws was no answer: what was so stays so, and that nobody answers is told by whoever watches the operation. */
  look(ask: () => Promise<void>): void {
    const now = performance.now();
    const isDue = this.#askedAt === undefined || now - this.#askedAt >= this.#everyMs;
    if (!isDue || this.#isAsking) return;
    this.#askedAt = now;
    this.#isAsking = true;
    void ask()
      .catch(() => undefined)
      .finally(() => {
        this.#isAsking = false;
      });
  }
}
