// The fence of all that controllers write: open while this process holds the lease.
import type { Fence } from '../kube/fence.ts';
import { BkeError } from '../lib/errors.ts';
import type { Connect } from './bkehost/enrol.ts';

const shut: Fence = {
  check: () => {
    throw new BkeError('BKE_KUBE_CONFLICT', 'this process does not hold the lease');
  },
  signal: AbortSignal.abort(new BkeError('BKE_KUBE_CONFLICT', 'this process does not hold the lease')),
};

/** What is written under one lease never goes out under the next: each has a signal of its own. */
export class LeadFence implements Fence {
  #of: Fence = shut;

  check(): void {
    this.#of.check();
  }

  get signal(): AbortSignal {
    return this.#of.signal;
  }

  /** @param lease undefined: nobody may write any more */
  follow(lease: Fence | undefined): void {
    this.#of = lease ?? shut;
  }
}

/** Hosts are given nothing to do by whoever does not lead any more: asked before each program and each file. */
export function fencedConnect(connect: Connect, fence: Fence): Connect {
  return async (target, options) => {
    fence.check();
    const shell = await connect(target, options);
    return {
      name: shell.name,
      run: async (argv, runOptions) => {
        fence.check();
        return shell.run(argv, runOptions);
      },
      upload: async (source, path, file) => {
        fence.check();
        return shell.upload(source, path, file);
      },
      close: () => shell.close(),
    };
  };
}
