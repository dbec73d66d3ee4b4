// Brings the status of the host's command into the cluster: the newest wins, and what could not be told is told later.
import type { HostCommandStatus } from '../api/kinds/host-command.ts';
import { errorFields, type Log } from '../lib/log.ts';
import type { KubeClient, ObjectKey } from '../kube/client.ts';
import { kubeStatus } from '../kube/status-error.ts';
import { backOffMs } from '../lib/back-off.ts';
import { BkeError } from '../lib/errors.ts';
import { rest } from '../lib/rest.ts';

export interface ReporterOptions {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly key: ObjectKey;
  readonly log: Log;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** So that a chatty step is no burden for the cluster; ends of steps are told at once. */
const messagesMs = 1000;
const mostBackOffMs = 5000;

export class StatusReporter {
  readonly #options: ReporterOptions;
  #waiting: HostCommandStatus | undefined;
  #wake = Promise.withResolvers<void>();
  #told = 0;
  readonly ended: Promise<void>;

  constructor(options: ReporterOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    this.ended = this.#run();
  }

  report(status: HostCommandStatus): void {
    this.#waiting = status;
    this.#wake.resolve();
  }

  /** Only what a running step does now has changed. */
  reportMessage(status: HostCommandStatus): void {
    if (this.#waiting !== undefined || performance.now() - this.#told < messagesMs) return;
    this.report(status);
  }

  async #run(): Promise<void> {
    const { signal } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const status = this.#waiting;
      if (status === undefined) {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers<void>();
        continue;
      }
      this.#waiting = undefined;
      if (await this.#tell(status)) {
        failures = 0;
        continue;
      }
      this.#waiting ??= status;
      failures += 1;
      await rest(backOffMs(failures, 250, mostBackOffMs), signal);
    }
  }

  /** false: worth another try. */
  async #tell(status: HostCommandStatus): Promise<boolean> {
    const { client, key, log } = this.#options;
    try {
      await client.patch(key, { status }, { type: 'merge', fieldManager: 'bke-agent', subresource: 'status' });
      this.#told = performance.now();
      return true;
    } catch (thrown) {
      const isGone = kubeStatus(thrown)?.status === 404;
      const isRefused = thrown instanceof BkeError && thrown.code === 'BKE_KUBE_REFUSED';
      log.warn({ command: status.commandID, ...errorFields(thrown) }, 'the status could not be told');
      // Nobody is there to be told, or it will never be taken.
      return isGone || isRefused;
    }
  }
}
