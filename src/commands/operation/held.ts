// Who watches an operation is told when somebody has paused its cluster: the operation itself is not told of every way to do that.
import { pausedError, pausesOf } from '../../controllers/bkeoperation/pauses.ts';
import { clusterKind } from '../../controllers/cluster-objects.ts';
import type { KubeClient, KubeObject } from '../../kube/client.ts';
import { textAt } from '../../kube/fields.ts';
import type { BkeError } from '../../lib/errors.ts';
import type { CommandContext } from '../context.ts';
import { Asking } from './asking.ts';

const lookEveryMs = 5000;

export interface HeldOptions {
  /** How long a pause is borne. */
  readonly mostMs: number;
  /** How often the cluster is asked for. */
  readonly everyMs?: number;
}

/** Whether somebody has paused the cluster: nothing comes of its operation then. */
export class Held {
  readonly #context: CommandContext;
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #mostMs: number;
  readonly #asking: Asking;
  #since: number | undefined;
  #error: BkeError | undefined;

  constructor(
    context: CommandContext,
    client: Pick<KubeClient, 'get'>,
    { mostMs, everyMs = lookEveryMs }: HeldOptions,
  ) {
    this.#context = context;
    this.#client = client;
    this.#mostMs = mostMs;
    this.#asking = new Asking(everyMs);
  }

  /** Tells once that it is, and that it is not any more. @returns what holds it. @throws BkeError BKE_CLUSTER_PAUSED where it lasts */
  look(operation: KubeObject | undefined): BkeError | undefined {
    if (operation !== undefined) this.#asking.look(() => this.#ask(operation));
    const now = performance.now();
    if (this.#error !== undefined && now - (this.#since ?? now) >= this.#mostMs) throw this.#error;
    return this.#error;
  }

  #found(error: BkeError | undefined): void {
    if (error !== undefined && this.#since === undefined) this.#tell(error);
    if (error === undefined && this.#since !== undefined) this.#context.note('The cluster is not paused any more.');
    this.#since = error === undefined ? undefined : (this.#since ?? performance.now());
    this.#error = error;
  }

  #tell({ message, details }: BkeError): void {
    this.#context.note(`warning: ${message}`);
    for (const line of details) this.#context.note(`  ${line}`);
  }

  async #ask(operation: KubeObject): Promise<void> {
    const name = textAt(operation, 'spec', 'target', 'name');
    const { namespace } = operation.metadata;
    if (name === undefined || namespace === undefined) return;
    const cluster = await this.#client.get({ ...clusterKind, namespace, name });
    const pauses = cluster === undefined ? [] : pausesOf(cluster);
    this.#found(pauses.length === 0 ? undefined : pausedError(name, pauses));
  }
}
