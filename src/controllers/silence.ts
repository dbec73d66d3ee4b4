// A client of a cluster that may be dead: where nothing answers, it is not asked again before a pause that grows, and every question says since when.
import type { KubeClient } from '../kube/client.ts';
import { backOffMs } from '../lib/back-off.ts';
import { BkeError } from '../lib/errors.ts';
import { timeText } from '../lib/time-text.ts';

export interface SilenceOptions {
  /** For people: whose API server it is. */
  readonly cluster: string;
  readonly now: () => Date;
  /** Monotonic, in ms. */
  readonly clock?: () => number;
}

const firstMs = 2000;
/** One that is back is seen as soon. */
const mostMs = 30_000;

interface Silence {
  readonly since: string;
  readonly attempt: number;
  /** Not asked before, by the monotonic clock. */
  readonly until: number;
  readonly error: BkeError;
}

/** Watches stay as they are: nobody waits for their answer. */
export function patientClient(client: KubeClient, options: SilenceOptions): KubeClient {
  const { cluster, now, clock = () => performance.now() } = options;
  let silence: Silence | undefined;
  const fallSilent = (thrown: BkeError): BkeError => {
    // Of several that were asked together, the first counts.
    if (silence !== undefined && clock() < silence.until) return silence.error;
    const { since = timeText(now()), attempt = 0 } = silence ?? {};
    const message = `${cluster} has not answered since ${since}: ${thrown.message}`;
    const error = new BkeError('BKE_KUBE_UNREACHABLE', message, { hint: thrown.hint, cause: thrown });
    silence = { since, attempt: attempt + 1, until: clock() + backOffMs(attempt + 1, firstMs, mostMs), error };
    return error;
  };
  const ask = async <Result>(question: () => Promise<Result>): Promise<Result> => {
    if (silence !== undefined && clock() < silence.until) throw silence.error;
    try {
      const answer = await question();
      silence = undefined;
      return answer;
    } catch (thrown) {
      if (thrown instanceof BkeError && thrown.code === 'BKE_KUBE_UNREACHABLE') throw fallSilent(thrown);
      // It refused, but it is there.
      if (thrown instanceof BkeError) silence = undefined;
      throw thrown;
    }
  };
  return {
    get: (key) => ask(() => client.get(key)),
    list: (kind, given) => ask(() => client.list(kind, given)),
    create: (object) => ask(() => client.create(object)),
    apply: (object, given) => ask(() => client.apply(object, given)),
    patch: (key, patch, given) => ask(() => client.patch(key, patch, given)),
    delete: (key, given) => ask(() => client.delete(key, given)),
    request: (method, path, given) => ask(() => client.request(method, path, given)),
    watch: (kind, given) => client.watch(kind, given),
    close: () => client.close(),
  };
}
