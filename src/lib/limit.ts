// Runs at most so many at once, the others in the order they came.

export type Limit = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createLimit(most: number): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The place is handed over, so that nobody who comes now gets in between.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** `work` on every item, at most `most` at once; a failure stops the start of further ones and is thrown once all running ones have ended. */
export async function eachLimited<Item>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const limit = createLimit(most);
  const failures: unknown[] = [];
  const one = async (item: Item): Promise<void> => {
    if (failures.length > 0) return;
    await work(item).catch((thrown: unknown) => failures.push(thrown));
  };
  await Promise.all(items.map((item) => limit(() => one(item))));
  if (failures.length > 0) throw failures[0];
}
