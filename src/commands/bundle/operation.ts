// Bundle commands as operations of one step: the same events, journal and cancelling as everything else.
import type { OperationAction } from '../../api/events.ts';
import { runLocalOperation, throwUnlessDone } from '../../operations/local-operation.ts';
import type { StepBinding } from '../../operations/operation.ts';
import type { Progress } from '../../release/bundle/progress.ts';
import type { CommandContext } from '../context.ts';

export interface BundleWork<Result> {
  readonly action: Extract<OperationAction, `bundle.${string}`>;
  /** The bundle file, as the user wrote it. */
  readonly target: string;
  readonly title: string;
  readonly unit: 'bytes' | ((progress: Progress) => 'bytes' | 'items');
  /** `changed` is told by the result. */
  run(tools: WorkTools): Promise<Result>;
  changed(result: Result): boolean;
  /** How it ends well where it only looks (src/operations/operation.ts). */
  readonly found?: string;
  readonly next?: readonly string[];
}

interface WorkTools {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** Silences on the network and of disks are bounded one by one; this is only the last bound of all. */
const timeoutMs = 24 * 3_600_000;

export async function runBundleWork<Result>(context: CommandContext, work: BundleWork<Result>): Promise<Result> {
  const outcome: { result?: Result } = {};
  const step = {
    name: work.action.replace('.', '/'),
    title: work.title,
    timeoutMs,
    ...(work.found === undefined ? {} : { found: work.found }),
    run: async (binding: StepBinding) => {
      const result = await work.run({
        signal: binding.signal,
        onProgress: (progress) => tell(binding, work, progress),
      });
      if (work.changed(result)) binding.changed();
      outcome.result = result;
    },
  };
  const operation = await runLocalOperation(context, {
    action: work.action,
    target: work.target,
    phases: [{ id: 'bundle', title: work.title, chains: [{ steps: [step] }] }],
    dryRun: false,
    createScope: (binding) => binding,
    next: (end) => (end === 'done' ? (work.next ?? []) : []),
  });
  throwUnlessDone(operation);
  if (outcome.result === undefined) throw new Error(`${work.action} ended without a result`);
  return outcome.result;
}

function tell<Result>(binding: StepBinding, { unit }: BundleWork<Result>, progress: Progress): void {
  const { done, total, item } = progress;
  binding.emit({
    type: 'step.progress',
    message: item,
    done,
    total,
    unit: typeof unit === 'string' ? unit : unit(progress),
  });
}
