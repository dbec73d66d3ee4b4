// Until one has got through, one at a time; once one was denied, nobody knocks again. Keeps a wrong sudo password to a single failure.

export class Gate {
  readonly #isDenial: (error: unknown) => boolean;
  #open = false;
  #denial: { readonly error: unknown } | undefined;
  #trying: Promise<void> | undefined;

  /** @param isDenial true for errors that would come again for everybody. */
  constructor(isDenial: (error: unknown) => boolean) {
    this.#isDenial = isDenial;
  }

  /** @param work calls `through` when it has got through; the others go on then, not only when it has ended. */
  async pass<Result>(work: (through: () => void) => Promise<Result>): Promise<Result> {
    while (!this.#open) {
      if (this.#denial !== undefined) throw this.#denial.error;
      if (this.#trying === undefined) return this.#first(work);
      await this.#trying;
    }
    return work(() => undefined);
  }

  async #first<Result>(work: (through: () => void) => Promise<Result>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#trying = promise;
    const letOthersGo = (): void => {
      this.#trying = undefined;
      resolve();
    };
    try {
      return await work(() => {
        this.#open = true;
        letOthersGo();
      });
    } catch (error) {
      if (this.#isDenial(error)) this.#denial = { error };
      throw error;
    } finally {
      letOthersGo();
    }
  }
}
