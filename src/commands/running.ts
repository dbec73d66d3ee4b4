// The bke that changes this host at the moment: who it is and where it is, for those who look at the host meanwhile.
import { errnoOf } from '../host/errno.ts';
import type { Host } from '../host/host.ts';
import { ownerOfHost } from '../host/ledger/ledger.ts';
import { formatDuration } from '../lib/duration.ts';
import { timeText } from '../lib/time-text.ts';
import { type CurrentStep, currentStep } from '../operations/current-step.ts';
import { agentCommand } from '../tasks/agent/paths.ts';
import type { ServiceStatus } from '../tasks/services/status.ts';
import type { CommandContext } from './context.ts';

export interface Running extends Partial<CurrentStep> {
  /** `bke init` */
  readonly command: string;
  readonly pid: number;
  /** RFC 3339 */
  readonly since: string;
  readonly operation?: string;
}

/** undefined also for accounts that may not read the lock: only root knows. */
export async function readRunning(
  { operationsDirectory }: Pick<CommandContext, 'operationsDirectory'>,
  host: Host,
): Promise<Running | undefined> {
  const owner = await ownerOfHost(host).catch((thrown: unknown) => {
    if (errnoOf(thrown) === 'EACCES') return undefined;
    throw thrown;
  });
  if (owner === undefined) return undefined;
  const { command, pid, since, operation } = owner;
  const at =
    operation === undefined || operationsDirectory === undefined
      ? undefined
      : await currentStep(operationsDirectory, operation);
  return { command, pid, since, ...(operation === undefined ? {} : { operation }), ...at };
}

/** bke init is running here: pid 804, for 14s (since 2026-11-30T19:03:26Z), now at 'Container runtime: Images'. */
export function runningLine({ command, pid, since, phase, step }: Running, now: Date): string {
  const time = formatDuration(Math.max(0, now.getTime() - Date.parse(since)));
  const at = [phase, step].filter((part) => part !== undefined).join(': ');
  const where = at === '' ? '' : `, now at '${at}'`;
  return `${command} is running here: pid ${pid}, for ${time} (since ${timeText(since)})${where}.`;
}

/** Before a plan of what would be done: it is of a host that another bke is changing. */
export async function noteRunning(context: CommandContext, host: Host): Promise<void> {
  const running = await readRunning(context, host);
  if (running !== undefined) context.note(`Note: ${runningLine(running, context.now())}`);
}

/** Of an init that runs nothing is missing: it comes. */
export function besideInit(running: Running | undefined, item: ServiceStatus): ServiceStatus {
  if (running?.command !== 'bke init' || item.state !== 'missing') return item;
  return { ...item, state: 'pending', reason: 'bke init has not come to it yet' };
}

/** Who resets or stops a host means it to be so. The agent of a host does neither. */
export function isTold(running: Running | undefined, state: ServiceStatus['state']): boolean {
  if (running === undefined || running.command === agentCommand) return true;
  return running.command === 'bke init' && state !== 'pending';
}
