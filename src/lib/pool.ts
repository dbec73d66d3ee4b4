// Work in parallel with a limit.

/**
 * Runs `work` on every item, at most `limit` at once; the first failure stops the start of further ones and is thrown once all running ones have ended.
 * Results are in the order of the items.
 */
export async function mapLimit<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const failures: unknown[] = [];
  const runner = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (failures.length > 0) return;
      try {
        results[index] = await work(item);
      } catch (thrown) {
        failures.push(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runner));
  if (failures.length > 0) throw failures[0];
  return results;
}
