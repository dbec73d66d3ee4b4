// Who watches an operation, or trusts what controllers have said, is told when no controller of bke is at work: what the operation told last stands still then, whatever it says.
import { setTimeout as sleep } from 'node:timers/promises';
import { controllerLeaseKey } from '../../cluster/site.ts';
import type { KubeClient } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import { podTrouble } from '../../kube/pod-trouble.ts';
import { formatDuration } from '../../lib/duration.ts';
import { BkeError } from '../../lib/errors.ts';
import { throwIfAborted } from '../../operations/wait.ts';
import type { CommandContext } from '../context.ts';
import { Asking } from './asking.ts';

export interface AtWorkOptions {
  /** How long the lease stands still before it is told; one controller follows another within 20 s. */
  readonly toldMs?: number;
  /** Nobody is to wait in vain; a kubelet lets what ends again and again wait for five minutes before it is started anew. */
  readonly mostMs?: number;
  /** How often the lease is asked for. */
  readonly everyMs?: number;
}

type Around = Pick<CommandContext, 'note' | 'signal'>;
type AtWorkClient = Pick<KubeClient, 'get' | 'list'>;

/** Whether a controller renews the lease, by this machine's clock alone. */
export class AtWork {
  readonly #context: Around;
  readonly #client: AtWorkClient;
  readonly #options: Required<AtWorkOptions>;
  readonly #asking: Asking;
  #renewed: string | undefined;
  #renewedAt = performance.now();
  #trouble: string | undefined;
  #told = false;

  constructor(context: Around, client: AtWorkClient, options: AtWorkOptions = {}) {
    this.#context = context;
    this.#client = client;
    this.#options = { toldMs: 30_000, mostMs: 15 * 60_000, everyMs: 5000, ...options };
    this.#asking = new Asking(this.#options.everyMs);
  }

  /** What its pods say, while none is at work. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Tells once that none is, and that one is again. @throws BkeError BKE_TIMEOUT where it lasts */
  look(operation: string): void {
    this.#asking.look(() => this.#ask());
    this.#giveUp(`'bke operation attach ${operation}' shows how the operation gets on`);
  }

  /**
   * Until the lease was renewed while this looked on: what was said before may be of one that is gone.
   * @param then what to do when one is at work again. @throws BkeError BKE_TIMEOUT where none is; BKE_CANCELLED; what the management cluster refuses
   */
  async seen(then: string): Promise<void> {
    const { signal } = this.#context;
    await this.#ask();
    for (const first = this.#renewed; this.#renewed === first; ) {
      await sleep(this.#options.everyMs, undefined, { signal }).catch(() => throwIfAborted(signal));
      await this.#ask();
      this.#giveUp(then);
    }
  }

  #giveUp(then: string): void {
    if (!this.#told || performance.now() - this.#renewedAt < this.#options.mostMs) return;
    throw new BkeError('BKE_TIMEOUT', this.#words(), {
      hint: `'${seePods}' shows its pods. When one is at work again, ${then}.`,
    });
  }

  async #ask(): Promise<void> {
    const lease = await this.#client.get(controllerLeaseKey);
    const renewed = textAt(lease, 'spec', 'renewTime');
    if (renewed !== undefined && renewed !== this.#renewed) return this.#isAtWork(renewed);
    if (performance.now() - this.#renewedAt < this.#options.toldMs) return;
    this.#trouble = await this.#podTrouble();
    if (!this.#told) this.#tell();
  }

  #isAtWork(renewed: string): void {
    if (this.#told) this.#context.note('A controller of bke is at work again.');
    this.#renewed = renewed;
    this.#renewedAt = performance.now();
    this.#told = false;
    this.#trouble = undefined;
  }

  async #podTrouble(): Promise<string> {
    const { namespace, name } = controllerLeaseKey;
    const { items } = await this.#client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace });
    const pods = items.filter((pod) => pod.metadata.name.startsWith(`${name}-`));
    if (pods.length === 0) return `no pod of ${name} is there`;
    return pods.map((pod) => `pod ${pod.metadata.name}: ${podTrouble(pod) ?? 'it is ready'}`).join('; ');
  }

  #tell(): void {
    this.#told = true;
    this.#context.note(`warning: ${this.#words()}; nothing goes on until one is, and what is shown is from before`);
    this.#context.note(`  see: ${seePods}`);
  }

  #words(): string {
    const silent = formatDuration(performance.now() - this.#renewedAt);
    return `no controller of bke has been at work for ${silent} (${this.#trouble ?? 'why is not known'})`;
  }
}

const seePods = `kubectl -n ${controllerLeaseKey.namespace} get pods`;
