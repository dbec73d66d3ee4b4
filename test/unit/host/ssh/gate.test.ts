import { expect, test } from 'vitest';
import { Gate } from '../../../../src/host/ssh/gate.ts';

const denial = new Error('denied');
const newGate = (): Gate => new Gate((error) => error === denial);

test('the first goes alone until it is through, the others then together', async () => {
  const gate = newGate();
  const log: string[] = [];
  const free = Promise.withResolvers<void>();
  const work =
    (name: string) =>
    async (through: () => void): Promise<string> => {
      log.push(`${name} starts`);
      if (name === 'a') await free.promise;
      through();
      await Promise.resolve();
      return name;
    };
  const all = Promise.all(['a', 'b', 'c'].map((name) => gate.pass(work(name))));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(log).toEqual(['a starts']);
  free.resolve();
  expect(await all).toEqual(['a', 'b', 'c']);
});

test("a denial is everybody else's, without another try; any other failure lets the next one try", async () => {
  const gate = newGate();
  let tries = 0;
  const fails = (error: Error) => (): Promise<never> => {
    tries += 1;
    return Promise.reject(error);
  };
  await expect(gate.pass(fails(new Error('lost')))).rejects.toThrow('lost');
  const results = await Promise.allSettled([1, 2, 3].map(() => gate.pass(fails(denial))));
  expect(results.map((result) => result.status === 'rejected' && result.reason === denial)).toEqual([true, true, true]);
  expect(tries).toBe(2);
});

test('a failure after it was through does not close it', async () => {
  const gate = newGate();
  await expect(
    gate.pass((through) => {
      through();
      return Promise.reject(denial);
    }),
  ).rejects.toThrow('denied');
  expect(await gate.pass(() => Promise.resolve('in'))).toBe('in');
});
